/** The routes of an application, collected as they are registered, and the one that the router chose for a request. */
import {
  closestName,
  createConfigReader,
  precedesGate,
  type RouteConfig,
  routerEntries,
} from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import {
  type Declared,
  declareEvery,
  parsePermission,
  parseRouteAccess,
  requireEach,
} from '../access/declaration.ts'
import { countsBefore } from '../access/precedence.ts'
import { parameterNames, parseRoutePattern, type RoutePattern } from '../matching/route-pattern.ts'
import { errorCodes } from '../misuse-errors.ts'
import type { Policy } from './decision.ts'

/** Where a route's configuration carries its record, so that one property read finds it. */
const mark = Symbol('@fastify-modular/public-routes/route')

type Configuration = RouteConfig & { readonly [mark]?: Route }

/** What Fastify hands to onRoute hooks. */
export type RegisteredRoute = RouteOptions & { readonly routePath?: string; prefix?: string }

/** Where a route was registered. */
interface RouteOrigin {
  readonly scope: FastifyInstance
  /** Name of the module, if any. */
  readonly module: string | undefined
}

/** What a route's own configuration says about access, as it was written. */
interface Declares {
  readonly access: unknown
  readonly checkedByHandler: unknown
}

type RouteFacts = Pick<Route, 'url' | 'methods'> &
  Partial<
    Pick<Route, 'declares' | 'derivedFrom' | 'toleratesSlash' | 'constraints' | 'origin' | 'isWebsocket'>
  >

/** What the gate knows about one route. */
export class Route {
  readonly url: string
  readonly methods: readonly string[]
  /** What its own configuration said when the gate read it. */
  readonly declares: Declares
  /** The route from which Fastify made this HEAD route. */
  readonly derivedFrom: Route | undefined
  /** Whether the router takes one trailing slash more than the URL spells. */
  readonly toleratesSlash: boolean
  /** What else a request must have for the router to choose the route: `{ version: '1.2.0' }`. */
  readonly constraints: Readonly<Record<string, unknown>>
  /** Null for routes from before the gate. */
  readonly origin: RouteOrigin | null
  /** Whether @fastify/websocket takes upgrade requests of the route. */
  readonly isWebsocket: boolean
  /** The permission that the handler checks by itself: shown, not enforced. */
  readonly checkedByHandler: string | undefined
  readonly patterns: readonly RoutePattern[]
  /** Names of the parameters; an optional last one is included. */
  readonly parameters: readonly string[]
  /** The one path of a route without parameters, as the router reads it; null for others. */
  readonly path: string | null
  /** By method; filled when the application is ready. */
  readonly policies = new Map<string, Policy>()
  readonly #declared: Map<string, Declared>

  /** @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} */
  constructor({ url, methods, declares = undeclared, ...facts }: RouteFacts) {
    this.url = url
    this.methods = methods
    this.declares = declares
    this.derivedFrom = facts.derivedFrom
    this.toleratesSlash = facts.toleratesSlash ?? false
    this.constraints = facts.constraints ?? {}
    this.origin = facts.origin ?? null
    this.isWebsocket = facts.isWebsocket ?? false
    const name = `the route ${this.name}`
    const isSilent = this.derivedFrom !== undefined || declares.access === undefined
    this.#declared = new Map(isSilent ? [] : parseRouteAccess(declares.access, methods, name))
    this.checkedByHandler =
      declares.checkedByHandler === undefined
        ? this.derivedFrom?.checkedByHandler
        : parsePermission(declares.checkedByHandler, `config.checkedByHandler of ${name}`)
    this.patterns = parseRoutePattern(url)
    this.parameters = parameterNames(this.patterns[0] ?? []) // the other pattern leaves out the last parameter
    this.path = this.parameters.length === 0 ? this.patterns.flat().join('') : null
  }

  /** `GET,POST /notes` */
  get name(): string {
    return `${this.methods.join(',')} ${this.url}`
  }

  /** `version 1.2.0, host example.com`; empty for most routes. */
  get constraintsText(): string {
    return Object.entries(this.constraints)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ')
  }

  /** Whether HEAD follows GET: Fastify derived this route from one that serves GET alone. */
  get followsGet(): boolean {
    return this.derivedFrom?.methods.length === 1
  }

  /** The route that @fastify/cors registers, so that the router takes preflight requests. */
  get isPreflight(): boolean {
    return this.url === '*' && this.name === 'OPTIONS *'
  }

  /** What declares who may call a method. The handler may take the HEAD that Fastify derives for any method of its route. */
  declared(method: string): Declared | undefined {
    const origin = this.derivedFrom
    if (origin === undefined) return this.#declared.get(method)
    return declareEvery(origin.methods.map((each) => origin.declared(each)))
  }

  /** Declares the access of a method, unless what counts before declares it. */
  assign(method: string, declared: Declared): void {
    const known = this.#declared.get(method)
    if (known === undefined || countsBefore(declared.by, known.by)) this.#declared.set(method, declared)
  }

  /**
   * Asks for more where a plugin of ours declares the least that its routes need: what its option `access` says, and the
   * module around it. What the plugin opens to everybody stays open.
   */
  tighten(method: string, { requirement, source }: Declared): void {
    const own = this.#declared.get(method)
    if (own?.by !== 'route' || own.requirement.kind === 'public') return
    const both = requireEach([own.requirement, requirement])
    if (both.text === own.requirement.text) return
    const isReplaced = both.text === requirement.text
    this.#declared.set(method, {
      requirement: both,
      source: isReplaced ? source : `${own.source} and ${source}`,
      by: 'route',
    })
  }
}

const undeclared: Declares = Object.freeze({ access: undefined, checkedByHandler: undefined })

interface Registration {
  readonly route: Route
  /** What Fastify handed over: a later onRoute hook may change or replace the configuration in it. */
  readonly options: RegisteredRoute
  /** Of the options, before later hooks: Fastify hands the same ones over for the HEAD route that it derives. */
  readonly handler: unknown
  readonly constraints: unknown
}

export class RouteTable {
  #registrations: Registration[] = []
  readonly #ignoresTrailingSlash: boolean
  readonly #configOf = createConfigReader()
  /** The routes that may stand before the gate. */
  readonly #early: Route[] = []

  constructor({ initialConfig }: FastifyInstance) {
    this.#ignoresTrailingSlash =
      initialConfig.routerOptions?.ignoreTrailingSlash ?? initialConfig.ignoreTrailingSlash ?? false
  }

  /** Every route of the application, once it is complete. */
  get all(): readonly Route[] {
    return [...this.#early, ...this.#registrations.map(({ route }) => route)]
  }

  /**
   * Records a route and marks its configuration.
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS}
   */
  add(options: RegisteredRoute, origin: RouteOrigin): void {
    const { url, constraints } = options
    const config = Object.hasOwn(options, 'config') ? options.config : undefined
    const methods = typeof options.method === 'string' ? [options.method] : [...options.method]
    const declares = readDeclares(config)
    refuseSilent(options, config ?? {}, `the route ${methods.join(',')} ${url}`)
    const route = new Route({
      url,
      methods,
      declares,
      derivedFrom: options.method === 'HEAD' ? this.#originOf(options) : undefined,
      constraints: { ...constraints },
      origin,
      isWebsocket: 'websocket' in options && options.websocket === true,
      // `/` under a prefix is served with and without the slash, and Fastify announces only one of the two.
      toleratesSlash: this.#ignoresTrailingSlash || options.routePath === '',
    })
    const known = this.#announced(route)
    options.config = { ...config, [mark]: known ?? route } as NonNullable<RegisteredRoute['config']>
    if (known !== undefined) return
    this.#registrations.push({ route, options, handler: options.handler, constraints })
  }

  /**
   * Adds the routes that may be registered before the gate: the preflight route of CORS, and those marked by `precedesGate`.
   * @throws {FMOD_PUBLIC_ROUTES_BEFORE_GATE} the router has other routes
   */
  addEarly(app: FastifyInstance): void {
    const listed = readRouter(app)
    if (listed === null) {
      app.log.warn(
        'routes from before the gate cannot be listed with this version of Fastify: none of them is open',
      )
      return
    }
    for (const { config } of listed.filter(mayPrecedeGate)) {
      const { url, method } = config
      const derivedFrom = this.#early.find((known) => method === 'HEAD' && known.url === url)
      const route = new Route({ url, methods: [method].flat(), declares: readDeclares(config), derivedFrom })
      Object.assign(config, { [mark]: route })
      this.#early.push(route)
    }
    refuseEarly(listed.filter((entry) => !mayPrecedeGate(entry)))
  }

  /**
   * Checks that the gate has read every route of the router, and that no configuration has changed since.
   * @throws {FMOD_PUBLIC_ROUTES_CONFIG_CHANGED} a later onRoute hook changed or replaced a configuration
   * @throws {FMOD_PUBLIC_ROUTES_BEFORE_GATE} a plugin from before the gate registered a route after it
   * @throws {FMOD_PUBLIC_ROUTES_HALF_REGISTERED} no hook runs before a route, that of the gate included
   */
  checkComplete(listed: readonly RouterEntry[]): void {
    const changed = this.#registrations.filter(({ route, options }) => {
      const config: Configuration = options.config as Configuration
      const { access, checkedByHandler } = readDeclares(config)
      const isSame = access === route.declares.access && checkedByHandler === route.declares.checkedByHandler
      return config?.[mark] !== route || !isSame
    })
    if (changed.length > 0)
      throw new errorCodes.FMOD_PUBLIC_ROUTES_CONFIG_CHANGED(
        changed.map(({ route }) => route.name).join(', '),
      )
    refuseEarly(listed.filter(({ config }) => !(mark in config)))
    // Not by the name of the gate's hook: a plugin may have wrapped it.
    const open = listed.filter((entry) => !mayPrecedeGate(entry) && !entry.onRequest?.length)
    if (open.length > 0) throw new errorCodes.FMOD_PUBLIC_ROUTES_HALF_REGISTERED(namesOf(open))
    if (listed.length === 0) return // Fastify may not show its routes
    const routes = new Set<unknown>(listed.map(({ config }) => Reflect.get(config, mark)))
    // What the router refused, as a duplicate, is no route.
    this.#registrations = this.#registrations.filter(({ route }) => routes.has(route))
  }

  /** The route that the router chose; null where no route matches and the not-found handler answers. */
  of(request: FastifyRequest): Route | null {
    const config: Configuration | undefined = this.#configOf(request)
    return config?.[mark] ?? (config?.url === undefined ? null : unlisted)
  }

  /** Fastify copies the options of the GET route, so both share their objects, and registers the HEAD route next. */
  #originOf({ url, handler, constraints, onSend }: RegisteredRoute): Route | undefined {
    const isDerived = [onSend].flat().some((hook) => hook?.name === 'headRouteOnSendHandler')
    if (!isDerived) return undefined
    return this.#registrations.findLast(
      (known) =>
        known.handler === handler &&
        known.constraints === constraints &&
        known.route.methods.includes('GET') &&
        withoutSlash(known.route.url) === withoutSlash(url),
    )?.route
  }

  /** Fastify announces the HEAD route of `/` under a prefix that ends in a slash twice, one after the other. */
  #announced({ derivedFrom, url }: Route): Route | undefined {
    const last = this.#registrations.at(-1)?.route
    return derivedFrom !== undefined && last?.derivedFrom === derivedFrom && last.url === url
      ? last
      : undefined
  }
}

/** Stands for a route of the router that the table does not have: it has no policy, and is closed. Where there is no route at all, it is null. */
export const unlisted = new Route({ url: '/', methods: [] })

type RouterEntry = ReturnType<typeof routerEntries>[number]

/** All routes that the router has; null where Fastify does not show them. */
export function readRouter(app: FastifyInstance): readonly RouterEntry[] | null {
  const entries: readonly (RouterEntry | undefined)[] = routerEntries(app)
  const readable = entries.filter((entry): entry is RouterEntry => typeof entry?.config?.url === 'string')
  const isEmpty = entries.length === 0 && app.printRoutes() === '(empty tree)'
  return readable.length === entries.length && (isEmpty || entries.length > 0) ? readable : null
}

function mayPrecedeGate({ config }: RouterEntry): boolean {
  return precedesGate in config || (config.method === 'OPTIONS' && config.url === '*')
}

/** @throws {FMOD_PUBLIC_ROUTES_BEFORE_GATE} */
function refuseEarly(entries: readonly RouterEntry[]): void {
  if (entries.length === 0) return
  throw new errorCodes.FMOD_PUBLIC_ROUTES_BEFORE_GATE(namesOf(entries))
}

function namesOf(entries: readonly RouterEntry[]): string {
  const names = entries.map(({ config: { method, url } }) => `${[method].flat().join(',')} ${url}`)
  return [...new Set(names)].join(', ')
}

/** Reads own members only. */
function readDeclares(config: object | undefined): Declares {
  const own = (name: keyof Declares): unknown =>
    config !== undefined && Object.hasOwn(config, name) ? Reflect.get(config, name) : undefined
  return { access: own('access'), checkedByHandler: own('checkedByHandler') }
}

/**
 * Refuses members that declare nothing, so that the route would get a default. Such a member is undefined, because the name of
 * a constant is misspelt; or inherited, which Fastify does not copy; or misspelt itself; or stands beside the configuration.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS}
 */
function refuseSilent(options: object, config: object, place: string): void {
  const fault = [
    ...Object.keys(undeclared).map((name) => faultOfMember(config, name)),
    ...Object.keys(config).map(faultOfName),
    ...Object.keys(options).map(faultOfOption),
  ].find((each) => each !== undefined)
  if (fault !== undefined) throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_ACCESS(place, fault)
}

function faultOfMember(config: object, name: string): string | undefined {
  const isUndefined = Reflect.get(config, name) === undefined
  if (Object.hasOwn(config, name) !== isUndefined) return undefined
  return isUndefined
    ? `config.${name} is undefined; leave it out, or correct the name of the constant`
    : `config.${name} is inherited; copy it into the configuration`
}

/** A member of the configuration one typing mistake away; other plugins have names such as `success`, two mistakes away. */
function faultOfName(name: string): string | undefined {
  const meant = closestName(name, Object.keys(undeclared), 1)
  if (meant === undefined || meant === name) return undefined
  return `config.${name} declares nothing (did you mean ${meant}?)`
}

function faultOfOption(name: string): string | undefined {
  const meant = closestName(name, ['config', ...Object.keys(undeclared)], 1)
  if (meant === undefined || name === 'config') return undefined
  if (meant === 'config') return `the option ${name} declares nothing (did you mean config?)`
  return `${name} beside config declares nothing; write config: { ${meant} }`
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}
