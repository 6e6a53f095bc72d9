/** Redirects that an Inertia visit can follow: XMLHttpRequest hides them, repeats methods and forgets fragments. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isInertia, varyByInertia } from './headers.ts'
import { FMOD_INERTIA_UNSAFE_LOCATION } from './misuse-errors.ts'

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Adapts the redirects of a reply to an Inertia visit, which have no body: to another origin → 409 with
 * `X-Inertia-Location`; to a `#fragment` → 409 with `X-Inertia-Redirect`; after a write → 303, because a 302 repeats
 * PUT, PATCH and DELETE. On the reply and not by an onSend hook, which every other request would pay for.
 */
export function adaptRedirects(reply: FastifyReply): void {
  const { send } = reply
  reply.send = function sendAdapted(payload?: unknown) {
    if (payload === undefined || payload === null || payload === '') adaptRedirect(reply)
    return send.call(reply, payload)
  }
}

function adaptRedirect(reply: FastifyReply): void {
  const { request } = reply
  if (!redirectStatuses.has(reply.statusCode)) return
  const location = reply.getHeader('location')
  if (typeof location !== 'string') return

  const target = resolve(location, request)
  const keepsMethod = reply.statusCode === 307 || reply.statusCode === 308
  if (target?.isWeb && !target.isOwn) answerWith(reply, 'x-inertia-location', location)
  else if (target?.isOwn && target.hasFragment && !keepsMethod)
    answerWith(reply, 'x-inertia-redirect', location)
  else if (request.method !== 'GET' && request.method !== 'HEAD' && !keepsMethod) reply.code(303)
}

/**
 * Sends the browser to a page outside this Inertia application: 409 for the client, an ordinary redirect for others.
 * @throws {FMOD_INERTIA_UNSAFE_LOCATION} not a path and not an http(s) URL (`javascript:` would run)
 */
export function inertiaLocation(this: FastifyReply, url: string): FastifyReply {
  const { request } = this
  if (!resolve(url, request)?.isWeb) throw new FMOD_INERTIA_UNSAFE_LOCATION()
  const location = toHeaderText(url)
  if (isInertia(request)) return answerWith(this, 'x-inertia-location', location).send()
  return this.redirect(location, request.method === 'GET' || request.method === 'HEAD' ? 302 : 303)
}

function answerWith(reply: FastifyReply, header: string, location: string): FastifyReply {
  for (const name of ['location', 'content-type', 'content-length']) reply.removeHeader(name)
  return reply.code(409).header(header, location).header('vary', varyByInertia(reply))
}

interface Target {
  readonly isWeb: boolean
  readonly isOwn: boolean
  readonly hasFragment: boolean
}

function resolve(location: string, request: FastifyRequest): Target | null {
  const base = `${request.protocol}://${request.host}`
  if (!URL.canParse(base) || !URL.canParse(location, base)) return null
  const url = new URL(location, base)
  return {
    isWeb: url.protocol === 'http:' || url.protocol === 'https:',
    isOwn: url.origin === new URL(base).origin,
    hasFragment: url.hash !== '',
  }
}

/** A header carries ASCII; everything else is percent-encoded as a browser would. */
function toHeaderText(url: string): string {
  return url.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}
