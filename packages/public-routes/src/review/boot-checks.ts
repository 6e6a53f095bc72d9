/** What the boot refuses about declared access, once every route has its policy. */
import type { FastifyBaseLogger } from 'fastify'
import type { AccessEntries } from '../access/entries.ts'
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
  const names = unknown.map(({ name, place }) => {
    const meant = permissions.closestTo(name)
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
 * An entry of the option `access` that closes a route has to close it.
 * @throws {FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT} a rule opens the whole route; one of the environment is a warning
 */
export function checkEffect(routes: readonly Route[], policies: Policies, log: FastifyBaseLogger): void {
  const conflicts = routes.flatMap((route) =>
    route.methods.flatMap((method) => {
      const declared = route.declared(method)
      const policy = policies.of(route, method)
      if (declared?.by !== 'option' || declared.requirement.kind === 'public') return []
      if (policy.kind !== 'open' || policy.open.opening?.by !== 'rule') return []
      const { rule } = policy.open.opening
      const text = `${declared.source} closes ${method} ${route.url}, and the rule ${nameOfRule(rule)} opens it`
      return [{ text, isFromEnvironment: rule.source.includes(environmentVariable) }]
    }),
  )
  const byCode = conflicts.filter(({ isFromEnvironment }) => !isFromEnvironment)
  if (byCode.length > 0)
    throw new FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT(byCode.map(({ text }) => text).join('; '))
  if (conflicts.length > 0)
    log.warn(
      { conflicts: conflicts.map(({ text }) => text) },
      'the environment opens what the option access closes',
    )
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
