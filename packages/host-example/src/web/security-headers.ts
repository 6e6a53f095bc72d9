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

/** An onSend hook. A scope with needs of its own, such as the API browser, sets its policy after this one. */
export const securityHeaders: onSendHookHandler = function setSecurityHeaders(
  _request,
  reply,
  payload,
  done,
) {
  reply.headers(headers)
  done(null, payload)
}
