/** Looks the whole application over when it is ready, and refuses to start with a gate that does not cover it. */
import type { FastifyInstance } from 'fastify'
import { FMOD_PUBLIC_ROUTES_GATE_BYPASSED, FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC } from '../misuse-errors.ts'
import { earlierHooks } from './earlier-hooks.ts'
import type { Explain } from './explain.ts'
import type { RouteRecord } from '../gate/route-record.ts'
import type { Probes } from './probe.ts'
import type { SurfaceEntry } from './surface.ts'
import { findWarnings } from './warnings.ts'

export interface AuditParts {
  readonly app: FastifyInstance
  readonly probes: Probes
  readonly explain: Explain
  readonly surface: () => readonly SurfaceEntry[]
  /** Name of the gate's hook in Fastify's route table. */
  readonly gateName: string
  readonly loginUrl: string | undefined
  /** Names of hooks that may run earlier. */
  readonly expectedHooks: readonly string[]
  /** Routes that were registered before the gate; null where Fastify does not show them. */
  readonly early: readonly RouteRecord[] | null
  /** Whether CORS was registered before the gate. */
  readonly hadCors: boolean
}

/**
 * @throws {FMOD_PUBLIC_ROUTES_GATE_BYPASSED} somebody answers before the gate
 * @throws {FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC} signing in would need to be signed in
 */
export async function audit(parts: AuditParts): Promise<void> {
  const { app, probes, gateName, loginUrl } = parts
  const hooks = earlierHooks(app, gateName)
  await checkCoverage(app, probes, hooks)
  if (loginUrl?.startsWith('/') === true) await checkLogin(parts.explain, loginUrl)

  noteEarlyRoutes(app, parts.early, parts.hadCors)
  const unexpected = hooks.filter((name) => !parts.expectedHooks.includes(name))
  if (unexpected.length > 0) {
    app.log.warn(
      { hooks: unexpected },
      'onRequest hooks run before the gate: right for CORS and for what the provider needs (list them in expectedHooks), wrong for hooks that answer',
    )
  }
  if (!parts.hadCors && app.hasPlugin('@fastify/cors')) {
    app.log.warn(
      '@fastify/cors is registered after the gate, which answers its preflight requests with 401. Register it first',
    )
  }
  for (const { message, rules } of findWarnings(parts.surface())) app.log.warn({ rules }, message)
}

/** A route that states in `config.public` what it opens knows of the gate; the others may stand there by mistake. */
function noteEarlyRoutes(app: FastifyInstance, early: readonly RouteRecord[] | null, hadCors: boolean): void {
  if (early === null) {
    app.log.warn(
      'routes that were registered before the gate cannot be listed with this version of Fastify, so nothing opens them. Register them after the gate',
    )
    return
  }
  const unaware = early.filter(
    (record) => record.declared === null && !record.isDerivedHead && !(hadCors && isPreflight(record)),
  )
  if (unaware.length === 0) return
  app.log.info(
    { routes: unaware.map(({ methods, url }) => `${methods.join(',')} ${url}`) },
    'routes that were registered before the gate are gated and listed like all others',
  )
}

/** The route that @fastify/cors registers, so that the router takes preflight requests. */
function isPreflight({ url, methods }: RouteRecord): boolean {
  return url === '*' && methods.length === 1 && methods[0] === 'OPTIONS'
}

/** A path that no route has must get as far as the gate: this finds hooks that answer, wherever they come from. */
async function checkCoverage(app: FastifyInstance, probes: Probes, hooks: readonly string[]): Promise<void> {
  const outcome = await probes.send('GET', '/.well-known/fastify-modular/gate-self-test')
  if (outcome.reached) return
  if (outcome.status === 0 || outcome.status >= 500) {
    // An earlier hook failed, perhaps since something it needs is down: that does not open anything.
    app.log.warn({ status: outcome.status, hooks }, 'the self-test of the gate did not reach it')
    return
  }
  throw new FMOD_PUBLIC_ROUTES_GATE_BYPASSED(String(outcome.status), hooks.join(', ') || 'unknown')
}

async function checkLogin(explain: Explain, loginUrl: string): Promise<void> {
  const { decision } = await explain('GET', loginUrl)
  if (decision === 'protected') throw new FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC(loginUrl)
}
