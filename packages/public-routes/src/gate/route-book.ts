/** Collects the routes of an application as they are registered, and finds the one that a request was routed to. */
import { createConfigReader, type RouteConfig } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG } from '../misuse-errors.ts'
import { PublicRoute } from '../public-route.ts'
import { routeConfig, type RegisteredRule } from '../rule-index.ts'
import { RouteRecord } from './route-record.ts'
import { haveSameMembers, type TableRoute } from './route-table.ts'

/** Where a route's configuration carries its record, so that one property read finds it. */
const mark = Symbol('@fastify-modular/public-routes/route')

type Configuration = RouteConfig & { readonly [mark]?: RouteRecord }

/** What Fastify hands to onRoute hooks. */
export type RegisteredRoute = RouteOptions & {
  readonly routePath?: string
  readonly path?: string
  prefix?: string
}

/** What Fastify copies from a GET route to the HEAD route that it derives; `handler` is null for routes before the gate. */
interface GetRoute {
  readonly handler: unknown
  readonly constraints: RegisteredRoute['constraints'] | TableRoute['constraints']
  readonly declares: unknown
  readonly record: RouteRecord
}

/** A route from before the gate; the rule is null where its origin states it. */
export interface EarlyRoute {
  readonly record: RouteRecord
  readonly rule: RegisteredRule | null
}

/** A route that is not in the book, which nothing opens: what cannot be reviewed is not public. */
export const unlisted = new RouteRecord({
  url: '/',
  methods: [],
  declared: null,
  isDerivedHead: false,
  toleratesSlash: false,
})

export class RouteBook {
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
    // Missing in Fastify's types; routes say the same by `exposeHeadRoute`.
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
    // Fastify copies the options of the GET route, so both share their objects. A HEAD route that is written by hand
    // and says something else in `config.public` is its own.
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
   * Records a route that was registered before the gate; null for one that is in the book. Call it for routes that
   * Fastify derived after their origins. Otherwise like `add`.
   */
  addEarly({ url, methods, configs, constraints, isDerived }: TableRoute): EarlyRoute | null {
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
