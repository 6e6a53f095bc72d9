/** What the gate knows about one route: how its paths are spelled, and who may call it. */
import type { FastifyInstance } from 'fastify'
import {
  faultOfPermission,
  isPublic,
  parseRouteAccess,
  requireEvery,
  type Requirement,
  type RouteAccess,
} from '../access/declaration.ts'
import {
  isStaticPattern,
  literalHead,
  literalTail,
  parameterNames,
  parseRoutePattern,
  type RoutePattern,
} from '../matching/route-pattern.ts'
import {
  FMOD_PUBLIC_ROUTES_INVALID_ACCESS,
  FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG,
} from '../misuse-errors.ts'
import { PublicRoute } from '../rule.ts'
import { type RegisteredRule, routeConfig, ruleOfRoute } from '../rules.ts'

/** What a route's own configuration says about access, as it was written. */
export interface Declares {
  readonly public: unknown
  readonly access: unknown
  readonly documents: unknown
}

/** Whether a request is public, and what its caller needs otherwise. */
export interface Decision {
  /** The rule that makes the request public; null where it is protected. */
  readonly rule: RegisteredRule | null
  /** The permissions that a protected request needs; null where a known caller is enough. */
  readonly needs: Requirement | null
  /** `request.access` of a protected request. */
  readonly letIn: RequestAccess
}

/**
 * How the gate let a request in. `rule` and `declaration`: it is public, for known and anonymous callers alike, because a
 * rule of the registry or the environment opens it, or because its access is declared so; `rule` is what opens it.
 * `caller`: its caller is known, and holds what `permission` names, if anything. There is one such object for each rule
 * and for each declaration, and it is frozen.
 */
export type RequestAccess =
  | {
      readonly by: 'rule' | 'declaration'
      readonly rule: RegisteredRule
      readonly permission?: undefined
    }
  | { readonly by: 'caller'; readonly rule?: undefined; readonly permission?: string }

/** What the rules can do to one method of a route. */
export interface Verdict {
  readonly opens: 'every path' | 'some paths' | 'no path'
  /** The rule that opens every path; null where none does. */
  readonly rule: RegisteredRule | null
  /** For the one path of a static route, when it is spelled as in the route's URL. */
  readonly ownPath: Decision
  /** For paths that no rule opens. */
  readonly closed: Decision
}

/** Access that something else than the route declares for one of its methods. */
export interface AssignedAccess {
  readonly requirement: Requirement
  /** `option access "GET /metrics"`, `default of module "notes"`. */
  readonly source: string
}

/** Where a route was registered. */
export interface RouteOrigin {
  readonly scope: FastifyInstance
  /** Name of the module, if any. */
  readonly module: string | undefined
}

export type Constraints = Readonly<Record<string, unknown>>

interface RouteFacts {
  readonly url: string
  readonly methods: readonly string[]
  readonly declares: Declares
  /** The route from which Fastify made this HEAD route. */
  readonly derivedFrom: RouteRecord | undefined
  /** Whether the router takes one trailing slash more than the URL spells. */
  readonly toleratesSlash: boolean
  /** What else a request must have for the router to choose the route: `{ version: '1.2.0' }`. */
  readonly constraints?: Constraints
  /** Null for routes from before the gate. */
  readonly origin: RouteOrigin | null
  /** Whether @fastify/websocket takes upgrade requests of the route. */
  readonly isWebsocket?: boolean
}

/** What the gate knows about one route, read from its URL and options at registration. */
export class RouteRecord {
  readonly url: string
  readonly methods: readonly string[]
  /** What its own configuration said when the gate read it. */
  readonly declares: Declares
  /** The rule by which the route's own configuration opens it. */
  readonly declared: RegisteredRule | null
  /** The route from which Fastify made this HEAD route. */
  readonly derivedFrom: RouteRecord | undefined
  /** The same, if it serves GET alone: the HEAD route follows it (decision 35). */
  readonly get: RouteRecord | undefined
  readonly toleratesSlash: boolean
  readonly constraints: Constraints
  readonly origin: RouteOrigin | null
  readonly isWebsocket: boolean
  /** The permission that the handler checks by itself: shown, not enforced. */
  readonly documents: string | undefined
  readonly patterns: readonly RoutePattern[]
  /** Names of the parameters; an optional last one is included. */
  readonly parameters: readonly string[]
  /** The one path of a route without parameters, as the router reads it; null for others. */
  readonly path: string | null
  /** By method; the gate fills it. */
  readonly verdicts = new Map<string, Verdict>()
  /** Literal text before the first parameter and after the last one, for each pattern. */
  readonly heads: readonly string[]
  readonly tails: readonly string[]
  readonly #own: RouteAccess | null
  readonly #assigned = new Map<string, AssignedAccess>()
  readonly #opening: RegisteredRule[] = []

  constructor({
    url,
    methods,
    declares,
    derivedFrom,
    toleratesSlash,
    constraints = {},
    origin,
    isWebsocket = false,
  }: RouteFacts) {
    this.url = url
    this.methods = methods
    this.declares = declares
    this.derivedFrom = derivedFrom
    this.get = derivedFrom?.methods.length === 1 ? derivedFrom : undefined
    this.toleratesSlash = toleratesSlash
    this.constraints = constraints
    this.origin = origin
    this.isWebsocket = isWebsocket
    const name = `the route ${methods.join(',')} ${url}`
    if (derivedFrom === undefined) this.#own = ownAccess(declares, methods, name)
    else this.#own = this.get === undefined ? ofEveryMethod(derivedFrom) : this.get.#own
    this.declared = this.get === undefined ? this.#ruleOf(declares.public) : this.get.declared
    this.documents = derivedFrom?.documents ?? documentedPermission(declares.documents, name)
    this.patterns = parseRoutePattern(url)
    this.parameters = parameterNames(this.patterns[0] ?? []) // the other pattern leaves out the last parameter
    this.path = this.patterns.every(isStaticPattern) ? this.patterns.flat().join('') : null
    this.heads = this.patterns.map(literalHead)
    this.tails = this.patterns.map(literalTail)
  }

  /** `version 1.2.0, host example.com`; empty for most routes. */
  get constraintsText(): string {
    return Object.entries(this.constraints)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ')
  }

  get isDerivedHead(): boolean {
    return this.get !== undefined
  }

  /** What the route's own configuration requires for a method; undefined where it does not say. */
  ownRequirement(method: string): Requirement | undefined {
    const followed = this.followed(method)
    return this.#own?.for(followed) ?? (this.declared?.route.allows(followed) === true ? isPublic : undefined)
  }

  /** Whether the route's own declaration keeps rules from opening a method. */
  isClosed(method: string): boolean {
    const own = this.ownRequirement(method)
    return own !== undefined && own.kind !== 'public'
  }

  /** What something else than the route declares for a method. */
  assigned(method: string): AssignedAccess | undefined {
    return (this.get ?? this).#assigned.get(this.followed(method))
  }

  /** The declared requirement of a method, whatever declares it. */
  requirement(method: string): Requirement | undefined {
    const own = this.ownRequirement(method)
    const assigned = this.assigned(method)?.requirement
    // HEAD of a route that serves other methods as well: the route declares some of them, something else the others.
    if (own !== undefined && assigned !== undefined) return requireEvery([own, assigned])
    return own ?? assigned
  }

  /** Declares the access of a method; returns the rule that opens it, if it is public. */
  assign(method: string, access: AssignedAccess): RegisteredRule | null {
    this.#assigned.set(method, access)
    this.verdicts.clear()
    if (access.requirement.kind !== 'public') return null
    const rule = ruleOfRoute(new PublicRoute(this.url, { kind: 'route', methods: [method] }), access.source)
    this.#opening.push(rule)
    return rule
  }

  /** The rules that open this route alone. */
  get openedBy(): readonly RegisteredRule[] {
    if (this.get !== undefined) return this.get.openedBy
    return this.declared === null ? this.#opening : [this.declared, ...this.#opening]
  }

  /** The method whose access counts: HEAD follows GET where Fastify derived the HEAD route (decision 35). */
  followed(method: string): string {
    return method === 'HEAD' && this.get !== undefined ? 'GET' : method
  }

  #ruleOf(declaredPublic: unknown): RegisteredRule | null {
    const opened = this.methods.filter((method) => this.#own?.for(method)?.kind === 'public')
    if (opened.length === 0) return declaredRule(this.url, this.methods, declaredPublic)
    return ruleOfRoute(new PublicRoute(this.url, { kind: 'route', methods: opened }), routeConfig)
  }

  /** Whether literal text of the route, not a parameter's value, ends with this text. */
  endsLiterallyWith(text: string): boolean {
    return this.tails.every((tail) => tail.endsWith(text))
  }
}

export const undeclared: Declares = Object.freeze({
  public: undefined,
  access: undefined,
  documents: undefined,
})

export const unlistedFacts: RouteFacts = Object.freeze({
  url: '/',
  methods: [],
  declares: undeclared,
  derivedFrom: undefined,
  toleratesSlash: false,
  origin: null,
})

/** Stands for a route that is not in the table. Nothing opens it: what cannot be reviewed is not public. */
export const unlisted = new RouteRecord(unlistedFacts)

/** For the HEAD route of a route that serves other methods as well: its handler may take HEAD for one of them. */
function ofEveryMethod(route: RouteRecord): RouteAccess {
  const requirement = requireEvery(route.methods.map((method) => route.ownRequirement(method)))
  return { for: () => requirement }
}

/** @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} */
function ownAccess(
  { public: declaredPublic, access }: Declares,
  methods: readonly string[],
  name: string,
): RouteAccess | null {
  if (access === undefined) return null
  if (declaredPublic !== undefined) {
    throw new FMOD_PUBLIC_ROUTES_INVALID_ACCESS(name, 'its configuration has both public and access')
  }
  return parseRouteAccess(access, methods, name)
}

/** @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} */
function documentedPermission(documents: unknown, name: string): string | undefined {
  if (documents === undefined) return undefined
  const fault = faultOfPermission(documents)
  if (typeof documents === 'string' && fault === null) return documents
  throw new FMOD_PUBLIC_ROUTES_INVALID_ACCESS(name, `config.documents names no permission: ${fault}`)
}

function declaredRule(url: string, served: readonly string[], declared: unknown): RegisteredRule | null {
  if (declared === undefined || declared === false) return null
  const name = `${served.join(',')} ${url}`
  if (declared !== true && !Array.isArray(declared)) {
    throw new FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG(name, `it is ${JSON.stringify(declared)}`)
  }
  try {
    const methods = declared === true ? served : declared
    return ruleOfRoute(new PublicRoute(url, { kind: 'route', methods }), routeConfig)
  } catch (err) {
    throw new FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG(name, err instanceof Error ? err.message : String(err))
  }
}
