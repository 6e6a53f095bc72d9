/** What the boot refuses about declared access, once every route has its policy. */
import { closestName } from '@fastify-modular/core/internal'
import type { AccessEntries, Entry } from '../access/entries.ts'
import { type Declared, isAtLeast, type Requirement } from '../access/declaration.ts'
import type { Permissions } from '../access/permissions.ts'
import type { Policies } from '../gate/policy.ts'
import type { Route } from '../gate/routes.ts'
import { environmentSource } from '../initial-rules.ts'
import { errorCodes } from '../misuse-errors.ts'
import { nameOfRule } from '../rule.ts'

/** What says who may call, complete. */
interface Declarations {
  readonly routes: readonly Route[]
  readonly entries: AccessEntries
  readonly claims: readonly Claim[]
  readonly modules: ReadonlyMap<string, Declared>
  readonly permissions: Permissions
  readonly policies: Policies
}

/** An entry of the option `access`, with a method of a route that it names. */
export interface Claim {
  readonly entry: Entry
  readonly route: Route
  readonly method: string
  /** Whether no other entry that names the method is more specific. */
  readonly counts: boolean
}

export function checkDeclarations(declarations: Declarations): void {
  checkPermissions(declarations)
  refuseLoosening(declarations)
  refuseWithoutEffect(declarations)
}

/** @throws {FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION} */
function checkPermissions({ routes, entries, modules, permissions }: Declarations): void {
  const named = [
    ...routes.flatMap(namedByRoute),
    ...[...entries.all, ...modules.values()].flatMap(({ requirement, source }) =>
      namedBy(requirement, source),
    ),
  ]
  const unknown = named.filter(({ name }) => !permissions.has(name))
  if (unknown.length === 0) return
  const known = permissions.list().map(({ name }) => name)
  const names = unknown.map(({ name, place }) => `"${name}" by ${place}${meaning(name, known)}`)
  throw new errorCodes.FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION(names.join(', '))
}

/** ` (did you mean "Notes.Edit"?)`; empty where the name is known, or none is close. */
function meaning(name: string, known: readonly string[]): string {
  const meant = known.includes(name) ? undefined : closestName(name, known)
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`
}

function namedByRoute(route: Route): ReturnType<typeof namedBy> {
  if (route.derivedFrom !== undefined) return []
  const own = route.methods.flatMap((method) => {
    const declared = route.declared(method)
    return declared?.by === 'route' ? namedBy(declared.requirement, `${method} ${route.url}`) : []
  })
  const { checkedByHandler } = route
  return checkedByHandler === undefined ? own : [...own, { name: checkedByHandler, place: route.name }]
}

function namedBy({ clauses }: Requirement, place: string) {
  return clauses.flat().map((name) => ({ name, place }))
}

/**
 * An entry of the option `access` counts before the `access` of a module and may not undo it, unless it names a route.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS}
 */
function refuseLoosening({ claims, modules }: Declarations): void {
  const faults = claims.flatMap(({ entry, route, method, counts }) => {
    const ofModule = modules.get(route.origin?.module ?? '')
    const namesRoute = !entry.isSubtree || route.url === `${entry.url}/*`
    if (ofModule === undefined || namesRoute || !counts || route.declared(method)?.by !== 'option') return []
    if (isAtLeast(entry.requirement, ofModule.requirement)) return []
    return `${entry.source} says ${entry.requirement.text} about ${method} ${route.url}, and the ${ofModule.source} ${ofModule.requirement.text}`
  })
  if (faults.length === 0) return
  const wayOut =
    'an entry for several routes asks at least what their module asks; name the whole URL of a route to ask less'
  throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_ACCESS(
    'routes of modules',
    `${faults.join('; ')}; ${wayOut}`,
  )
}

/**
 * @throws {FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT} an entry of the option `access` decides nothing, whatever stands against
 *   it, or a rule of the application opens a route that an entry closes
 */
function refuseWithoutEffect({ entries, claims, routes, policies }: Declarations): void {
  const urls = routes.map(({ url }) => url)
  const faults = entries.all.flatMap((entry) => {
    const own = claims.filter((claim) => claim.entry === entry)
    if (own.length === 0) return `${entry.source} matches no route${meaning(entry.url, urls)}`
    const obstacles = own.flatMap((claim) => obstacleTo(claim, policies) ?? [])
    const isDead = obstacles.length === own.length
    return obstacles.filter(({ stops }) => isDead || stops).map(({ text }) => text)
  })
  if (faults.length > 0)
    throw new errorCodes.FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT([...new Set(faults)].join('; '))
}

/** Why an entry decides nothing about a method of a route, and whether that alone stops the boot; null where it decides. */
function obstacleTo({ entry, route, method, counts }: Claim, policies: Policies) {
  const { source, requirement } = entry
  if (!counts) return { text: `${source} yields to more specific entries`, stops: false }
  const own = route.declared(method)
  if (own?.by === 'route' && own.requirement.text !== requirement.text) {
    const text = `${source} says ${requirement.text} about ${method} ${route.url}, and the route config declares ${own.requirement.text}`
    return { text, stops: false }
  }
  const policy = policies.of(route, method)
  const opening = policy.kind === 'open' ? policy.open.publicBecause : null
  if (requirement.kind === 'public' || opening?.by !== 'rule') return null
  const text = `${source} closes ${method} ${route.url}, and the rule ${nameOfRule(opening.rule)} opens it`
  return { text, stops: opening.rule.source !== environmentSource }
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
  if (undeclared.length > 0) throw new errorCodes.FMOD_PUBLIC_ROUTES_UNDECLARED(undeclared.join('\n'))
}
