/** Headers that tell browsers to be careful. */
import type { onSendHookHandler } from 'fastify'

const common = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

const overTls = { ...common, 'strict-transport-security': 'max-age=31536000' }

/** The Content-Security-Policy of pages. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** That of a page with another one of this application in a frame, and that of the one in it. */
export const framingPolicy = `${policy}; frame-src 'self'`
export const framedPolicy = policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")

/**
 * An onSend hook. `isSecure`: the host is reached over TLS only, and browsers remember it. What somebody sees who is signed in is not kept: going back after signing out shows none of it.
 * A page with a policy of its own keeps it; the API browser sets its one after this hook.
 */
export function securityHeaders(isSecure: boolean): onSendHookHandler {
  const headers = isSecure ? overTls : common
  return function setSecurityHeaders(request, reply, payload, done) {
    reply.headers(headers)
    if (!reply.hasHeader('content-security-policy')) reply.header('content-security-policy', policy)
    if (request.caller && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    done(null, payload)
  }
}
