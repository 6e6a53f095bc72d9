/** What anonymous callers can reach: each rule with the routes and methods that it can open. */
import { isAdmitted, type CaptureGuard } from '../gate/decide.ts'
import { canMeet } from '../gate/reach.ts'
import type { RouteRecord } from '../gate/route-record.ts'
import type { PublicRoute } from '../public-route.ts'
import type { RegisteredRule } from '../rule-index.ts'
import { samplePaths } from './sample-paths.ts'

/** A route that a rule can open. */
export interface Opening {
  readonly record: RouteRecord
  readonly method: string
  /** A path for which it does. */
  readonly path: string
}

/** A rule with what it opens. Exact for static routes; for others it rests on sample values of the parameters. */
export interface SurfaceEntry {
  readonly rule: RegisteredRule
  readonly openings: readonly Opening[]
}

/** Cost: each rule with each route (400 routes and 300 rules: 34 ms), at boot and for each call of `surface`. */
export function describeSurface(
  rules: readonly RegisteredRule[],
  records: readonly RouteRecord[],
  captureGuard: CaptureGuard,
): readonly SurfaceEntry[] {
  return rules.map((rule) => ({
    rule,
    openings: records.flatMap((record) =>
      canMeet(rule.route, record) && isAdmitted(rule, record, captureGuard)
        ? openingsOf(rule.route, record)
        : [],
    ),
  }))
}

function openingsOf(rule: PublicRoute, record: RouteRecord): readonly Opening[] {
  const methods = record.methods.filter(
    (method) => rule.allows(method) || (method === 'HEAD' && record.isDerivedHead && rule.allows('GET')),
  )
  if (methods.length === 0) return []
  const path = openPath(rule, record)
  return path === undefined ? [] : methods.map((method) => ({ record, method, path }))
}

function openPath(rule: PublicRoute, record: RouteRecord): string | undefined {
  if (rule.kind === 'route') return record.url
  return record.patterns
    .flatMap((pattern) => samplePaths(pattern, rule.pattern))
    .find((path) => rule.matchesPath(path))
}
