/** The headers of an answer that tells of a failure: what earlier code set for a success must go (research: 4.6). */
import type { FastifyReply } from 'fastify'
import { safeKeys, safeRead } from '../values/safe-read.ts'

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

/**
 * Those that an error may bring along, a validator for 412 among them; errors of upstream clients carry the headers of a
 * foreign answer.
 */
const fromErrors =
  /^(?:etag|www-authenticate|proxy-authenticate|retry-after|allow|accept|accept-post|accept-patch|(?:x-)?ratelimit(?:-[a-z-]+)?)$/i

/** Visible characters, space and tab (RFC 9110, 5.5); Fastify would drop all headers because of one that has others. */
const fieldValue = /^[\t\x20-\x7e\x80-\xff]{0,1000}$/

/** The headers of an error that may be sent, or undefined when there are none. Never throws. */
export function allowedHeaders(headers: unknown): Record<string, string> | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  let allowed: Record<string, string> | undefined
  for (const name of safeKeys(headers)) {
    if (!fromErrors.test(name)) continue
    const value = safeRead(headers, name)
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && fieldValue.test(text)) (allowed ??= {})[name.toLowerCase()] = text
  }
  return allowed
}

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

/** The request headers by which a representation is chosen. */
const negotiated = ['Accept', 'X-Inertia'] as const
const negotiatedHeader = negotiated.join(', ')

/** Adds to the reply's `Vary` what the choice of a representation depends on, and keeps what is there. */
export function varyByNegotiation(reply: FastifyReply): void {
  const present = reply.getHeader('vary')
  if (present === undefined) return void reply.header('vary', negotiatedHeader)
  const known = String(present)
    .toLowerCase()
    .split(/\s*,\s*/)
  if (known.includes('*')) return
  const added = negotiated.filter((name) => !known.includes(name.toLowerCase()))
  if (added.length > 0) reply.header('vary', [String(present), ...added].join(', '))
}
