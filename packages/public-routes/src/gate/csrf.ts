/**
 * Protection from cross-site request forgery (CSRF): unsafe requests that another site makes a browser send, with its
 * cookies for this one.
 */
import { canonicalPath, refuseOptions } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import { matcherOf, PublicRoute } from '../rule.ts'

export interface CsrfOptions {
  /** Other origins, subdomains of this one too, that may send unsafe requests: `https://app.example.com`. */
  readonly trustedOrigins?: readonly string[]
  /** Paths that accept requests from everywhere, with everything below them: webhooks that carry their own proof. */
  readonly exempt?: readonly string[]
}

/**
 * A check whether another site may have forged a request. It reads `Sec-Fetch-Site`, or `Origin` where browsers do not
 * send it. Requests with neither pass, because they come from no browser. So do those with a bearer token, which
 * another site cannot make a browser attach by itself, those of trusted origins, and those for exempt paths.
 * @throws {FMOD_CORE_INVALID_OPTION} a trusted origin that is not an origin
 */
export function createForgeryCheck(options: CsrfOptions): (request: FastifyRequest) => boolean {
  const trusted = new Set(options.trustedOrigins)
  refuseOptions('the public-routes plugin', [...trusted].flatMap(faultOfOrigin))
  const exempt = (options.exempt ?? []).map((path) => matcherOf(new PublicRoute(path, { kind: 'subtree' })))
  return function isForgeable(request) {
    if (isSafe(request) || !isForeign(request) || hasBearerToken(request)) return false
    const { origin } = request.headers
    if (origin !== undefined && trusted.has(origin)) return false
    const path = canonicalPath(request.raw.url ?? '')
    return path === null || !exempt.some((subtree) => subtree.matchesPath(path))
  }
}

/** A websocket handshake is a GET, but it opens a channel with the cookies of the browser's user. */
function isSafe({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') && headers.upgrade === undefined
}

function isForeign(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const { origin } = request.headers
  return origin !== undefined && hostOf(origin) !== request.host.toLowerCase()
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null // "null" is the origin of sandboxed pages
}

function hasBearerToken({ headers }: FastifyRequest): boolean {
  return headers.authorization !== undefined && /^bearer /i.test(headers.authorization)
}

function faultOfOrigin(origin: string): readonly string[] {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return []
  return [
    `csrf.trustedOrigins contains ${JSON.stringify(origin)}, which is not an origin such as "https://app.example.com"`,
  ]
}
