/** What the gate knows about one registered route, found out once at registration. */
import type { PublicRoute } from '../public-route.ts'
import type { RegisteredRule } from '../rule-index.ts'
import {
  isStaticPattern,
  literalHead,
  literalTail,
  parseRoutePattern,
  type RoutePattern,
} from '../matching/route-pattern.ts'

export interface RouteFacts {
  readonly url: string
  readonly methods: readonly string[]
  /** The rule that the route's own `config.public` states. */
  readonly declared: RegisteredRule | null
  /** Whether Fastify made this HEAD route from a route that serves GET alone (decision 35). */
  readonly isDerivedHead: boolean
  /** Whether the router takes one trailing slash more than the URL spells. */
  readonly toleratesSlash: boolean
}

/** The rule that opens all paths of a route, null where no rule can open any, or that it depends on the path. */
export type Verdict = RegisteredRule | null | 'depends'

/** What is decided once for a route and a method. */
export interface Verdicts {
  readonly anyPath: Verdict
  /** For the one path of a static route. */
  readonly ownPath: RegisteredRule | null
}

export class RouteRecord {
  readonly url: string
  readonly methods: readonly string[]
  readonly declared: RegisteredRule | null
  readonly isDerivedHead: boolean
  readonly toleratesSlash: boolean
  readonly patterns: readonly RoutePattern[]
  /** The one path of a route without parameters, as the router reads it; null for others. */
  readonly path: string | null
  /** By method, filled by the gate. */
  readonly verdicts = new Map<string, Verdicts>()
  /** Literal text before the first parameter and after the last one, for each pattern. */
  readonly heads: readonly string[]
  readonly tails: readonly string[]

  constructor(facts: RouteFacts) {
    this.url = facts.url
    this.methods = facts.methods
    this.declared = facts.declared
    this.isDerivedHead = facts.isDerivedHead
    this.toleratesSlash = facts.toleratesSlash
    this.patterns = parseRoutePattern(facts.url)
    this.path = this.patterns.every(isStaticPattern) ? this.patterns.flat().join('') : null
    this.heads = this.patterns.map(literalHead)
    this.tails = this.patterns.map(literalTail)
  }

  /** Whether the router gives this method to the route. */
  serves(method: string): boolean {
    return this.methods.includes(method)
  }

  /** Whether a rule for this route's URL opens it. */
  isNamedBy(rule: PublicRoute): boolean {
    return rule.pattern === this.url
  }

  /** Whether literal text of the route, not a parameter's value, ends with this text. */
  endsLiterallyWith(text: string): boolean {
    return this.tails.every((tail) => tail.endsWith(text))
  }
}
