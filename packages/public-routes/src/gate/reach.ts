/** What a rule can do to a route, told from their literal texts alone: nothing, something, or open all of its paths. */
import type { PublicRoute } from '../public-route.ts'
import type { RouteRecord } from './route-record.ts'

/** Whether some path of the route could match; false is certain, true is not. */
export function canMeet(
  { kind, literal }: PublicRoute,
  { heads, tails, toleratesSlash }: RouteRecord,
): boolean {
  if (kind === 'suffix') {
    return toleratesSlash || tails.some((tail) => tail.endsWith(literal) || literal.endsWith(tail))
  }
  // An exact path is longer than the text before a parameter: `/` meets no route but its own.
  if (kind === 'exact') return heads.some((head) => literal.startsWith(head))
  return heads.some((head) => head.startsWith(literal) || literal.startsWith(head))
}

/** Whether every path that the route spells matches a rule that may open it; true is certain, false is not. */
export function coversRoute(
  { kind, literal }: PublicRoute,
  { heads, tails, toleratesSlash }: RouteRecord,
): boolean {
  if (kind === 'route') return true // admitted by name
  if (kind === 'prefix') return heads.every((head) => head.startsWith(literal))
  if (kind === 'subtree') return heads.every((head) => head.startsWith(`${literal}/`))
  return kind === 'suffix' && !toleratesSlash && tails.every((tail) => tail.endsWith(literal))
}
