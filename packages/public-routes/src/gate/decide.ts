/**
 * Decides whether a request is public. Three conditions, each necessary: its target is canonical, a rule opens its
 * method and path, and the route that the router chose spells exactly that path (the route witness).
 */
import { canonicalPath, fullyDecoded } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import { type Requirement, requireEvery } from '../access/declaration.ts'
import type { RoutePattern } from '../matching/route-pattern.ts'
import type { PublicRoute } from '../rule.ts'
import { isRuleOfRoute, type RegisteredRule, type RuleSet } from '../rules.ts'
import type { Decision, RequestAccess, RouteRecord, Verdict } from './route-record.ts'

/**
 * Which suffix rules must match literal text of the route instead of a parameter's value: those that begin with `/`,
 * all, or none (S 5.5).
 */
export type CaptureGuard = 'segments' | 'all' | 'off'

const byCaller: RequestAccess = Object.freeze({ by: 'caller' })
const closed: Decision = Object.freeze({ rule: null, needs: null, letIn: byCaller })

/** What the decision about one request depends on. */
interface Question {
  readonly method: string
  readonly target: string
  /** The route that the router chose; null where none matches. */
  readonly route: RouteRecord | null
  readonly verdict: Verdict | null
  /** The values of the route's parameters, in the order of `route.parameters`. */
  readonly values: readonly unknown[]
}

/** A path whose rule is wanted. */
interface Wanted {
  readonly method: string
  readonly path: string
  readonly route: RouteRecord | null
}

export class Decider {
  readonly #rules: RuleSet
  readonly #captureGuard: CaptureGuard

  /** `rules` may grow until the application is ready; a route's verdict is found at its first request. */
  constructor(rules: RuleSet, captureGuard: CaptureGuard) {
    this.#rules = rules
    this.#captureGuard = captureGuard
  }

  /**
   * Reads everything that the decision depends on at once, so that nothing that runs after this call can change it.
   * What a route's verdict does not settle is worked out when `rule` is first read. For known callers it rarely is, and
   * a regular expression of the engine costs more than all else that the gate does: twice a request (bench/gate.mjs).
   */
  decide(request: FastifyRequest, route: RouteRecord | null): Decision {
    const { method } = request
    const target = request.raw.url ?? ''
    if (route === null) return new PathDecision(this, { method, target, route, verdict: null, values: [] })
    const verdict = this.verdictOf(route, method)
    if (verdict.opens === 'no path') return verdict.closed
    if (route.path !== null && isSpelledAs(target, route.path)) return verdict.ownPath
    const values = readParameters(request, route)
    return values === null
      ? verdict.closed
      : new PathDecision(this, { method, target, route, verdict, values })
  }

  /** The rule that opens the request in question; null where it is protected. */
  answer({ method, target, route, verdict, values }: Question): RegisteredRule | null {
    const path = canonicalPath(target)
    if (path === null) return null
    const rule = verdict?.rule ?? this.findRule({ method, path, route })
    return rule !== null && (route === null || spellsPath(route, { values, path })) ? rule : null
  }

  /** The rule that opens a path of a route, or of no route, if the path is canonical and the route spells it. */
  findRule(wanted: Wanted): RegisteredRule | null {
    if (wanted.route?.isClosed(wanted.method) === true) return null
    const { method, route } = wanted
    const followed = route?.followed(method) ?? method
    return (
      this.#findFor(wanted) ?? (followed === method ? null : this.#findFor({ ...wanted, method: followed }))
    )
  }

  /** Whether a rule that matches a path of this route may open it. */
  canOpen(rule: RegisteredRule, route: RouteRecord | null): boolean {
    const { kind, pattern } = rule.route
    if (isRuleOfRoute(rule)) return route?.openedBy.includes(rule) === true // and not another route with the same URL
    if (kind === 'route') return route !== null && route.url === pattern
    if (kind !== 'suffix' || route === null || this.#captureGuard === 'off') return true
    return (this.#captureGuard === 'segments' && !pattern.startsWith('/')) || route.endsLiterallyWith(pattern)
  }

  #findFor({ method, path, route }: Wanted): RegisteredRule | null {
    if (route !== null && route.declared?.route.allows(method) === true) return route.declared
    return this.#rules.index.find({ method, path, admits: (rule) => this.canOpen(rule, route) })
  }

  /** Found once for each route and method: one rule opens most routes whatever their parameters are, or none does. */
  verdictOf(route: RouteRecord, method: string): Verdict {
    let verdict = route.verdicts.get(method)
    if (verdict === undefined) {
      verdict = this.#judge(route, method)
      route.verdicts.set(method, verdict)
    }
    return verdict
  }

  #judge(route: RouteRecord, method: string): Verdict {
    const protects = closedDecision(route, method)
    const candidates = this.#candidates(route, method)
    const covering = candidates.find((rule) => coversRoute(rule.route, route))
    if (covering !== undefined) {
      const ownPath = this.#decideOwnPath({ route, method, protects })
      return { opens: 'every path', rule: covering, ownPath, closed: protects }
    }
    if (!candidates.some((rule) => canMatch(rule.route, route))) {
      return { opens: 'no path', rule: null, ownPath: protects, closed: protects }
    }
    const ownPath = this.#decideOwnPath({ route, method, protects })
    return { opens: 'some paths', rule: null, ownPath, closed: protects }
  }

  /** The rules that may open the route; none where a hook changed the method after the router chose the route. */
  #candidates(route: RouteRecord, method: string): readonly RegisteredRule[] {
    if (!route.methods.includes(method) || route.isClosed(method)) return []
    const followed = route.followed(method)
    const all = [...(route.declared === null ? [] : [route.declared]), ...this.#rules.rules]
    return all.filter(
      (rule) => (rule.route.allows(method) || rule.route.allows(followed)) && this.canOpen(rule, route),
    )
  }

  /** For the one path of a static route. */
  #decideOwnPath({
    route,
    method,
    protects,
  }: {
    readonly route: RouteRecord
    readonly method: string
    readonly protects: Decision
  }): Decision {
    const { path } = route
    if (path === null || canonicalPath(path) !== path) return protects
    const rule = this.findRule({ method, path, route })
    return rule === null ? protects : Object.freeze({ ...protects, rule })
  }
}

/** The decision for paths of the route that no rule opens: one object for all routes that need no permission. */
function closedDecision(route: RouteRecord, method: string): Decision {
  const requirement = requirementOf(route, method)
  if (requirement?.kind !== 'permission') return closed
  const letIn: RequestAccess = Object.freeze({ by: 'caller', permission: requirement.text })
  return Object.freeze({ rule: null, needs: requirement, letIn })
}

/** Everything that the route requires, where a hook changed the method after the router chose the route. */
function requirementOf(route: RouteRecord, method: string): Requirement | undefined {
  const isUnlisted = route.methods.length === 0
  if (isUnlisted || route.methods.includes(method)) return route.requirement(method)
  return requireEvery(route.methods.map((each) => route.requirement(each)))
}

/** A decision whose rule depends on the path: worked out when it is first read, from what the request said at the gate. */
class PathDecision implements Decision {
  readonly #decider: Decider
  readonly #question: Question
  #rule: RegisteredRule | null | undefined
  readonly needs: Requirement | null
  readonly letIn: RequestAccess

  constructor(decider: Decider, question: Question) {
    this.#decider = decider
    this.#question = question
    const { needs, letIn } = question.verdict?.closed ?? closed
    this.needs = needs
    this.letIn = letIn
  }

  get rule(): RegisteredRule | null {
    if (this.#rule === undefined) this.#rule = this.#decider.answer(this.#question)
    return this.#rule
  }
}

/**
 * The values of the route's parameters as the router decoded them; null where an earlier hook left no object. The gate
 * keeps the values and not the object, which validation and later hooks change in place.
 */
export function readParameters(request: FastifyRequest, route: RouteRecord): readonly unknown[] | null {
  const params: unknown = request.params
  if (typeof params !== 'object' || params === null) return null
  return route.parameters.map((name) => (params as Readonly<Record<string, unknown>>)[name])
}

/**
 * The route witness: rebuilds the path piece by piece from the patterns of the chosen route and compares it with the
 * canonical path. One trailing slash more is tolerated where the router ignores it.
 */
export function spellsPath(
  { patterns, toleratesSlash }: Pick<RouteRecord, 'patterns' | 'toleratesSlash'>,
  { values, path }: { readonly values: readonly unknown[]; readonly path: string },
): boolean {
  const spelled = fullyDecoded(path)
  for (const pattern of patterns) {
    const end = spelledLength(pattern, { values, path: spelled })
    if (end === spelled.length) return true
    if (toleratesSlash && end === spelled.length - 1 && spelled.endsWith('/')) return true
  }
  return false
}

/** How much of the path the pattern spells, in characters; -1 where they differ. */
function spelledLength(
  pattern: RoutePattern,
  { values, path }: { readonly values: readonly unknown[]; readonly path: string },
): number {
  let at = 0
  let parameter = 0
  for (const part of pattern) {
    const text = typeof part === 'string' ? part : values[parameter++]
    if (typeof text !== 'string' || !path.startsWith(text, at)) return -1
    at += text.length
  }
  return at
}

/** A route's own declaration holds against every rule. */
export function opensMethod(
  { route: rule }: RegisteredRule,
  method: string,
  route: RouteRecord | null,
): boolean {
  if (route?.isClosed(method) === true) return false
  return rule.allows(method) || (route !== null && rule.allows(route.followed(method)))
}

/** Whether some path of the route could match, by their literal texts alone; false is certain, true is not. */
export function canMatch(
  { kind, literal }: PublicRoute,
  { heads, tails, toleratesSlash }: RouteRecord,
): boolean {
  if (kind === 'suffix') {
    return toleratesSlash || tails.some((tail) => tail.endsWith(literal) || literal.endsWith(tail))
  }
  // An exact path is longer than the text before a parameter: `/` matches no route but its own.
  if (kind === 'exact') return heads.some((head) => literal.startsWith(head))
  return heads.some((head) => head.startsWith(literal) || literal.startsWith(head))
}

/** Whether a rule that may open the route matches every path of it, by their literal texts alone; true is certain. */
function coversRoute({ kind, literal }: PublicRoute, { heads, tails, toleratesSlash }: RouteRecord): boolean {
  if (kind === 'route') return true // the rule names the route
  if (kind === 'prefix') return heads.every((head) => head.startsWith(literal))
  if (kind === 'subtree') return heads.every((head) => head.startsWith(`${literal}/`))
  return kind === 'suffix' && !toleratesSlash && tails.every((tail) => tail.endsWith(literal))
}

/** Whether the target is this path, with or without a query. */
function isSpelledAs(target: string, path: string): boolean {
  return target === path || (target.startsWith(path) && target[path.length] === '?')
}
