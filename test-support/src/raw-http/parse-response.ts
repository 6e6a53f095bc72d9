/** Reads HTTP/1.1 responses out of the bytes of a connection (RFC 9112), without hiding anything of them. */

/** One response as it came over the wire. */
export interface RawResponse {
  readonly status: number
  /** Names in lower case; repeated ones joined by a comma, `set-cookie` by a line feed. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** The body as UTF-8. */
  readonly text: string
  /** Start line and headers, untouched. */
  readonly head: string
}

/** What surrounds the bytes. */
export interface ResponseContext {
  /** The response answers a HEAD request: it has no body whatever its headers say. */
  readonly isHead: boolean
  /** The peer has closed: nothing follows. */
  readonly isEnded: boolean
}

/** A response and the number of bytes that it took. */
export interface ParsedResponse {
  readonly response: RawResponse
  readonly length: number
}

/**
 * Parses the first response of the bytes; null while it is incomplete. Interim responses (100, 103) are responses too.
 * @throws {Error} when the bytes are not HTTP
 */
export function parseResponse(bytes: Buffer, { isHead, isEnded }: ResponseContext): ParsedResponse | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const head = bytes.subarray(0, headEnd).toString('latin1')
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/m.exec(head)?.[1])
  if (Number.isNaN(status)) throw new Error(`This is no HTTP response: ${JSON.stringify(head.slice(0, 200))}`)
  const headers = parseHeaders(head)
  const rest = bytes.subarray(headEnd + 4)
  const payload =
    isHead || isBodyless(status) ? { body: Buffer.alloc(0), length: 0 } : parseBody(headers, rest, isEnded)
  if (payload === null) return null
  const { body } = payload
  return {
    response: { status, headers, body, text: body.toString(), head },
    length: headEnd + 4 + payload.length,
  }
}

interface Payload {
  readonly body: Buffer
  readonly length: number
}

const isBodyless = (status: number): boolean => status < 200 || status === 204 || status === 304

function parseHeaders(head: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    const separator = name === 'set-cookie' ? '\n' : ', '
    headers[name] = name in headers ? `${headers[name]}${separator}${value}` : value
  }
  return headers
}

function parseBody(headers: Record<string, string>, bytes: Buffer, isEnded: boolean): Payload | null {
  if (headers['transfer-encoding'] === 'chunked') return parseChunks(bytes)
  const length = headers['content-length']
  if (length === undefined) return isEnded ? { body: bytes, length: bytes.length } : null
  return bytes.length < Number(length)
    ? null
    : { body: bytes.subarray(0, Number(length)), length: Number(length) }
}

function parseChunks(bytes: Buffer): Payload | null {
  const chunks: Buffer[] = []
  let offset = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', offset)
    if (lineEnd === -1) return null
    const size = Number.parseInt(bytes.subarray(offset, lineEnd).toString('latin1'), 16)
    if (Number.isNaN(size)) throw new Error('This is no chunk size')
    const end = lineEnd + 2 + size
    if (bytes.length < end + 2) return null
    if (size === 0) return { body: Buffer.concat(chunks), length: end + 2 }
    chunks.push(bytes.subarray(lineEnd + 2, end))
    offset = end + 2
  }
}
