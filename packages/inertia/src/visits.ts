/** What Inertia visits need of a server: 409 when the client's assets are stale, and redirects that a fetch can follow. */
import { addVary, isRead, refuseOptions, replaceSend } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorCodes } from './misuse-errors.ts'
import { isPrefetch, pageUrl } from './page.ts'

/** Whether the Inertia client made the request. Its `Accept` header names HTML, so only this header shows it. */
export function isInertia(request: FastifyRequest): boolean {
  return request.headers['x-inertia'] !== undefined
}

/** What visits depend on. */
export interface Site {
  readonly version: () => string | null
  /** What a proxy takes away in front of the paths of this application; `Location` it mends, headers of Inertia it does not. */
  readonly basePath: string
}

/** The version of the assets: fixed, or a function that is called at each request. */
export type AssetVersion = string | null | (() => string | null)

/**
 * A function that returns the current version. Where the version is a function of the application, each call checks what
 * it returns.
 * @throws {FMOD_CORE_INVALID_OPTION} a header could not carry the version unchanged: no visit would ever match it, and
 *   each would load the page afresh
 */
export function versionSource(version: AssetVersion): () => string | null {
  if (typeof version === 'function') return () => checked(version())
  const fixed = checked(version)
  return () => fixed
}

function checked(version: string | null): string | null {
  if (version === null || version === undefined) return null
  const fits = typeof version === 'string' && /^[\x21-\x7e]+$/.test(version)
  const rule = 'version must be visible ASCII characters without spaces, such as a hash of the assets'
  refuseOptions('the inertia plugin', fits ? [] : [rule])
  return version
}

/**
 * Answers a visit that was made with other assets than the current ones by 409, so that the client loads the page afresh,
 * and returns whether it did. Before the handler runs, and for unmatched paths too: any page, even an error page, would give
 * a stale client the new version and so hide that it is stale. Clients leave the header out while their page has no version.
 */
export function refuseStale(request: FastifyRequest, reply: FastifyReply, site: Site): boolean {
  if (request.method !== 'GET') return false
  const current = site.version()
  if ((request.headers['x-inertia-version'] ?? '') === (current ?? '')) return false
  addVary(reply, 'X-Inertia')
  reply.code(409).header('x-inertia-location', pageUrl(request, site.basePath))
  // Distinguishes new assets from a plain redirect, so that background requests do not reload the page.
  if (current !== null) reply.header('x-inertia-version', current)
  reply.send()
  return true
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Adapts the redirects of a reply to an Inertia visit, which have no body: to another origin → 409 with
 * `X-Inertia-Location`; to a `#fragment` → 409 with `X-Inertia-Redirect`; after a write → 303,
 * because a 302 repeats PUT, PATCH and DELETE. On the reply and not by an onSend hook, which every other request would pay for.
 */
export function adaptRedirects(reply: FastifyReply, site: Site): void {
  const { send } = reply
  replaceSend(reply, function sendAdapted(payload) {
    if (payload === undefined || payload === null || payload === '') adaptRedirect(reply, site)
    return send.call(reply, payload)
  })
}

function adaptRedirect(reply: FastifyReply, site: Site): void {
  const { request } = reply
  if (!redirectStatuses.has(reply.statusCode)) return
  const location = reply.getHeader('location')
  if (typeof location !== 'string') return

  const url = resolve(location, request)
  const keepsMethod = reply.statusCode === 307 || reply.statusCode === 308
  const isOutside = url !== null && url.origin !== resolve('/', request)?.origin
  const keepsFragment = !!url?.hash && !keepsMethod
  if (isOutside || keepsFragment) addVary(reply, 'X-Inertia') // a document is redirected, a visit gets 409
  if (!isInertia(request)) return
  if (isOutside) answerConflict(reply, 'x-inertia-location', location)
  else if (keepsFragment && !isPrefetch(request))
    answerConflict(reply, 'x-inertia-redirect', withBase(location, site))
  else if (!isRead(request) && !keepsMethod) reply.code(303)
}

/**
 * The decorator that sends the browser to a page outside this Inertia application: 409 for the client, an ordinary redirect
 * for others. It throws FMOD_INERTIA_UNSAFE_LOCATION for what is not a path and not an http(s) URL (`javascript:` would run).
 */
export function createLocation(site: Site) {
  return function inertiaLocation(this: FastifyReply, url: string): FastifyReply {
    const { request } = this
    if (!resolve(url, request)) throw new errorCodes.FMOD_INERTIA_UNSAFE_LOCATION()
    const location = toHeaderText(url)
    addVary(this, 'X-Inertia')
    if (isInertia(request)) return answerConflict(this, 'x-inertia-location', withBase(location, site)).send()
    return this.redirect(location, isRead(request) ? 302 : 303)
  }
}

/** A path of this application as browsers see it. */
function withBase(location: string, { basePath }: Site): string {
  return /^\/(?![/\\])/.test(location) ? basePath + location : location
}

function answerConflict(reply: FastifyReply, header: string, location: string): FastifyReply {
  for (const name of ['location', 'content-type', 'content-length']) reply.removeHeader(name)
  return reply.code(409).header(header, location)
}

/** Where a location leads from this application; null for what is not a web page: a browser would run or download it. */
function resolve(location: string, { protocol, host }: FastifyRequest): URL | null {
  const base = `${protocol}://${host}`
  if (!URL.canParse(location, base)) return null
  const url = new URL(location, base)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : null
}

/** A header carries ASCII; everything else is percent-encoded as a browser would. */
function toHeaderText(url: string): string {
  return url.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}
