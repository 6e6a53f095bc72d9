/** Headers that tell browsers to be careful. */
import type { onSendHookHandler } from 'fastify'

const common = { 'referrer-policy': 'same-origin', 'x-content-type-options': 'nosniff' }

const headers = {
  ...common,
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}

/**
 * An onSend hook. What somebody sees who is signed in is not kept: going back after signing out shows none of it.
 * A page with a policy of its own keeps it; the API browser sets its one after this hook.
 */
export const securityHeaders: onSendHookHandler = function setSecurityHeaders(request, reply, payload, done) {
  if (reply.hasHeader('content-security-policy')) reply.headers(common)
  else reply.headers(headers)
  if (request.caller && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  done(null, payload)
}
