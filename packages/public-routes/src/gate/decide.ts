/** Decides whether a request is public: canonical target, a rule for its path, and a route that spells that path. */
import type { FastifyRequest } from 'fastify'
import { canonicalPath } from '@fastify-modular/core/internal'
import type { RuleBook } from '../registry.ts'
import { routeConfig, type RegisteredRule } from '../rule-index.ts'
import { spellsPath, type RouteParams } from '../route-witness.ts'
import { canMeet, coversRoute } from './reach.ts'
import type { RouteRecord, Verdict, Verdicts } from './route-record.ts'

/**
 * Which suffix rules must be met by literal text of the route instead of a parameter's value (decision 31): those
 * that begin with `/`, all, or none (literal to S 5.5).
 */
export type CaptureGuard = 'segments' | 'all' | 'off'

export interface Decider {
  /** The rule that makes the request public, null where it is protected. */
  decide(request: FastifyRequest, record: RouteRecord | null): RegisteredRule | null
  /** The rule that opens a path of a route, or of no route, taking the path as canonical and spelled. */
  findRule(method: string, path: string, record: RouteRecord | null): RegisteredRule | null
}

/** `rules` may grow until the application is ready; what depends on a route alone is decided when it is first asked for. */
export function createDecider(rules: RuleBook, captureGuard: CaptureGuard): Decider {
  return { decide, findRule }

  function decide(request: FastifyRequest, record: RouteRecord | null): RegisteredRule | null {
    const { method } = request
    let verdict: Verdict = 'depends'
    if (record !== null) {
      const known = record.verdicts.get(method) ?? judge(method, record)
      verdict = known.anyPath
      if (verdict === null) return null
      if (record.path !== null && isSpelledAs(request.raw.url ?? '', record.path)) return known.ownPath
    }
    const path = canonicalPath(request.raw.url ?? '')
    if (path === null) return null
    const rule = verdict === 'depends' ? findRule(method, path, record) : verdict
    return rule !== null && isWitnessed(request, record, path) ? rule : null
  }

  function findRule(method: string, path: string, record: RouteRecord | null): RegisteredRule | null {
    const rule = findFor(method, path, record)
    return rule === null && method === 'HEAD' && record?.isDerivedHead === true
      ? findFor('GET', path, record)
      : rule
  }

  function findFor(method: string, path: string, record: RouteRecord | null): RegisteredRule | null {
    if (record !== null && record.declared !== null && record.declared.route.allows(method))
      return record.declared
    return rules.index.find(method, path, (rule) => isAdmitted(rule, record, captureGuard))
  }

  /** What is decided once for a route and a method; an earlier hook may have changed the method after the router chose. */
  function judge(method: string, record: RouteRecord): Verdicts {
    const anyPath = record.serves(method) ? verdictOf(method, record) : null
    const { path } = record
    const ownPath =
      anyPath === null || path === null || canonicalPath(path) !== path
        ? null
        : findRule(method, path, record)
    const verdicts = { anyPath, ownPath }
    record.verdicts.set(method, verdicts)
    return verdicts
  }

  /** Most routes are opened by one rule whatever their parameters are, or by none. */
  function verdictOf(method: string, record: RouteRecord): Verdict {
    const followsGet = method === 'HEAD' && record.isDerivedHead
    const candidates = [...(record.declared === null ? [] : [record.declared]), ...rules.rules].filter(
      (rule) =>
        (rule.route.allows(method) || (followsGet && rule.route.allows('GET'))) &&
        isAdmitted(rule, record, captureGuard),
    )
    const opening = candidates.find(({ route }) => coversRoute(route, record))
    return opening ?? (candidates.some(({ route }) => canMeet(route, record)) ? 'depends' : null)
  }
}

/** Whether the route that the router chose spells the path; without a route there is nothing to open by mistake. */
export function isWitnessed(request: FastifyRequest, record: RouteRecord | null, path: string): boolean {
  if (record === null) return true
  const params: unknown = request.params
  if (typeof params !== 'object' || params === null) return false
  return spellsPath(record.patterns, params as RouteParams, path, record.toleratesSlash)
}

/** Whether a matching rule may open this route. */
export function isAdmitted(rule: RegisteredRule, record: RouteRecord | null, guard: CaptureGuard): boolean {
  const { route, source } = rule
  if (source === routeConfig) return record?.declared === rule // and not another route with the same URL
  if (route.kind === 'route') return record !== null && record.isNamedBy(route)
  if (route.kind !== 'suffix' || record === null || guard === 'off') return true
  return (guard === 'segments' && !route.pattern.startsWith('/')) || record.endsLiterallyWith(route.pattern)
}

function isSpelledAs(target: string, path: string): boolean {
  return target === path || (target.startsWith(path) && target[path.length] === '?')
}
