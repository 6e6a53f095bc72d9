/** Headers that tell browsers to be careful. */
import type { onSendHookHandler } from 'fastify'

const headers = {
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
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/**
 * An onSend hook. What somebody sees who is signed in is not kept: going back after signing out shows none of it.
 * A scope with needs of its own, such as the API browser, sets its policy after this one.
 */
export const securityHeaders: onSendHookHandler = function setSecurityHeaders(request, reply, payload, done) {
  reply.headers(headers)
  if (request.caller && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  done(null, payload)
}
