/** Stale clients reload the page before anything else happens to their request. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { varyByInertia } from './headers.ts'
import { FMOD_INERTIA_INVALID_VERSION } from './misuse-errors.ts'
import { pageUrl } from './page.ts'

/** The version of the assets: fixed, or asked for at each request. */
export type AssetVersion = string | null | (() => string | null)

/**
 * A function that gives the current version. It throws the same error when a function of the application gives a
 * version that cannot be used: no visit would ever match it, so that every one of them would load the page afresh.
 * @throws {FMOD_INERTIA_INVALID_VERSION} it could not come back unchanged in a header
 */
export function versionSource(version: AssetVersion): () => string | null {
  if (typeof version === 'function') return () => checked(version())
  const fixed = checked(version)
  return () => fixed
}

function checked(version: string | null): string | null {
  if (version === null || version === undefined) return null
  if (typeof version !== 'string' || !/^[\x21-\x7e]+$/.test(version)) throw new FMOD_INERTIA_INVALID_VERSION()
  return version
}

/**
 * Whether a visit was made with other assets; it is then answered by 409, and the client loads the page afresh. To be
 * asked before the handler runs and also for unmatched paths; a page, even an error page, would hand a stale client the
 * new version and so hide that it is stale.
 */
export function refusesStale(
  request: FastifyRequest,
  reply: FastifyReply,
  currentVersion: () => string | null,
): boolean {
  if (request.method !== 'GET') return false
  const asked = request.headers['x-inertia-version']
  const current = currentVersion() ?? ''
  // Who names no version is not the client: it has no page that could be stale (decision 44).
  if (asked === undefined || asked === current) return false
  reply.code(409).header('x-inertia-location', pageUrl(request)).header('vary', varyByInertia(reply))
  // Lets a client tell new assets from a plain redirect, so that background requests do not reload the page.
  if (current !== '') reply.header('x-inertia-version', current)
  reply.send()
  return true
}
