/** What the boot refuses about declared access, once every route has its policy. */
import { closestName } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import type { AccessEntries, Entry } from '../access/entries.ts'
import { type Declared, isAtLeast, type Requirement } from '../access/declaration.ts'
import type { Permissions } from '../access/permissions.ts'
import type { Policies } from '../gate/policy.ts'
import type { Route } from '../gate/routes.ts'
import { environmentSource } from '../initial-rules.ts'
import {
  FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT,
  FMOD_PUBLIC_ROUTES_INVALID_ACCESS,
  FMOD_PUBLIC_ROUTES_UNDECLARED,
  FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION,
} from '../misuse-errors.ts'
import { nameOfRule } from '../rules.ts'

interface Declarations {
  readonly routes: readonly Route[]
  readonly entries: AccessEntries
  readonly modules: ReadonlyMap<string, Declared>
  readonly permissions: Permissions
}

/** @throws {FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION} */
export function checkPermissions({ routes, entries, modules, permissions }: Declarations): void {
  const named = [
    ...routes.flatMap(namedByRoute),
    ...[...entries.all, ...modules.values()].flatMap(({ requirement, source }) =>
      namedBy(requirement, source),
    ),
  ]
  const unknown = named.filter(({ name }) => !permissions.has(name))
  if (unknown.length === 0) return
  const known = permissions.list().map(({ name }) => name)
  const names = unknown.map(({ name, place }) => {
    const meant = closestName(name, known)
    return `"${name}" by ${place}${meant === undefined ? '' : ` (did you mean "${meant}"?)`}`
  })
  throw new FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION(names.join(', '))
}

interface Named {
  readonly name: string
  readonly place: string
}

function namedByRoute(route: Route): readonly Named[] {
  if (route.derivedFrom !== undefined) return []
  const own = route.methods.flatMap((method) => {
    const declared = route.declared(method)
    return declared?.by === 'route' ? namedBy(declared.requirement, `${method} ${route.url}`) : []
  })
  const { checkedByHandler } = route
  return checkedByHandler === undefined ? own : [...own, { name: checkedByHandler, place: route.name }]
}

function namedBy({ clauses }: Requirement, place: string): readonly Named[] {
  return clauses.flat().map((name) => ({ name, place }))
}

/**
 * An entry of the option `access` counts before the `access` of a module and may not undo it, unless it names a route.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS}
 */
export function refuseLoosening(claims: readonly Claim[], modules: ReadonlyMap<string, Declared>): void {
  const faults = claims.flatMap(({ entry, route, method }) => {
    const ofModule = modules.get(route.origin?.module ?? '')
    const namesRoute = !entry.isSubtree || route.url === `${entry.url}/*`
    if (ofModule === undefined || namesRoute || route.declared(method)?.by !== 'option') return []
    if (isAtLeast(entry.requirement, ofModule.requirement)) return []
    return `${entry.source} says ${entry.requirement.text} about ${method} ${route.url}, and the ${ofModule.source} ${ofModule.requirement.text}`
  })
  if (faults.length === 0) return
  const wayOut =
    'an entry for several routes asks at least what their module asks; name the whole URL of a route to ask less'
  throw new FMOD_PUBLIC_ROUTES_INVALID_ACCESS('routes of modules', `${faults.join('; ')}; ${wayOut}`)
}

/** An entry of the option `access`, with a method of a route that it names. */
export interface Claim {
  readonly entry: Entry
  readonly route: Route
  readonly method: string
}

interface Claims {
  readonly entries: AccessEntries
  readonly claims: readonly Claim[]
  readonly policies: Policies
  readonly log: FastifyBaseLogger
}

/** What an entry does about a method of a route, and what stands against it. */
interface Effect {
  /** Whether it decides about some paths at least. */
  readonly decides: boolean
  readonly text: string
  /** What happens if the entry decides about something, here or elsewhere. */
  readonly outcome: 'stop' | 'warn' | 'nothing'
}

/**
 * Logs where entries of the option `access` have no effect.
 * @throws {FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT} an entry decides nothing, whatever stands against it, or a rule of the
 *   application opens a route that an entry closes
 */
export function checkEffect({ entries, claims, policies, log }: Claims): void {
  const effects = claims.map((claim) => ({ entry: claim.entry, ...effectOf(claim, policies) }))
  const claiming = new Set(effects.map(({ entry }) => entry))
  const deciding = new Set(effects.filter(({ decides }) => decides).map(({ entry }) => entry))
  const fatal = [
    ...effects
      .filter(({ entry, outcome }) => outcome === 'stop' || !deciding.has(entry))
      .map(({ text }) => text),
    ...entries.all
      .filter((entry) => !claiming.has(entry))
      .map(({ source }) => `${source} yields to more specific entries on each of its routes`),
  ]
  if (fatal.length > 0) throw new FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT(fatal.join('; '))
  const warned = effects.filter(({ outcome }) => outcome === 'warn').map(({ text }) => text)
  if (warned.length > 0)
    log.warn(
      { entries: warned },
      'entries of the option access have no effect on these routes, or on some of their paths',
    )
}

function effectOf({ entry, route, method }: Claim, policies: Policies): Effect {
  const { source, requirement, isSubtree } = entry
  const own = route.declared(method)
  if (own?.by === 'route' && own.requirement.text !== requirement.text) {
    const text = `${source} says ${requirement.text} about ${method} ${route.url}, and the route config declares ${own.requirement.text}`
    return { decides: false, text, outcome: isSubtree ? 'nothing' : 'warn' }
  }
  const policy = policies.of(route, method)
  const closes = `${source} closes ${method} ${route.url}, and the rule`
  if (requirement.kind !== 'public' && policy.kind === 'by path') {
    const rules = policy.rules.map(nameOfRule).join(', ')
    return { decides: true, text: `${closes} ${rules} could open some of its paths`, outcome: 'warn' }
  }
  const opening = policy.kind === 'open' ? policy.open.publicBecause : null
  if (requirement.kind === 'public' || opening?.by !== 'rule')
    return { decides: true, text: '', outcome: 'nothing' }
  const outcome = opening.rule.source === environmentSource ? 'warn' : 'stop'
  return { decides: false, text: `${closes} ${nameOfRule(opening.rule)} opens it`, outcome }
}

/**
 * Refuses to start while nothing says who may call a route: no declaration, and no rule that opens every path of it.
 * @throws {FMOD_PUBLIC_ROUTES_UNDECLARED} with all of them
 */
export function refuseUndeclared(routes: readonly Route[], policies: Policies): void {
  const undeclared = routes.flatMap((route) =>
    route.methods.flatMap((method) => {
      if (route.derivedFrom !== undefined || route.isPreflight) return []
      const policy = policies.of(route, method)
      if (route.declared(method) !== undefined || policy.kind === 'open') return []
      const module = route.origin?.module
      const partly =
        policy.kind === 'by path'
          ? `: ${policy.rules.map(nameOfRule).join(', ')} could open some of its paths`
          : ''
      return [`- ${method} ${route.url}${module === undefined ? '' : ` (module "${module}")`}${partly}`]
    }),
  )
  if (undeclared.length > 0) throw new FMOD_PUBLIC_ROUTES_UNDECLARED(undeclared.join('\n'))
}
