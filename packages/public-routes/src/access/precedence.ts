/**
 * The order in which declarations and rules say who may call a route, for each of its methods. The policy that the gate
 * follows is made from it, and the table, `explain`, the OpenAPI document and `expectAccess` are made from the policy.
 * A rule says something about the paths that it matches: about other paths of the same route the next place decides.
 */
import { frameworkDefault, type RegisteredRule } from '../rule.ts'

/** The first of these that says something counts. */
const order = [
  'route', // the configuration of the route itself
  'rule', // of the application: of a module, of a plugin, of the environment, a legacy path of the provider
  'option', // `access` of the gate: what the host says about the routes of others
  'framework', // the framework's own public paths
  'module', // `access` of the module that registered the route
  'undeclared', // the option of this name
] as const

/** What says who may call. */
export type Place = (typeof order)[number]

export function countsBefore(one: Place, other: Place): boolean {
  return order.indexOf(one) < order.indexOf(other)
}

/** The one that counts before all others. */
export function firstPlace(places: readonly Place[]): Place {
  return order.find((place) => places.includes(place)) ?? 'undeclared'
}

/** Whether a rule opens what it matches of a route, about which the place on the right declares something. */
export function opensDespite({ source }: RegisteredRule, declaredBy: Place = 'undeclared'): boolean {
  return countsBefore(source === frameworkDefault ? 'framework' : 'rule', declaredBy)
}
