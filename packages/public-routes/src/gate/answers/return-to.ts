/** Where a caller goes after signing in: only ever to a page of this site. */
import type { FastifyRequest } from 'fastify'
import { canonicalPath } from '@fastify-modular/core/internal'

/** Longer targets are dropped, in characters. */
const maxLength = 2048
const printable = /^[\x21-\x7e]*$/

/**
 * The value if it is a canonical path of this site with an optional query, otherwise null. Check with it again what
 * comes back as `returnTo` before redirecting there.
 */
export function safeReturnTo(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > maxLength || !printable.test(value)) return null
  return canonicalPath(value) === null ? null : value
}

/** The login URL, carrying the page that a GET navigation wanted; an external login keeps its own state. */
export function loginLocation(request: FastifyRequest, loginUrl: string): string {
  const returnTo = request.method === 'GET' ? safeReturnTo(request.raw.url) : null
  if (returnTo === null || isExternal(loginUrl)) return loginUrl
  return `${loginUrl}${loginUrl.includes('?') ? '&' : '?'}returnTo=${encodeURIComponent(returnTo)}`
}

/** Whether a login URL leaves this application. */
export function isExternal(loginUrl: string): boolean {
  return !loginUrl.startsWith('/')
}
