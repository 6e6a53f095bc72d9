/** Checks the gate when the application is ready: it refuses to start with one that does not cover it. */
import type { FastifyInstance } from 'fastify'
import type { readRouter } from '../gate/routes.ts'
import { FMOD_PUBLIC_ROUTES_GATE_BYPASSED, FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC } from '../misuse-errors.ts'
import type { Explain } from './explain.ts'
import type { Probes } from './probes.ts'

interface AuditParts {
  readonly app: FastifyInstance
  readonly probes: Probes
  readonly explain: Explain
  readonly hooks: EarlierHooks
  readonly loginUrl: string | undefined
  /** Whether CORS was registered before the gate. */
  readonly hadCors: boolean
}

/**
 * @throws {FMOD_PUBLIC_ROUTES_GATE_BYPASSED} a hook answers before the gate
 * @throws {FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC} signing in would need to be signed in
 */
export async function audit(parts: AuditParts): Promise<void> {
  const { app, explain, loginUrl } = parts
  const hooks = textsOf(parts.hooks)
  await checkCoverage(parts, hooks)
  if (loginUrl?.startsWith('/') === true) {
    const { decision } = await explain('GET', loginUrl)
    if (decision === 'protected') throw new FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC(loginUrl)
  }
  if (hooks.length > 0) {
    app.log.info({ hooks }, 'these onRequest hooks run before the gate; one that answers bypasses it')
  }
  if (!parts.hadCors && app.hasPlugin('@fastify/cors')) {
    app.log.warn(
      '@fastify/cors is registered after the gate, which answers its preflight requests with 401. Register it first',
    )
  }
}

/** The onRequest hooks that run before the gate on some route. */
export interface EarlierHooks {
  /** In their order. */
  readonly names: readonly string[]
  /** How many have no name, on the route that has most of them. */
  readonly unnamed: number
}

/** `['handleCors', 'fastifyCookieHandler', '2 unnamed']` */
export function textsOf({ names, unnamed }: EarlierHooks): readonly string[] {
  return unnamed === 0 ? names : [...names, `${unnamed} unnamed`]
}

/** All hooks where the gate's is wrapped by a plugin. `gateName` is that of the gate's hook in the router. */
export function findEarlierHooks(listed: RouterEntries, gateName: string): EarlierHooks {
  const ofRoutes = listed.map(({ onRequest }) => {
    const names = (onRequest ?? []).map(({ name }) => name.replace(/^bound /, '')) // Fastify binds hooks
    const at = names.indexOf(gateName)
    return at === -1 ? names : names.slice(0, at)
  })
  return {
    names: [...new Set(ofRoutes.flat())].filter((name) => name !== ''),
    unnamed: Math.max(0, ...ofRoutes.map((names) => names.filter((name) => name === '').length)),
  }
}

type RouterEntries = NonNullable<ReturnType<typeof readRouter>>

/** A request for a path that no route has must reach the gate: this finds hooks that answer, wherever they come from. */
async function checkCoverage({ app, probes }: AuditParts, hooks: readonly string[]): Promise<void> {
  const outcome = await probes.send('GET', '/.well-known/fastify-modular/gate-self-test')
  if (outcome.reached) return
  if (outcome.status === 0 || outcome.status === 429 || outcome.status >= 500) {
    // An earlier hook failed, perhaps because something it needs is down, or limited the rate: neither opens anything.
    app.log.warn({ status: outcome.status, hooks }, 'the self-test of the gate did not reach it')
    return
  }
  throw new FMOD_PUBLIC_ROUTES_GATE_BYPASSED(String(outcome.status), hooks.join(', ') || 'unknown')
}
