/** The headers of an answer that reports a failure: what earlier code set for a success is removed. */
import { addVary, safeKeys, safeRead } from '@fastify-modular/core/internal'
import type { FastifyReply } from 'fastify'

/** They describe a body that is not sent, or let a failure be cached. */
const ofTheBody: ReadonlySet<string> = new Set([
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'link',
  'location',
  'pragma',
  'trailer',
  'transfer-encoding',
])

/** Takes away what described the body that was meant to be sent. Cookies, CORS and security headers stay. */
export function removeBodyHeaders(reply: FastifyReply): void {
  for (const name in reply.getHeaders()) {
    if (ofTheBody.has(name)) reply.removeHeader(name)
  }
}

/** Takes away what Fastify's own handler copied from an error; it copies all, and set-cookie may be a foreign session. */
export function removeHeadersOf(error: unknown, reply: FastifyReply): void {
  const headers = safeRead(error, 'headers')
  if (typeof headers !== 'object' || headers === null) return
  for (const name of safeKeys(headers)) reply.removeHeader(name)
}

/** Adds to the reply's `Vary` the request headers by which a representation is chosen. */
export function varyByNegotiation(reply: FastifyReply): void {
  addVary(reply, 'Accept', 'X-Inertia')
}
