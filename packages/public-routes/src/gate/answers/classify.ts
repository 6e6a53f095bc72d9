/** What kind of client makes a request, and so how it is told to sign in (decision 38). */
import { isApiTarget, isNavigation } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'

/** A browser that navigates, an Inertia page that fetches, or anything else. */
export type ClientKind = 'browser' | 'inertia' | 'api'

/** Tells clients apart; replace it with the option `classify`. */
export type Classify = (request: FastifyRequest) => ClientKind

/**
 * `inertia` for requests with X-Inertia, `browser` for GET and HEAD navigations that name text/html and do not prefer
 * JSON; `api` for everything else, and always below `/api/`, with an Authorization header, and for XMLHttpRequest.
 */
export function classifyRequest(request: FastifyRequest): ClientKind {
  const { headers, method } = request
  if (headers.authorization !== undefined || isApiTarget(request.raw.url ?? '')) return 'api'
  if (headers['x-inertia'] !== undefined) return 'inertia'
  const isRead = method === 'GET' || method === 'HEAD'
  return isRead && isNavigation(headers) ? 'browser' : 'api'
}
