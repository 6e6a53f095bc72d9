/** Warnings about rules: in the log at boot, and beside each route in the table of access. */
import { opensDespite } from '../access/precedence.ts'
import type { Policies } from '../gate/policy.ts'
import type { Route } from '../gate/routes.ts'
import { environmentSource } from '../initial-rules.ts'
import { frameworkDefault, nameOfRule, type RegisteredRule } from '../rules.ts'

interface Warning {
  readonly rule: RegisteredRule
  readonly message: string
  /** ` against GET /notes`, where the warning is about the route as well; empty otherwise. */
  readonly name: string
}

const mutating = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

const opensMutating = 'public-route rules without methods can open routes that change something'
const overruled =
  'routes declare more than public-route rules that match them: the declarations hold, and the rules do not open these routes'
const withoutRoute = 'public-route rules match no route'

/** What a reviewer should look at, for a method of a route. */
export function warningsOfRoute(route: Route, method: string, policies: Policies): readonly Warning[] {
  const declared = route.declared(method)
  const found = policies.rulesFor(route, method).filter(({ rule }) => rule.source !== frameworkDefault)
  if (declared?.by === 'route' && declared.requirement.kind !== 'public') {
    const certain = found.filter(({ rule, reach }) => reach === 'every path' || rule.route.kind !== 'regex')
    const name = ` against ${method} ${route.url}`
    return certain.map(({ rule }) => ({ rule, message: overruled, name }))
  }
  if (!mutating.has(method)) return []
  const forAll = found.filter(({ rule }) => rule.route.methods === null)
  return forAll.map(({ rule }) => ({ rule, message: opensMutating, name: '' }))
}

/** All of them, each with the rules it is about; the framework's own give none, because the application did not write them. */
export function findWarnings(
  rules: readonly RegisteredRule[],
  routes: readonly Route[],
  policies: Policies,
): readonly { readonly message: string; readonly rules: readonly string[] }[] {
  const places = placesOf(routes)
  const used = new Set(
    places.flatMap(({ route, method }) => policies.rulesFor(route, method).map(({ rule }) => rule)),
  )
  const unused = rules.filter((rule) => rule.source !== frameworkDefault && !used.has(rule))
  const warnings = [
    ...places.flatMap(({ route, method }) => warningsOfRoute(route, method, policies)),
    ...unused.map((rule) => ({ rule, message: withoutRoute, name: '' })),
  ]
  const byMessage = new Map<string, Set<string>>()
  for (const { message, rule, name } of warnings)
    byMessage.set(message, (byMessage.get(message) ?? new Set()).add(`${nameOfRule(rule)}${name}`))
  return Array.from(byMessage, ([message, named]) => ({ message, rules: [...named] }))
}

/**
 * What the environment opens, route by route, since no committed file has it:
 * `GET /notebook by "* prefix /note"`, `some paths of GET /notes/:id by "* prefix /notes/4"`.
 */
export function openedByEnvironment(routes: readonly Route[], policies: Policies): readonly string[] {
  return placesOf(routes).flatMap(({ route, method }) => {
    if (policies.of(route, method).kind === 'closed') return []
    const opening = policies
      .rulesFor(route, method)
      .filter(
        ({ rule }) => rule.source === environmentSource && opensDespite(rule, route.declared(method)?.by),
      )
    return opening.map(
      ({ rule, reach }) =>
        `${reach === 'every path' ? '' : 'some paths of '}${method} ${route.url} by "${String(rule.route)}"`,
    )
  })
}

/** Each method of each route; a HEAD that follows GET says nothing that GET does not. */
function placesOf(routes: readonly Route[]): readonly { readonly route: Route; readonly method: string }[] {
  return routes.flatMap((route) =>
    route.methods.flatMap((method) => (method === 'HEAD' && route.followsGet ? [] : { route, method })),
  )
}
