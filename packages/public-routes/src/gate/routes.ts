/** The routes of an application, collected as they are registered, and the one that the router chose for a request. */
import { createConfigReader, type RouteConfig } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import {
  isStaticPattern,
  literalHead,
  literalTail,
  parameterNames,
  parseRoutePattern,
  type RoutePattern,
} from '../matching/route-pattern.ts'
import { FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG } from '../misuse-errors.ts'
import { PublicRoute } from '../rule.ts'
import { type RegisteredRule, routeConfig } from '../rules.ts'
import { type FastifyRoute, haveSameMembers } from './fastify-routes.ts'

/** Where a route's configuration carries its record, so that one property read finds it. */
const mark = Symbol('@fastify-modular/public-routes/route')

type Configuration = RouteConfig & { readonly [mark]?: RouteRecord }

/** What Fastify hands to onRoute hooks. */
export type RegisteredRoute = RouteOptions & {
  readonly routePath?: string
  readonly path?: string
  prefix?: string
}

/**
 * What Fastify copies from a GET route to the HEAD route that it derives; `handler` is null for routes before the
 * gate.
 */
interface GetRoute {
  readonly handler: unknown
  readonly constraints: RegisteredRoute['constraints'] | FastifyRoute['constraints']
  readonly declares: unknown
  readonly record: RouteRecord
}

/**
 * A route from before the gate. The rule is null where `config.public` states none, or where the GET route stated it.
 */
export interface EarlyRoute {
  readonly record: RouteRecord
  readonly rule: RegisteredRule | null
}

/** Whether a request is public. */
export interface Decision {
  /** The rule that makes the request public; null where it is protected. */
  readonly rule: RegisteredRule | null
}

/** What the rules can do to one method of a route. */
export interface Verdict {
  readonly opens: 'every path' | 'some paths' | 'no path'
  /** The rule that opens every path; null where none does. */
  readonly rule: RegisteredRule | null
  /** For the one path of a static route, when it is spelled as in the route's URL. */
  readonly ownPath: Decision
}

interface RouteFacts {
  readonly url: string
  readonly methods: readonly string[]
  /** The rule that the route's own `config.public` states. */
  readonly declared: RegisteredRule | null
  /** Whether Fastify made this HEAD route from a route that serves GET alone (decision 35). */
  readonly isDerivedHead: boolean
  /** Whether the router takes one trailing slash more than the URL spells. */
  readonly toleratesSlash: boolean
}

/** What the gate knows about one route, read from its URL and options at registration. */
export class RouteRecord {
  readonly url: string
  readonly methods: readonly string[]
  readonly declared: RegisteredRule | null
  readonly isDerivedHead: boolean
  readonly toleratesSlash: boolean
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

  constructor({ url, methods, declared, isDerivedHead, toleratesSlash }: RouteFacts) {
    this.url = url
    this.methods = methods
    this.declared = declared
    this.isDerivedHead = isDerivedHead
    this.toleratesSlash = toleratesSlash
    this.patterns = parseRoutePattern(url)
    this.parameters = parameterNames(this.patterns[0] ?? []) // the other pattern leaves out the last parameter
    this.path = this.patterns.every(isStaticPattern) ? this.patterns.flat().join('') : null
    this.heads = this.patterns.map(literalHead)
    this.tails = this.patterns.map(literalTail)
  }

  /** Whether literal text of the route, not a parameter's value, ends with this text. */
  endsLiterallyWith(text: string): boolean {
    return this.tails.every((tail) => tail.endsWith(text))
  }
}

/** Stands for a route that is not in the table. Nothing opens it: what cannot be reviewed is not public. */
export const unlisted = new RouteRecord({
  url: '/',
  methods: [],
  declared: null,
  isDerivedHead: false,
  toleratesSlash: false,
})

export class RouteTable {
  /** Every route of the application once it is complete; before that, those that were registered after the gate. */
  readonly records: RouteRecord[] = []
  readonly #ignoresTrailingSlash: boolean
  readonly #exposesHeadRoutes: boolean
  /** Routes that serve GET alone, by URL, from which Fastify derives HEAD routes. */
  readonly #getRoutes = new Map<string, GetRoute[]>()
  readonly #configOf = createConfigReader()
  /** Routes registered before the gate, by their configuration. */
  readonly #early = new WeakMap<object, RouteRecord>()

  constructor({ initialConfig }: FastifyInstance) {
    this.#ignoresTrailingSlash =
      initialConfig.routerOptions?.ignoreTrailingSlash ?? initialConfig.ignoreTrailingSlash ?? false
    // Missing in Fastify's types; `exposeHeadRoute` of a route means the same.
    this.#exposesHeadRoutes = !(
      'exposeHeadRoutes' in initialConfig && initialConfig.exposeHeadRoutes === false
    )
  }

  /**
   * Records a route and marks its configuration; returns the rule that `config.public` states, if any.
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG}
   */
  add(route: RegisteredRoute): RegisteredRule | null {
    const { url, handler, constraints, config } = route
    const methods = methodsOf(route.method)
    const declares = config?.public
    // Fastify copies the options of the GET route, so both share their objects. A HEAD route that the application
    // registers with another `config.public` is a route of its own.
    const origin =
      route.method === 'HEAD'
        ? this.#findGet(url, declares, (get) => get.handler === handler && get.constraints === constraints)
        : undefined
    const record = new RouteRecord({
      url,
      methods,
      declared: origin?.declared ?? declaredRule(url, methods, declares),
      isDerivedHead: origin !== undefined,
      // `/` under a prefix is served with and without the slash, and Fastify announces only one of the two.
      toleratesSlash: this.#ignoresTrailingSlash || route.routePath === '',
    })
    if ((route.exposeHeadRoute ?? this.#exposesHeadRoutes) !== false) {
      this.#rememberGet({ handler, constraints, declares, record })
    }
    this.records.push(record)
    route.config = { ...config, [mark]: record } as NonNullable<RegisteredRoute['config']>
    return origin === undefined ? record.declared : null
  }

  /**
   * Records a route that was registered before the gate; null for one that is in the table. Add routes that
   * Fastify derived after the routes they were derived from. Otherwise like `add`.
   */
  addEarly({ url, methods, configs, constraints, isDerived }: FastifyRoute): EarlyRoute | null {
    const [config] = configs
    if (mark in config) return null
    const declares = config.public
    const origin = isDerived
      ? this.#findGet(
          url,
          declares,
          (get) => get.handler === null && haveSameMembers({ ...get.constraints }, constraints),
        )
      : undefined
    const record = new RouteRecord({
      url,
      methods,
      declared: origin?.declared ?? declaredRule(url, methods, declares),
      isDerivedHead: origin !== undefined,
      toleratesSlash: this.#ignoresTrailingSlash || configs.length > 1,
    })
    this.#rememberGet({ handler: null, constraints, declares, record })
    for (const each of configs) this.#early.set(each, record)
    this.records.push(record)
    return { record, rule: origin === undefined ? record.declared : null }
  }

  /** The route that the router chose; null where no route matches and the not-found handler answers. */
  of(request: FastifyRequest): RouteRecord | null {
    const config: Configuration | undefined = this.#configOf(request)
    const record = config?.[mark]
    if (record !== undefined) return record
    return config?.url === undefined ? null : (this.#early.get(config) ?? unlisted)
  }

  #rememberGet(get: GetRoute): void {
    const { url, methods } = get.record
    if (methods.length !== 1 || methods[0] !== 'GET') return
    const known = this.#getRoutes.get(withoutSlash(url))
    if (known === undefined) this.#getRoutes.set(withoutSlash(url), [get])
    else known.push(get)
  }

  #findGet(url: string, declares: unknown, isOrigin: (get: GetRoute) => boolean): RouteRecord | undefined {
    const known = this.#getRoutes.get(withoutSlash(url))
    return known?.find((get) => get.declares === declares && isOrigin(get))?.record
  }
}

function declaredRule(url: string, served: readonly string[], declared: unknown): RegisteredRule | null {
  if (declared === undefined || declared === false) return null
  const name = `${served.join(',')} ${url}`
  if (declared !== true && !Array.isArray(declared)) {
    throw new FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG(name, `it is ${JSON.stringify(declared)}`)
  }
  try {
    const methods = declared === true ? served : declared
    return { route: new PublicRoute(url, { kind: 'route', methods }), source: routeConfig }
  } catch (err) {
    throw new FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG(name, err instanceof Error ? err.message : String(err))
  }
}

function methodsOf(method: string | readonly string[]): readonly string[] {
  return typeof method === 'string' ? [method] : [...method]
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}
