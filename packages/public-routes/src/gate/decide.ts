/** Decides whether a request is public: canonical target, a rule for its path, and a route that spells that path. */
import type { FastifyRequest } from 'fastify'
import { canonicalPath } from '../canonical-path.ts'
import { routeConfig, type RegisteredRule, type RuleIndex } from '../rule-index.ts'
import { spellsPath, type RouteParams } from '../route-witness.ts'
import type { RouteRecord } from './route-record.ts'

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

/** `rules` may still grow until the application is ready; static routes are decided when they are first asked for. */
export function createDecider(rules: { readonly index: RuleIndex }, captureGuard: CaptureGuard): Decider {
  return { decide, findRule }

  function decide(request: FastifyRequest, record: RouteRecord | null): RegisteredRule | null {
    const { method } = request
    const target = request.raw.url ?? ''
    if (record !== null) {
      if (!record.serves(method)) return null
      if (record.isStatic && isSpelledAs(target, record.url)) return verdictOf(method, record)
    }
    const path = canonicalPath(target)
    if (path === null) return null
    const rule = findRule(method, path, record)
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

  /** A static route has one path, so its decision is made once. */
  function verdictOf(method: string, record: RouteRecord): RegisteredRule | null {
    let verdict = record.verdicts.get(method)
    if (verdict === undefined) {
      verdict = canonicalPath(record.url) === record.url ? findRule(method, record.url, record) : null
      record.verdicts.set(method, verdict)
    }
    return verdict
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

function isSpelledAs(target: string, url: string): boolean {
  return target === url || (target.startsWith(url) && target[url.length] === '?')
}
