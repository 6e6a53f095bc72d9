/** Requests exactly as written: `inject` and HTTP clients normalise targets, a socket does not. */
import { connect } from 'node:net'

export interface RawResponse {
  /** 0 where the server closed the connection without an answer. */
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface RawRequest {
  readonly port: number
  readonly method?: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly version?: string
}

/** Sends a request line as it is and reads the final response; fails after a minute of silence. */
export function rawRequest(request: RawRequest): Promise<RawResponse> {
  const { port, method = 'GET', target, headers = {}, version = '1.1' } = request
  const lines = Object.entries({ host: 'localhost', connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return rawExchange(port, `${[`${method} ${target} HTTP/${version}`, ...lines].join('\r\n')}\r\n\r\n`)
}

/** Sends bytes and reads until the server closes the connection. */
export function rawExchange(port: number, bytes: string): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'))
    socket.setTimeout(60_000, () =>
      socket.destroy(new Error(`no answer to ${JSON.stringify(bytes.slice(0, 200))}`)),
    )
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('close', () => resolve(parse(Buffer.concat(chunks).toString('latin1'))))
    socket.on('error', (err: NodeJS.ErrnoException) => {
      if (err.code === 'ECONNRESET' || err.code === 'EPIPE')
        resolve(parse(Buffer.concat(chunks).toString('latin1')))
      else reject(err)
    })
  })
}

function parse(text: string): RawResponse {
  if (text.startsWith('HTTP/1.1 100 ')) return parse(text.slice(text.indexOf('\r\n\r\n') + 4)) // not the final one
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, body: rest.join('\r\n\r\n') }
}
