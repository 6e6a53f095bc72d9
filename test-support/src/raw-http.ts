/** HTTP over raw sockets: what is sent is exactly what a hostile client would send. */
import { type Address, openConnection } from './raw-http/connection.ts'
import type { RawResponse } from './raw-http/parse-response.ts'

export { type Address, openConnection, type RawConnection } from './raw-http/connection.ts'
export type { RawResponse } from './raw-http/parse-response.ts'

/** A request whose target travels as it is written: `/a/../b`, `/%2e`, `//x`, `http://other/`. */
export interface RawRequest {
  /** @default 'GET' */
  readonly method?: string
  readonly target: string
  /** Added to `Host` and `Connection: close`, or put in their place. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sent with its `Content-Length`. */
  readonly body?: string
}

/** Sends one request and returns its answer, interim ones apart. Bounded by `timeout` ms. @default 60000 */
export async function rawRequest(
  address: Address,
  request: RawRequest,
  timeout?: number,
): Promise<RawResponse> {
  const [response] = await rawExchange(address, requestBytes(request), {
    timeout,
    isHead: request.method === 'HEAD',
  })
  if (response === undefined) throw new Error('The server sent no response')
  return response
}

/** What `rawExchange` expects. */
export interface Exchange {
  /** Final responses to wait for. @default 1 */
  readonly responses?: number
  /** The request was a HEAD. @default false */
  readonly isHead?: boolean
  /** In ms, for each response. @default 60000 */
  readonly timeout?: number | undefined
}

/** Sends the bytes over a connection of its own and returns the final responses (status 200 and above). */
export async function rawExchange(
  address: Address,
  bytes: string | Buffer,
  { responses = 1, isHead = false, timeout }: Exchange = {},
): Promise<RawResponse[]> {
  const connection = await openConnection(address)
  try {
    connection.send(bytes)
    const final: RawResponse[] = []
    while (final.length < responses) {
      const response = await connection.response({ isHead, ...(timeout !== undefined && { timeout }) })
      if (response.status >= 200) final.push(response)
    }
    return final
  } finally {
    connection.destroy()
  }
}

/** Spells a request out. Nothing in it is escaped or normalised. */
export function requestBytes({ method = 'GET', target, headers = {}, body }: RawRequest): string {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const content = body === undefined ? '' : Buffer.from(body).toString('latin1') // sent as latin1: bytes stay bytes
  const all = new Map([
    ['host', 'localhost'],
    ['connection', 'close'],
    ...(body === undefined ? [] : [['content-length', String(content.length)] as const]),
    ...lower,
  ])
  const lines = [...all].map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${content}`
}
