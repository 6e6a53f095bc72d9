/**
 * Checks the whole application when it is ready: refuses to start with a gate that does not cover it, and warns about
 * odd rules.
 */
import type { FastifyInstance } from 'fastify'
import type { FastifyRoute } from '../gate/fastify-routes.ts'
import { isPreflight } from '../gate/route-access.ts'
import type { RouteRecord } from '../gate/route-record.ts'
import { environmentVariable, frameworkDefault } from '../initial-rules.ts'
import { FMOD_PUBLIC_ROUTES_GATE_BYPASSED, FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC } from '../misuse-errors.ts'
import { isRuleOfRoute, LiteralTrie, type RegisteredRule } from '../rules.ts'
import type { Explain, Probes } from './explain.ts'
import { type Opening, opensMutations, type Overruled, type SurfaceEntry } from './surface.ts'

interface AuditParts {
  readonly app: FastifyInstance
  readonly probes: Probes
  readonly explain: Explain
  readonly surface: () => readonly SurfaceEntry[]
  readonly overruled: readonly Overruled[]
  /** Name of the gate's hook in Fastify's route table. */
  readonly gateName: string
  readonly loginUrl: string | undefined
  /** Names of hooks that may run earlier. */
  readonly expectedHooks: readonly string[]
  /** What the router has; null where Fastify does not show it. */
  readonly listed: readonly FastifyRoute[] | null
  /** Routes that were registered before the gate. */
  readonly early: readonly RouteRecord[]
  /** Whether CORS was registered before the gate. */
  readonly hadCors: boolean
}

/**
 * @throws {FMOD_PUBLIC_ROUTES_GATE_BYPASSED} a hook answers before the gate
 * @throws {FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC} signing in would need to be signed in
 */
export async function audit(parts: AuditParts): Promise<void> {
  const { app, probes, loginUrl } = parts
  const hooks = earlierHooks(parts)
  await checkCoverage({ app, probes, hooks })
  if (loginUrl?.startsWith('/') === true) await checkLogin(parts.explain, loginUrl)

  logEarlyRoutes(parts)
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
  logOverruled(parts)
  for (const { message, rules } of findWarnings(parts.surface())) app.log.warn({ rules }, message)
}

/** A `config.public` or `config.access` shows that the route was written for the gate; the others may stand there by mistake. */
function logEarlyRoutes({ app, listed, early, hadCors }: AuditParts): void {
  if (listed === null) {
    app.log.warn(
      'routes that were registered before the gate cannot be listed with this version of Fastify, so nothing opens them. Register them after the gate',
    )
    return
  }
  const unaware = early.filter(
    (record) => !declaresAccess(record) && !record.isDerivedHead && !(hadCors && isPreflight(record)),
  )
  if (unaware.length === 0) return
  app.log.info(
    { routes: unaware.map(({ methods, url }) => `${methods.join(',')} ${url}`) },
    'routes that were registered before the gate are gated and listed like all others',
  )
}

function declaresAccess(record: RouteRecord): boolean {
  return record.methods.some((method) => record.ownRequirement(method) !== undefined)
}

function logOverruled({ app, overruled }: AuditParts): void {
  if (overruled.length === 0) return
  const conflicts = overruled.map(
    ({ rule, record, method }) =>
      `${method} ${record.url} declares ${record.ownRequirement(method)?.text}, against ${nameOf(rule)}`,
  )
  app.log.warn(
    { conflicts },
    'routes declare more than public-route rules that match them: the declarations hold, and the rules do not open these routes',
  )
}

/**
 * A request for a path that no route has must reach the gate: this finds hooks that answer, wherever they come from.
 */
async function checkCoverage({
  app,
  probes,
  hooks,
}: {
  readonly app: FastifyInstance
  readonly probes: Probes
  readonly hooks: readonly string[]
}): Promise<void> {
  const outcome = await probes.send('GET', '/.well-known/fastify-modular/gate-self-test')
  if (outcome.reached) return
  if (outcome.status === 0 || outcome.status >= 500) {
    // An earlier hook failed, perhaps because something it needs is down: that does not open anything.
    app.log.warn({ status: outcome.status, hooks }, 'the self-test of the gate did not reach it')
    return
  }
  throw new FMOD_PUBLIC_ROUTES_GATE_BYPASSED(String(outcome.status), hooks.join(', ') || 'unknown')
}

async function checkLogin(explain: Explain, loginUrl: string): Promise<void> {
  const { decision } = await explain('GET', loginUrl)
  if (decision === 'protected') throw new FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC(loginUrl)
}

/** An oddity, and the rules it is about. */
interface Warning {
  readonly message: string
  readonly rules: readonly string[]
}

/** The warnings for a surface, in the order of their weight; framework defaults need no route to be there. */
function findWarnings(surface: readonly SurfaceEntry[]): readonly Warning[] {
  const all = surface.map(({ rule }) => rule)
  const own = surface.filter(({ rule }) => rule.source !== frameworkDefault)
  return [
    warning(
      'public-route rules without methods open routes that change something',
      own.filter(opensMutations),
    ),
    warning(
      'public-route prefixes open paths beyond a segment boundary; addSubtree does not',
      own.filter(crossesSegment),
    ),
    warning('public-route rules match values of parameters; addRoute does not', own.filter(matchesParameter)),
    warning(
      'public-route rules match no route',
      own.filter(({ openings }) => openings.length === 0),
    ),
    warning(
      'public-route rules add nothing to earlier or wider rules',
      shadowed(all.filter((rule) => !isRuleOfRoute(rule))),
    ),
    warning('public-route rules come from the environment', all.filter(isFromEnvironment)),
    warning(
      'public-route rules come from the legacy publicPaths of the provider; use rules with methods',
      all.filter(({ source }) => source === 'provider'),
    ),
  ].filter(({ rules }) => rules.length > 0)
}

function warning(message: string, about: readonly (RegisteredRule | SurfaceEntry)[]): Warning {
  return { message, rules: about.map((entry) => nameOf('rule' in entry ? entry.rule : entry)) }
}

function nameOf({ route, source }: RegisteredRule): string {
  return `${String(route)} (${source})`
}

function crossesSegment({ rule: { route }, openings }: SurfaceEntry): boolean {
  if (route.kind !== 'prefix' || route.pattern.endsWith('/')) return false
  return openings.some(({ path }) => path.length > route.pattern.length && path[route.pattern.length] !== '/')
}

/** A prefix that ends inside a parameter, a suffix that a parameter's value can be. */
function matchesParameter({ rule: { route }, openings }: SurfaceEntry): boolean {
  if (route.kind === 'suffix') return openings.some(({ record }) => !record.endsLiterallyWith(route.pattern))
  return route.kind === 'prefix' && openings.some((opening) => endsInsideParameter(route.pattern, opening))
}

function endsInsideParameter(prefix: string, { record }: Opening): boolean {
  return record.patterns.every((pattern) => {
    const [head] = pattern
    return record.path === null && typeof head === 'string' && head.length < prefix.length
  })
}

function isFromEnvironment({ source }: RegisteredRule): boolean {
  return source.includes(environmentVariable)
}

/** Rules that repeat an earlier one, or that a wider prefix or subtree covers. */
function shadowed(rules: readonly RegisteredRule[]): readonly RegisteredRule[] {
  const wide = new LiteralTrie<RegisteredRule>('forward')
  for (const rule of rules) {
    if (rule.route.kind === 'prefix' || rule.route.kind === 'subtree') wide.add(rule.route.literal, rule)
  }
  const seen = new Map<string, RegisteredRule>()
  return rules.filter((rule) => {
    const name = `${rule.route.kind} ${rule.route.pattern}`
    const earlier = seen.get(name)
    seen.set(name, earlier ?? rule)
    if (earlier !== undefined) return coversMethods(earlier.route.methods, rule.route.methods)
    return wide.find(rule.route.pattern, (other) => other !== rule && covers(other, rule)) !== undefined
  })
}

function covers({ route: wider }: RegisteredRule, { route: narrower }: RegisteredRule): boolean {
  const isLiteral = narrower.kind === 'exact' || narrower.kind === 'prefix' || narrower.kind === 'subtree'
  if (!isLiteral || !wider.matchesPath(narrower.pattern)) return false
  if (wider.kind === narrower.kind && wider.pattern === narrower.pattern) return false // a repetition, see above
  if (!coversMethods(wider.methods, narrower.methods)) return false
  // A prefix reaches beyond the segment in which a subtree of the same text ends.
  return (
    wider.kind === 'prefix' || narrower.kind !== 'prefix' || narrower.pattern.length > wider.pattern.length
  )
}

function coversMethods(wider: ReadonlySet<string> | null, narrower: ReadonlySet<string> | null): boolean {
  return wider === null || (narrower !== null && [...narrower].every((method) => wider.has(method)))
}

/** Names of the onRequest hooks that run before the gate on some route, in their order. */
function earlierHooks({ listed, gateName }: AuditParts): readonly string[] {
  const names = (listed ?? []).flatMap(({ hooks }) => {
    const at = hooks.indexOf(gateName)
    return at === -1 ? hooks : hooks.slice(0, at)
  })
  return [...new Set(names)]
}
