/** From here on only this package answers the request, whatever hooks and handlers still do with the reply. */
import { isNativeError } from 'node:util/types'
import type { FastifyReply } from 'fastify'
import { hasHeaders } from './has-headers.ts'
import { removeBodyHeaders, removeHeadersOf, varyByNegotiation } from './headers.ts'
import { removeTrailers } from './remove-trailers.ts'

/** A rendered answer. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Takes the reply and returns the one function that answers it. Fastify answers what goes wrong while we answer — an
 * onSend hook that throws, a header that cannot be written — by its own handler, which tells the raw message; it does
 * so through `reply.send`, so that method now leads to `onLost`.
 * @param onLost must write to `reply.raw`: Fastify has given up on this reply
 */
export function takeOver(reply: FastifyReply, onLost: (error: unknown) => void): (answer: Answer) => void {
  // The class's method: the reply may be ours already, when the onSend hooks failed on our 404 page.
  const { send } = Object.getPrototypeOf(reply) as FastifyReply
  let hasAnswered = false
  let hasStrayError = false

  reply.send = function ownedSend(payload?: unknown) {
    // Nothing is what an async handler sends that does not return its reply.
    if (!hasAnswered) hasStrayError ||= payload !== undefined
    else if (isFailure(reply, payload)) {
      removeHeadersOf(payload, reply)
      onLost(payload)
    }
    return reply
  }
  return function sendOnce(answer) {
    if (reply.raw.headersSent || reply.raw.destroyed) return
    hasAnswered = true
    // The handler went on and failed while a page was being rendered: Fastify would take our body for its error.
    if (hasStrayError) return writeRaw(reply, answer)
    try {
      prepare(reply, answer)
      send.call(reply, answer.body)
    } catch (error) {
      onLost(error)
    }
  }
}

function prepare(reply: FastifyReply, { status, contentType, headers }: Answer): void {
  if (hasHeaders(reply)) removeBodyHeaders(reply)
  removeTrailers(reply)
  forgetPhrase(reply)
  reply.code(status)
  if (headers) reply.headers(headers)
  varyByNegotiation(reply)
  reply.header('content-type', contentType).header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  // With a serialiser of ours a string is sent as it is: no schema filters it, no charset is added to its type.
  reply.serializer(asItIs)
}

function asItIs(body: string): string {
  return body
}

/**
 * Whether Fastify reports a failure, in distinction from a handler that calls `send` once more. Fastify takes away the
 * content type before it hands an error over; after a stream has begun, the type is on the raw response.
 */
function isFailure(reply: FastifyReply, payload: unknown): boolean {
  return isNativeError(payload) || !reply.hasHeader('content-type') || reply.raw.hasHeader('content-type')
}

/** Answers past Fastify and all hooks. CORS headers and the like, set before, stay. */
export function writeRaw(reply: FastifyReply, { status, contentType, body, headers }: Answer): void {
  const { raw } = reply
  if (raw.writableEnded) return
  if (raw.headersSent) {
    raw.destroy() // half an answer is out: the connection's end says that it is not whole
    return
  }
  const own = {
    ...headers,
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  try {
    forgetPhrase(reply)
    removeBodyHeaders(reply)
    varyByNegotiation(reply)
    raw.writeHead(status, { ...keptHeaders(reply), ...own })
  } catch {
    for (const name of raw.getHeaderNames()) raw.removeHeader(name)
    raw.writeHead(status, own) // one of the host's headers cannot be written
  }
  reply.hijack()
  raw.end(body)
}

/** A phrase set for another status, by the host or by Node when it could not write the head. HTTP/2 has none. */
function forgetPhrase({ raw, request }: FastifyReply): void {
  if (request.raw.httpVersionMajor !== 2 && raw.statusMessage) raw.statusMessage = ''
}

/** What callers need to read and repeat the request; other headers may belong to the error that was lost. */
const kept = /^(?:access-control-.*|vary|retry-after|www-authenticate|set-cookie)$/

function keptHeaders(reply: FastifyReply): Record<string, number | string | string[]> {
  const headers: Record<string, number | string | string[]> = {}
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined && kept.test(name)) headers[name] = value
  }
  return headers
}
