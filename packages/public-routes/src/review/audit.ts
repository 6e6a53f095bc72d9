/** Checks the gate when the application is ready: it refuses to start with one that does not cover it. */
import type { FastifyInstance } from 'fastify'
import type { readRouter } from '../gate/routes.ts'
import { errorCodes } from '../misuse-errors.ts'
import { sendProbe } from './probes.ts'

interface AuditParts {
  /** Names of the onRequest hooks that run before the gate. */
  readonly hooks: readonly string[]
  readonly loginUrl: string | undefined
  /** Whether CORS was registered before the gate. */
  readonly hadCors: boolean
}

/**
 * @throws {FMOD_PUBLIC_ROUTES_GATE_BYPASSED} a hook answers before the gate
 * @throws {FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC} signing in would need to be signed in
 */
export async function audit(app: FastifyInstance, { hooks, loginUrl, hadCors }: AuditParts): Promise<void> {
  await checkCoverage(app, hooks)
  if (loginUrl?.startsWith('/') === true) {
    const { decision } = await app.access.explain('GET', loginUrl)
    if (decision === 'protected') throw new errorCodes.FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC(loginUrl)
  }
  if (hooks.length > 0) {
    app.log.info({ hooks }, 'these onRequest hooks run before the gate; one that answers bypasses it')
  }
  if (!hadCors && app.hasPlugin('@fastify/cors')) {
    app.log.warn(
      '@fastify/cors is registered after the gate, which answers its preflight requests with 401. Register it first',
    )
  }
}

/**
 * The onRequest hooks that run before the gate on some route, in their order, and how many have no name on the route that has
 * most of these: `['handleCors', 'fastifyCookieHandler', '2 unnamed']`. All hooks where a plugin wraps the gate's.
 * @param gateName the name of the gate's hook in the router
 */
export function findEarlierHooks(
  listed: NonNullable<ReturnType<typeof readRouter>>,
  gateName: string,
): readonly string[] {
  const ofRoutes = listed.map(({ onRequest }) => {
    const names = (onRequest ?? []).map(({ name }) => name.replace(/^bound /, '')) // Fastify binds hooks
    const at = names.indexOf(gateName)
    return at === -1 ? names : names.slice(0, at)
  })
  const names = [...new Set(ofRoutes.flat())].filter((name) => name !== '')
  const unnamed = Math.max(0, ...ofRoutes.map((each) => each.filter((name) => name === '').length))
  return unnamed === 0 ? names : [...names, `${unnamed} unnamed`]
}

/** A request for a path that no route has must reach the gate: this finds hooks that answer, wherever they come from. */
async function checkCoverage(app: FastifyInstance, hooks: readonly string[]): Promise<void> {
  const target = '/.well-known/fastify-modular/gate-self-test'
  const outcome = await sendProbe(app, { method: 'GET', target })
  if (outcome.reached) return
  if (outcome.status === 0 || outcome.status === 429 || outcome.status >= 500) {
    // An earlier hook failed, perhaps because something it needs is down, or limited the rate: neither opens anything.
    app.log.warn({ status: outcome.status, hooks }, 'the self-test of the gate did not reach it')
    return
  }
  throw new errorCodes.FMOD_PUBLIC_ROUTES_GATE_BYPASSED(String(outcome.status), hooks.join(', ') || 'unknown')
}
