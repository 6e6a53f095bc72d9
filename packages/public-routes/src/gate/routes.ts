/** The routes of an application, collected as they are registered, and the one that the router chose for a request. */
import { createConfigReader, type RouteConfig } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { isByMethod } from '../access/declaration.ts'
import { type FastifyRoute, haveSameMembers } from './fastify-routes.ts'
import { FMOD_PUBLIC_ROUTES_INVALID_ACCESS } from '../misuse-errors.ts'
import type { RegisteredRule } from '../rules.ts'
import {
  type Declares,
  type RouteOrigin,
  RouteRecord,
  undeclared,
  unlisted,
  unlistedFacts,
} from './route-record.ts'

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
  readonly declares: Declares
  readonly record: RouteRecord
}

/**
 * A route from before the gate. The rule is null where its configuration states none, or where the GET route stated it.
 */
export interface EarlyRoute {
  readonly record: RouteRecord
  readonly rule: RegisteredRule | null
}

export class RouteTable {
  /** Every route of the application once it is complete; before that, those that were registered after the gate. */
  readonly records: RouteRecord[] = []
  readonly #ignoresTrailingSlash: boolean
  readonly #exposesHeadRoutes: boolean
  /** Routes that serve GET, by URL, from which Fastify derives HEAD routes. */
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
   * Records a route and marks its configuration; returns the rule that its configuration states, if any.
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG}
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS}
   */
  add(route: RegisteredRoute, from: RouteOrigin): RegisteredRule | null {
    const { url, handler, constraints } = route
    const config = Object.hasOwn(route, 'config') ? route.config : undefined
    const methods = methodsOf(route.method)
    const declares = readDeclares(config)
    refuseUndefined(config, methods, url)
    // Fastify copies the options of the GET route, so both share their objects. A HEAD route that the application
    // registers with another declaration is a route of its own.
    const derivedFrom =
      route.method === 'HEAD'
        ? this.#findGet(
            url,
            declares,
            (known) => known.handler === handler && known.constraints === constraints,
          )
        : undefined
    const record = new RouteRecord({
      url,
      methods,
      declares,
      derivedFrom,
      ...(constraints && { constraints: { ...constraints } }),
      origin: from,
      isWebsocket: 'websocket' in route && route.websocket === true,
      // `/` under a prefix is served with and without the slash, and Fastify announces only one of the two.
      toleratesSlash: this.#ignoresTrailingSlash || route.routePath === '',
    })
    if ((route.exposeHeadRoute ?? this.#exposesHeadRoutes) !== false) {
      this.#rememberGet({ handler, constraints, declares, record })
    }
    this.records.push(record)
    route.config = { ...config, [mark]: record } as NonNullable<RegisteredRoute['config']>
    return record.get === undefined ? record.declared : null
  }

  /**
   * Records a route that was registered before the gate; null for one that is in the table. Add routes that
   * Fastify derived after the routes they were derived from. Otherwise like `add`.
   */
  addEarly({ url, methods, configs, constraints, isDerived }: FastifyRoute): EarlyRoute | null {
    const [config] = configs
    if (mark in config) return null
    const declares = readDeclares(config)
    refuseUndefined(config, methods, url)
    const derivedFrom = isDerived
      ? this.#findGet(
          url,
          declares,
          (known) => known.handler === null && haveSameMembers({ ...known.constraints }, constraints),
        )
      : undefined
    const record = new RouteRecord({
      url,
      methods,
      declares,
      derivedFrom,
      constraints,
      origin: null,
      toleratesSlash: this.#ignoresTrailingSlash || configs.length > 1,
    })
    this.#rememberGet({ handler: null, constraints, declares, record })
    for (const each of configs) this.#early.set(each, record)
    this.records.push(record)
    return { record, rule: record.get === undefined ? record.declared : null }
  }

  /**
   * Routes whose configuration no longer says what the gate read, or that have another one: a later onRoute hook changed
   * it. `listed` is what the router has. A HEAD route that Fastify announced twice, as it does for `/` under a prefix that
   * ends in one, has one record from then on.
   */
  findChanged(listed: readonly FastifyRoute[]): readonly RouteRecord[] {
    const kept = new Set<RouteRecord>()
    const changed = new Set<RouteRecord>()
    for (const config of listed.flatMap(({ configs }): readonly Configuration[] => configs)) {
      const record = config[mark]
      if (record === undefined) continue
      const isSame = haveSameMembers({ ...readDeclares(config) }, { ...record.declares })
      ;(isSame ? kept : changed).add(record)
    }
    const missing = this.records.filter((record) => !changed.has(record) && !kept.has(record))
    const doubled = new Set(missing.filter((record) => [...kept].some((other) => isSameHead(record, other))))
    for (const record of doubled) this.records.splice(this.records.indexOf(record), 1)
    return this.records.filter((record) => changed.has(record) || !kept.has(record))
  }

  /** The route that the router chose; null where no route matches and the not-found handler answers. */
  of(request: FastifyRequest): RouteRecord | null {
    const config: Configuration | undefined = this.#configOf(request)
    const record = config?.[mark]
    if (record !== undefined) return record
    return config?.url === undefined
      ? null
      : (this.#early.get(config) ?? unlistedRecord(config, request.method))
  }

  #rememberGet(get: GetRoute): void {
    const { url, methods } = get.record
    if (!methods.includes('GET') || methods.includes('HEAD')) return
    const known = this.#getRoutes.get(withoutSlash(url))
    if (known === undefined) this.#getRoutes.set(withoutSlash(url), [get])
    else known.push(get)
  }

  #findGet(url: string, declares: Declares, isOrigin: (get: GetRoute) => boolean): RouteRecord | undefined {
    const known = this.#getRoutes.get(withoutSlash(url))
    return known?.find((get) => haveSameMembers({ ...get.declares }, { ...declares }) && isOrigin(get))
      ?.record
  }
}

function isSameHead(record: RouteRecord, other: RouteRecord): boolean {
  return (
    record.derivedFrom !== undefined && record.derivedFrom === other.derivedFrom && record.url === other.url
  )
}

/** Nothing opens a route that is not in the table, and a permission that it declares is needed nevertheless. */
function unlistedRecord(config: object, method: string): RouteRecord {
  const declares = { ...undeclared, access: readDeclares(config).access }
  refuseUndefined(config, [method], 'that is not in the table')
  if (declares.access === undefined) return unlisted
  if (!isByMethod(declares.access)) return new RouteRecord({ ...unlistedFacts, declares })
  if (method !== 'HEAD' || Object.hasOwn(declares.access, 'HEAD')) {
    return new RouteRecord({ ...unlistedFacts, declares: { ...undeclared, access: declares.access[method] } })
  }
  const methods = [...new Set(['GET', ...Object.keys(declares.access)])]
  return new RouteRecord({
    ...unlistedFacts,
    derivedFrom: new RouteRecord({ ...unlistedFacts, methods, declares }),
  })
}

/** Own members alone: what objects inherit declares nothing. */
function readDeclares(config: object | undefined): Declares {
  const own = (name: string): unknown =>
    config !== undefined && Object.hasOwn(config, name) ? Reflect.get(config, name) : undefined
  return { public: own('public'), access: own('access'), documents: own('documents') }
}

/**
 * A constant whose name is misspelt is undefined: it would declare nothing, and the route would fall to a default.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS}
 */
function refuseUndefined(config: object | undefined, methods: readonly string[], url: string): void {
  const name = Object.keys(undeclared).find(
    (each) =>
      config !== undefined && Object.hasOwn(config, each) && Reflect.get(config, each) === undefined,
  )
  if (name === undefined) return
  throw new FMOD_PUBLIC_ROUTES_INVALID_ACCESS(
    `the route ${methods.join(',')} ${url}`,
    `config.${name} is undefined; leave it out, or correct the name of the constant`,
  )
}

function methodsOf(method: string | readonly string[]): readonly string[] {
  return typeof method === 'string' ? [method] : [...method]
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}
