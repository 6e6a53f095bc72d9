/** What the boot refuses about declared access, once every route has its policy. */
import { closestName } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import type { AccessEntries, Entry } from '../access/entries.ts'
import type { Requirement } from '../access/declaration.ts'
import type { Permissions } from '../access/permissions.ts'
import type { ScopeDefaults } from '../access/scope-defaults.ts'
import type { Policies } from '../gate/policy.ts'
import type { Route } from '../gate/routes.ts'
import { environmentVariable } from '../initial-rules.ts'
import {
  FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT,
  FMOD_PUBLIC_ROUTES_UNDECLARED,
  FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION,
} from '../misuse-errors.ts'
import { nameOfRule } from '../rules.ts'

interface Declarations {
  readonly routes: readonly Route[]
  readonly entries: AccessEntries
  readonly defaults: ScopeDefaults
  readonly permissions: Permissions
}

/** @throws {FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION} */
export function checkPermissions({ routes, entries, defaults, permissions }: Declarations): void {
  const named = [
    ...routes.flatMap(namedByRoute),
    ...[...entries.all, ...defaults.all].flatMap(({ requirement, source }) => namedBy(requirement, source)),
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

/** An entry of the option `access`, with a method of a route that it names. */
export interface Claim {
  readonly entry: Entry
  readonly route: Route
  readonly method: string
}

/**
 * Logs where entries of the option `access` have no effect.
 * @throws {FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT} all routes that an entry names declare another access, or a rule opens what
 * it closes, unless the environment adds that rule
 */
export function checkEffect(claims: readonly Claim[], policies: Policies, log: FastifyBaseLogger): void {
  const effective = new Set(claims.filter((claim) => !isOverruled(claim)).map(({ entry }) => entry))
  const conflicts = claims.flatMap((claim) => {
    if (!isOverruled(claim)) return conflictWithRules(claim, policies) ?? []
    const hasEffect = effective.has(claim.entry)
    const { isSubtree } = claim.entry
    return hasEffect && isSubtree ? [] : { text: overruledText(claim), isFatal: !hasEffect && !isSubtree }
  })
  const fatal = conflicts.filter(({ isFatal }) => isFatal)
  if (fatal.length > 0)
    throw new FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT(fatal.map(({ text }) => text).join('; '))
  if (conflicts.length > 0)
    log.warn(
      { entries: conflicts.map(({ text }) => text) },
      'entries of the option access have no effect on these routes, or on some of their paths',
    )
}

/** Whether the route declares another access itself. */
function isOverruled({ entry, route, method }: Claim): boolean {
  const own = route.declared(method)
  return own?.by === 'route' && own.requirement.text !== entry.requirement.text
}

function overruledText({ entry: { source, requirement }, route, method }: Claim): string {
  const own = route.declared(method)?.requirement.text
  return `${source} says ${requirement.text} about ${method} ${route.url}, and the route config declares ${own}`
}

/** Names the rules that open what the entry closes. */
function conflictWithRules(
  { entry: { source, requirement }, route, method }: Claim,
  policies: Policies,
): { readonly text: string; readonly isFatal: boolean } | undefined {
  const policy = policies.of(route, method)
  if (requirement.kind === 'public' || policy.kind === 'closed') return undefined
  const closes = `${source} closes ${method} ${route.url}, and the rule`
  if (policy.kind === 'by path') {
    const rules = policy.rules.map(nameOfRule).join(', ')
    return { text: `${closes} ${rules} could open some of its paths`, isFatal: false }
  }
  if (policy.open.opening?.by !== 'rule') return undefined
  const { rule } = policy.open.opening
  return {
    text: `${closes} ${nameOfRule(rule)} opens it`,
    isFatal: !rule.source.includes(environmentVariable),
  }
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
