/** Rules: a pattern with a kind, and the methods it is for (S 2.8). An application has one list of them, frozen when it is ready. */
import { METHODS } from 'node:http'
import { errorCodes, nameOfValue } from './misuse-errors.ts'
import { compileLinearRegex } from './matching/linear-regex.ts'
import type { Matcher } from './matching/route-pattern.ts'

/**
 * How a pattern matches a path: `prefix`, `exact` and `suffix` compare texts, `regex` matches at the start; `subtree`
 * is the path itself and everything below it.
 */
type MatchKind = 'prefix' | 'exact' | 'suffix' | 'regex' | 'subtree'

export interface PublicRouteOptions {
  /** HTTP methods in any letter case. @default every method */
  readonly methods?: readonly string[] | ReadonlySet<string> | undefined
  /** @default 'prefix', or 'regex' for a RegExp */
  readonly kind?: MatchKind | undefined
}

const brand: unique symbol = Symbol.for('@fastify-modular/public-route')

/**
 * An immutable rule. Build one ahead of time to share it, and hand it to `registry.add(rule)`.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_RULE} a pattern that is empty, has no leading slash or opens everything, an expression
 * that is not linear, an unknown kind or method
 */
export class PublicRoute {
  readonly [brand]: Matcher
  readonly pattern: string
  readonly kind: MatchKind
  /** Upper case; null for every method. */
  readonly methods: ReadonlySet<string> | null
  /** Of an expression: `i`, `s`; empty for other kinds. */
  readonly flags: string

  constructor(pattern: string | RegExp, options: PublicRouteOptions = {}) {
    const kind = options.kind ?? (pattern instanceof RegExp ? 'regex' : 'prefix')
    const fault = faultOfPattern(pattern, kind) ?? faultOfMethods(options.methods)
    if (fault !== null) throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_RULE(nameOfValue(pattern), fault)
    const text = typeof pattern === 'string' ? pattern : pattern.source
    this.pattern = text
    this.kind = kind
    this.methods = options.methods === undefined ? null : new Set([...options.methods].map(normalise))
    this.flags = pattern instanceof RegExp ? pattern.flags.replace(/[^is]/g, '') : ''
    this[brand] = matchers[kind](text, pattern)
    Object.freeze(this)
  }

  /** Whether the rule is for this method. Case-sensitive: the methods of HTTP are upper case. */
  allows(method: string): boolean {
    return this.methods === null || this.methods.has(method)
  }

  /** Whether the rule matches: the pattern by its kind, the method in any letter case. */
  matches(method: string, path: string): boolean {
    return this.allows(method.toUpperCase()) && this[brand].matchesPath(path)
  }

  /** `GET,HEAD prefix /static/`, for messages and logs. */
  toString(): string {
    const methods = this.methods === null ? '*' : [...this.methods].join(',')
    const flags = this.flags === '' ? '' : ` (flags ${this.flags})`
    return `${methods} ${this.kind} ${this.pattern}${flags}`
  }
}

/** How a rule of this or another copy of the package matches. */
export function matcherOf(route: PublicRoute): Matcher {
  return route[brand]
}

/** Recognises a rule of this or another copy of the package. */
export function isPublicRoute(value: unknown): value is PublicRoute {
  return typeof value === 'object' && value !== null && brand in value
}

function normalise(method: unknown): string {
  return String(method).trim().toUpperCase()
}

/** Why these cannot be the methods of a rule; null where they can. */
function faultOfMethods(methods: PublicRouteOptions['methods']): string | null {
  if (methods === undefined) return null
  if (!Array.isArray(methods) && !(methods instanceof Set))
    return 'its methods are not an array or a Set; write { methods: ["GET"] }'
  const names = [...methods].map(normalise)
  if (names.length === 0) return 'its set of methods is empty; leave it out to mean every method'
  const unknown = names.find((name) => !METHODS.includes(name))
  return unknown === undefined ? null : `${JSON.stringify(unknown)} is not an HTTP method`
}

/** Paths with nothing in common but the slash: a rule that matches all of them opens the whole application. */
const unrelated = ['/~', '/0', '/Z'] as const

const matchers: Readonly<Record<MatchKind, (text: string, pattern: string | RegExp) => Matcher>> = {
  prefix: (text) => ({ literal: text, segments: null, matchesPath: (path) => path.startsWith(text) }),
  exact: (text) => {
    const segments = text.includes('%') ? null : text.split('/')
    return { literal: text, segments, matchesPath: (path) => path === text }
  },
  suffix: (text) => ({ literal: text, segments: null, matchesPath: (path) => path.endsWith(text) }),
  subtree: (text) => {
    const top = text.replace(/\/$/, '')
    return {
      literal: top,
      segments: null,
      matchesPath: (path) => path.startsWith(top) && (path.length === top.length || path[top.length] === '/'),
    }
  },
  regex: (_text, pattern) => {
    const regex = compileLinearRegex(pattern)
    if (unrelated.every(regex.matchesPath)) {
      throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_RULE(
        String(pattern),
        'it matches every path; name the paths to open',
      )
    }
    return regex
  },
}

/** Why a rule of this kind cannot have the pattern; null where it can, as far as that shows before it is compiled. */
function faultOfPattern(pattern: unknown, kind: MatchKind): string | null {
  if (!Object.hasOwn(matchers, kind))
    return `its kind ${nameOfValue(kind)} is none of ${Object.keys(matchers).join(', ')}`
  if (typeof pattern !== 'string' && !(pattern instanceof RegExp))
    return 'it is neither a string nor a regular expression'
  if (kind === 'regex') return null
  if (typeof pattern !== 'string') return `a ${kind} rule takes a string; use addRegex`
  if (pattern === '') return 'it is empty and would open every path'
  if (kind === 'suffix') return null
  if (!pattern.startsWith('/')) return `a ${kind} rule begins with a slash`
  if (pattern === '/' && kind !== 'exact')
    return `"/" as a ${kind} would open the whole application; use addExact("/") for the root alone`
  return null
}

/** A rule and where it comes from. */
export interface RegisteredRule {
  readonly route: PublicRoute
  /** Such as `framework default`, `module "notes"`, `plugin blog` or `provider`. */
  readonly source: string
  /** The module that added it, itself or in its plugin. */
  readonly module?: string
}

/** The source of the framework's own rules. */
export const frameworkDefault = 'framework default'

/** `"GET exact /status" (module "notes")`, for messages, tables and logs. */
export function nameOfRule({ route, source }: RegisteredRule): string {
  return `"${String(route)}" (${source})`
}

/**
 * A search among many rules. It looks up the beginnings of a path that are as long as the literal text of a rule: 10,000
 * prefixes from the environment cost a missing path no more than ten (bench/gate.mjs).
 */
export function createFind(rules: readonly RegisteredRule[]): (path: string) => RegisteredRule | undefined {
  const groups = new Map<string, RegisteredRule[]>()
  for (const rule of rules) {
    const head = rule.route.kind === 'suffix' ? '' : matcherOf(rule.route).literal
    const group = groups.get(head)
    if (group === undefined) groups.set(head, [rule])
    else group.push(rule)
  }
  const lengths = new Set(Array.from(groups.keys(), (head) => head.length))

  return function find(path) {
    for (const length of lengths) {
      const found = groups.get(path.slice(0, length))?.find(({ route }) => matcherOf(route).matchesPath(path))
      if (found !== undefined) return found
    }
    return undefined
  }
}
