/** Collects the routes of an application as they are registered, and finds the one that a request was routed to. */
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG } from '../misuse-errors.ts'
import { PublicRoute } from '../public-route.ts'
import { routeConfig, type RegisteredRule } from '../rule-index.ts'
import { createConfigReader, type RouteConfig } from './route-config.ts'
import { RouteRecord } from './route-record.ts'

/** Where a route's configuration carries its record, so that one property read finds it. */
const mark = Symbol('@fastify-modular/public-routes/route')

type Configuration = RouteConfig & { readonly [mark]?: RouteRecord }

/** What Fastify hands to onRoute hooks. */
export type RegisteredRoute = RouteOptions & {
  readonly routePath?: string
  readonly path?: string
  prefix?: string
}

/** What Fastify copies from a GET route to the HEAD route that it derives. */
interface GetRoute {
  readonly handler: unknown
  readonly constraints: unknown
  readonly declares: unknown
  readonly record: RouteRecord
}

export class RouteBook {
  /** Every route registered after the gate. */
  readonly records: RouteRecord[] = []
  readonly #ignoresTrailingSlash: boolean
  readonly #exposesHeadRoutes: boolean
  /** Routes that serve GET alone, by URL, from which Fastify derives HEAD routes. */
  readonly #getRoutes = new Map<string, GetRoute[]>()
  readonly #configOf = createConfigReader()
  /** Routes registered before the gate, met at request time. */
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
    const methods = methodsOf(route.method)
    const origin = route.method === 'HEAD' ? this.#originOf(route) : undefined
    const record = new RouteRecord({
      url: route.url,
      methods,
      declared: origin?.declared ?? declaredRule(route.url, methods, route.config?.public),
      isDerivedHead: origin !== undefined,
      // `/` under a prefix is served with and without the slash, and Fastify announces only one of the two.
      toleratesSlash: this.#ignoresTrailingSlash || route.routePath === '',
    })
    if (methods.length === 1 && methods[0] === 'GET') this.#rememberGet(route, record)
    this.records.push(record)
    route.config = { ...route.config, [mark]: record } as NonNullable<RegisteredRoute['config']>
    return origin === undefined ? record.declared : null
  }

  /** The route that the router chose; null where no route matches and the not-found handler answers. */
  of(request: FastifyRequest): RouteRecord | null {
    const config: Configuration | undefined = this.#configOf(request)
    const record = config?.[mark]
    if (record !== undefined) return record
    return config?.url === undefined ? null : this.#earlyRoute(config)
  }

  #earlyRoute(config: Configuration): RouteRecord {
    let record = this.#early.get(config)
    if (record === undefined) {
      const methods = methodsOf(config.method)
      record = new RouteRecord({
        url: config.url,
        methods,
        declared: declaredRule(config.url, methods, config.public),
        isDerivedHead: false, // nobody saw where it came from
        toleratesSlash: this.#ignoresTrailingSlash,
      })
      this.#early.set(config, record)
    }
    return record
  }

  #rememberGet(
    { url, handler, constraints, config, exposeHeadRoute }: RegisteredRoute,
    record: RouteRecord,
  ): void {
    if ((exposeHeadRoute ?? this.#exposesHeadRoutes) === false) return
    const get: GetRoute = { handler, constraints, declares: config?.public, record }
    const known = this.#getRoutes.get(withoutSlash(url))
    if (known === undefined) this.#getRoutes.set(withoutSlash(url), [get])
    else known.push(get)
  }

  /**
   * The GET route that a HEAD route was derived from: Fastify copies the options, so they share their objects. One that
   * is written by hand and says something else in `config.public` is its own.
   */
  #originOf({ url, handler, constraints, config }: RegisteredRoute): RouteRecord | undefined {
    const known = this.#getRoutes.get(withoutSlash(url))
    return known?.find(
      (get) => get.handler === handler && get.constraints === constraints && get.declares === config?.public,
    )?.record
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
