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
  /** Name of the gate's hook in Fastify's route table. */
  readonly gateName: string
  readonly loginUrl: string | undefined
  /** Names of hooks that may run earlier. */
  readonly expected: readonly string[]
  /** What the router has. */
  readonly listed: NonNullable<ReturnType<typeof readRouter>>
  /** Whether CORS was registered before the gate. */
  readonly hadCors: boolean
}

/**
 * @throws {FMOD_PUBLIC_ROUTES_GATE_BYPASSED} a hook answers before the gate
 * @throws {FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC} signing in would need to be signed in
 */
export async function audit(parts: AuditParts): Promise<void> {
  const { app, explain, loginUrl } = parts
  const hooks = earlierHooks(parts)
  await checkCoverage(parts, hooks)
  if (loginUrl?.startsWith('/') === true) {
    const { decision } = await explain('GET', loginUrl)
    if (decision === 'protected') throw new FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC(loginUrl)
  }
  const known = Object.entries(hooksOfPlugins).flatMap(([plugin, names]) =>
    app.hasPlugin(plugin) ? names : [],
  )
  const unexpected = hooks.filter((name) => !known.includes(name) && !parts.expected.includes(name))
  if (unexpected.length > 0) {
    app.log.warn(
      { hooks: unexpected },
      'these onRequest hooks run before the gate. List those you expect in earlierHooks; a hook that replies here bypasses the gate',
    )
  }
  if (!parts.hadCors && app.hasPlugin('@fastify/cors')) {
    app.log.warn(
      '@fastify/cors is registered after the gate, which answers its preflight requests with 401. Register it first',
    )
  }
}

/** Hooks of Fastify's own plugins that belong before a gate, because they serve the provider, set headers or limit rates. */
const hooksOfPlugins: Readonly<Record<string, readonly string[]>> = {
  '@fastify/cors': ['handleCors'],
  '@fastify/helmet': ['helmetConfigureReply', 'helmetApplyHeaders'],
  '@fastify/cookie': ['fastifyCookieHandler'],
  '@fastify/session': ['handleSession'],
  '@fastify/secure-session': ['anonymous'],
  '@fastify/rate-limit': ['anonymous'],
  '@fastify/under-pressure': ['onRequest'],
  '@fastify/request-context': ['requestContextHook'],
  '@fastify/otel': ['startRequestSpanHook', 'handlerWrapped'], // wraps all hooks that are added after it
}

/** Names of the onRequest hooks that run before the gate on some route, in their order; all names where the gate's is wrapped. */
function earlierHooks({ listed, gateName }: AuditParts): readonly string[] {
  const names = listed.flatMap(({ onRequest }) => {
    const hooks = (onRequest ?? []).map(({ name }) => name.replace(/^bound /, '') || 'anonymous') // Fastify binds hooks
    const at = hooks.indexOf(gateName)
    return at === -1 ? hooks : hooks.slice(0, at)
  })
  return [...new Set(names)]
}

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
