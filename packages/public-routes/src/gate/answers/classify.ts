/** What kind of client asks, and so how it is told to sign in (decision 38). */
import type { FastifyRequest } from 'fastify'

/** A browser that navigates, an Inertia page that fetches, or anything else. */
export type ClientKind = 'browser' | 'inertia' | 'api'

/** Tells clients apart; replace it with the option `classify`. */
export type Classify = (request: FastifyRequest) => ClientKind

/**
 * `inertia` for requests with X-Inertia, `browser` for GET and HEAD navigations that name text/html; `api` for everything
 * else, and always below `/api/`, with an Authorization header, and for XMLHttpRequest.
 */
export function classifyRequest(request: FastifyRequest): ClientKind {
  const { headers } = request
  if (headers.authorization !== undefined || isApiTarget(request.raw.url ?? '')) return 'api'
  if (headers['x-inertia'] !== undefined) return 'inertia'
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const mode = headers['sec-fetch-mode']
  const isNavigation = isRead && (mode === undefined || mode === 'navigate') && !isXmlHttpRequest(headers)
  return isNavigation && namesHtml(headers.accept) ? 'browser' : 'api'
}

function isApiTarget(target: string): boolean {
  return /^\/api(?:[/?]|$)/.test(target)
}

function isXmlHttpRequest(headers: FastifyRequest['headers']): boolean {
  return String(headers['x-requested-with']).toLowerCase() === 'xmlhttprequest'
}

/** A bare wildcard names nothing: curl and fetch send it. */
function namesHtml(accept: string | undefined): boolean {
  const parameters = /(?:^|,)\s*text\/html\s*(?:$|,|;([^,]*))/i.exec(accept ?? '')
  return parameters !== null && !/(?:^|;)\s*q=0(?:\.0*)?\s*(?:;|$)/i.test(parameters[1] ?? '')
}
