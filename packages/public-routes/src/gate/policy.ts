/**
 * The policy of each route and method: which of its paths are public, and what callers need for the others. Decided once,
 * when the application is ready; the gate, the table, `explain` and the OpenAPI document read it.
 */
import { canonicalPath } from '@fastify-modular/core/internal'
import type { Requirement } from '../access/declaration.ts'
import { opensDespite } from '../access/precedence.ts'
import { compareSegments, literalOf, segmentsOf } from '../matching/route-pattern.ts'
import { createFind, matcherOf, type PublicRoute, type RegisteredRule } from '../rule.ts'
import { errorCodes } from '../misuse-errors.ts'
import type { Decision, Policy, RequestAdmission } from './decision.ts'
import type { Route } from './routes.ts'

const byCaller: RequestAdmission = Object.freeze({ by: 'caller' })
const signedIn: Decision = Object.freeze({ publicBecause: null, needs: null, letsIn: byCaller })

/** For routes and methods that the table does not have: nobody can review them, so they need the permission for everything. */
const ofUnknownRoute: Policy = closedFor({
  kind: 'permission',
  clauses: [['of a route that the gate does not know']],
  text: 'of a route that the gate does not know',
})

export class Policies {
  readonly #rules: readonly RegisteredRule[]
  /** The policies of paths that no route has, by method: made when first needed, since a path without a route may come with any. */
  readonly #ofNoRoute = new Map<string, Policy>()

  constructor(rules: readonly RegisteredRule[]) {
    this.#rules = rules
  }

  /**
   * Builds the policies of these routes. Call it once, when routes, rules and declarations are complete.
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} a route that is declared public could never be
   */
  build(routes: readonly Route[]): void {
    for (const route of routes) {
      for (const method of route.methods) route.policies.set(method, this.#policyOf(route, method))
    }
  }

  /** The policy of a route, or of the not-found handler. */
  of(route: Route | null, method: string): Policy {
    if (route === null) return this.#ofNoRoute.get(method) ?? this.#policyOfNoRoute(method)
    return route.policies.get(method) ?? ofUnknownRoute // or a hook changed the method after the router chose
  }

  #policyOfNoRoute(method: string): Policy {
    const rules = this.#rules.filter(({ route }) => route.allows(method))
    const policy = openSomePaths(rules, signedIn, createFind(rules))
    this.#ofNoRoute.set(method, policy) // one for each method that Node.js knows
    return policy
  }

  /**
   * Only the rules that count before the declaration are looked at. One that opens every path of the route makes it open, and so
   * does a declaration as public; else each rule opens the paths that it matches, and the declaration decides about the others.
   */
  #policyOf(route: Route, method: string): Policy {
    const declared = route.declared(method)
    const closed = closedFor(declared?.requirement)
    const rules = this.rulesFor(route, method).filter(({ rule }) => opensDespite(rule, declared?.by))
    const covering = rules.find(({ reach }) => reach === 'every path')
    if (covering !== undefined) return openEveryPath(route, { by: 'rule', rule: covering.rule }, closed)
    if (declared?.requirement.kind === 'public') {
      return openEveryPath(route, { by: 'declaration', source: declared.source }, closed)
    }
    return openSomePaths(
      rules.map(({ rule }) => rule),
      closed.otherwise,
    )
  }

  /** The rules that may open paths of the route; a declaration may hold against them. */
  rulesFor(route: Route, method: string) {
    const isFor = ({ route: rule }: RegisteredRule): boolean =>
      rule.allows(method) || (method === 'HEAD' && route.followsGet && rule.allows('GET'))
    return this.#rules.filter(isFor).flatMap((rule) => {
      const reach = reachOf(rule.route, route)
      return reach === 'no path' ? [] : [{ rule, reach }]
    })
  }
}

type Reach = 'every path' | 'some paths' | 'no path'

function closedFor(requirement: Requirement | undefined): Extract<Policy, { kind: 'closed' }> {
  if (requirement?.kind !== 'permission') return { kind: 'closed', otherwise: signedIn }
  const letsIn: RequestAdmission = Object.freeze({ by: 'caller', permission: requirement.text })
  return { kind: 'closed', otherwise: Object.freeze({ publicBecause: null, needs: requirement, letsIn }) }
}

function openEveryPath(route: Route, publicBecause: RequestAdmission, { otherwise }: Policy): Policy {
  if (!isSpellable(route)) {
    if (publicBecause.by === 'rule') return { kind: 'closed', otherwise }
    const fault = 'no canonical path leads to it, so that it could never be public; change its URL'
    throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_ACCESS(`the route ${route.name}`, fault)
  }
  const target = route.path !== null && canonicalPath(route.path) === route.path ? route.path : null
  const open = Object.freeze({ ...otherwise, publicBecause: Object.freeze(publicBecause) })
  return { kind: 'open', open, target, otherwise }
}

function openSomePaths(
  rules: readonly RegisteredRule[],
  otherwise: Decision,
  find = (path: string) => rules.find(({ route }) => matcherOf(route).matchesPath(path)),
): Policy {
  return rules.length === 0 ? { kind: 'closed', otherwise } : { kind: 'by path', rules, find, otherwise }
}

/** Which paths of a route a rule opens, by their texts alone: `some paths` where that is not certain. */
function reachOf(rule: PublicRoute, route: Route): Reach {
  if (route.path !== null) return reachOfPaths(rule, route.path, route.toleratesSlash)
  const heads = route.patterns.map(([first]) => literalOf(first))
  const tails = route.patterns.map((pattern) => literalOf(pattern.at(-1)))
  const { literal, segments } = matcherOf(rule)
  if (rule.kind === 'suffix') {
    const isLiteral = tails.every((tail) => tail.endsWith(literal))
    if (isLiteral) return route.toleratesSlash ? 'some paths' : 'every path'
    // One that begins with a slash is met by literal text of the route alone (decision 31).
    const couldMatch = route.toleratesSlash || tails.some((tail) => literal.endsWith(tail))
    return couldMatch && !literal.startsWith('/') ? 'some paths' : 'no path'
  }
  if (rule.kind === 'prefix' && heads.every((head) => head.startsWith(literal))) return 'every path'
  if (rule.kind === 'subtree' && heads.every((head) => head.startsWith(`${literal}/`))) return 'every path'
  const ofRoute = route.toleratesSlash ? [] : route.patterns.map(segmentsOf)
  const known = ofRoute.filter((each) => each !== null)
  if (segments !== null && known.length > 0 && known.length === ofRoute.length) {
    const reaches = new Set(known.map((each) => compareSegments(segments, each)))
    const [reach = 'some paths', ...others] = reaches
    return others.length === 0 ? reach : 'some paths'
  }
  const isLonger = (head: string) => rule.kind !== 'exact' && head.startsWith(literal)
  return heads.some((head) => isLonger(head) || literal.startsWith(head)) ? 'some paths' : 'no path'
}

/** Of a static route: its path, and the one with a slash more where the router takes it. */
function reachOfPaths(rule: PublicRoute, path: string, toleratesSlash: boolean): Reach {
  if (!isCanonical(path)) return 'no path'
  const matches = [path, ...(toleratesSlash && path !== '/' ? [`${path}/`] : [])].map((each) =>
    matcherOf(rule).matchesPath(each),
  )
  if (!matches.includes(true)) return 'no path'
  return matches.includes(false) ? 'some paths' : 'every path'
}

/** Whether a canonical path leads to the route, as far as its literal text shows. */
function isSpellable({ patterns }: Route): boolean {
  return patterns.some((pattern) => {
    const path = pattern.map((part) => (typeof part === 'string' ? part : 'x')).join('')
    return isCanonical(path.startsWith('/') ? path : `/${path}`)
  })
}

/** Whether a request can spell the path in the canonical way. */
function isCanonical(path: string): boolean {
  try {
    return canonicalPath(encodeURI(path)) === path
  } catch {
    return false // a lone surrogate
  }
}
