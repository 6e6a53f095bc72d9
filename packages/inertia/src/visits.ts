/** What happens to a request of the Inertia client before its handler runs; all others only pass. */
import type { onRequestHookHandler } from 'fastify'
import { isInertia } from './headers.ts'
import { adaptRedirects } from './redirects.ts'
import { refusesStale } from './version.ts'

/** An onRequest hook: the one hook of this package, because requests of other clients pay for it as well. */
export function receiveVisits(currentVersion: () => string | null): onRequestHookHandler {
  return function inertiaVisit(request, reply, done) {
    if (!isInertia(request)) return done()
    adaptRedirects(reply)
    if (!refusesStale(request, reply, currentVersion)) done()
  }
}
