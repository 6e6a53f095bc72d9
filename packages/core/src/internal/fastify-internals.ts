/**
 * What Fastify and its logger keep to themselves, or give out only through slow or missing getters: all reaches into their
 * insides that the gate needs, each with the question that would make it unnecessary. A symbol is looked for by its
 * description on the first use and taken only if what stands there agrees with the public API; otherwise the public API is
 * used.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** The versions that all plugins run on. */
export const supportedFastify = '5.x || 6.x'

/** The configuration of the route that the router chose. */
export type RouteConfig = FastifyRequest['routeOptions']['config'] | undefined

/**
 * A reader of the route's configuration. `request.routeOptions` builds an object of twelve members each time, which makes a
 * request through the gate 4 to 10 % slower, in process (bench/gate.mjs).
 *
 * To ask of Fastify: the configuration of a request's route without an object built for it.
 */
export function createConfigReader(): (request: FastifyRequest) => RouteConfig {
  let key: symbol | null | undefined
  return function readConfig(request) {
    if (key === undefined) {
      const { config } = request.routeOptions
      key = findKey(request, 'fastify.context', (context) => member(context, 'config') === config)
    }
    const context = key === null ? undefined : (request as unknown as BySymbol)[key]
    return isObject(context) ? (member(context, 'config') as RouteConfig) : request.routeOptions.config
  }
}

/** The last one found. Each copy of Fastify has a symbol of its own, and the search is slow (bench/errors.mjs). */
let trailersKey: symbol | null = null

/** Takes away all trailers of a reply. Fastify removes a trailer by its name and does not list the names. */
export function removeTrailers(reply: FastifyReply): void {
  if (trailersKey === null || !(trailersKey in reply)) {
    trailersKey = findKey(reply, 'fastify.reply.trailers', () => true)
  }
  const trailers = trailersKey === null ? undefined : (reply as unknown as BySymbol)[trailersKey]
  if (isObject(trailers)) for (const name of Object.keys(trailers)) reply.removeTrailer(name)
}

let controllerKey: symbol | null = null

/** Whether the application logs no requests: by the log controller, which Fastify does not show, or by the option of early versions of 5. */
export function isRequestLoggingDisabled({ server }: Pick<FastifyRequest, 'server'>): boolean {
  if (controllerKey === null || !(controllerKey in server)) {
    controllerKey = findKey(rootOf(server), 'fastify.logController', isObject)
  }
  const controller = controllerKey === null ? undefined : (server as unknown as BySymbol)[controllerKey]
  return member(controller ?? server.initialConfig, 'disableRequestLogging') === true
}

/** The application of a scope: each scope has the one above it as prototype. */
export function rootOf(scope: FastifyInstance): FastifyInstance {
  const above: unknown = Object.getPrototypeOf(scope)
  return isObject(above) && above !== Object.prototype ? rootOf(above as FastifyInstance) : scope
}

/** What the router keeps of a route. Two for the root of a prefix, which answers with and without the slash. */
export interface RouterEntry {
  readonly config: { readonly url: string; readonly method: string | readonly string[] }
  /** The scope that registered the route. */
  readonly server: FastifyInstance
  /** Complete when the application is ready. */
  readonly errorHandler: { readonly func: { readonly name: string } }
  /** Complete when the application is ready: Fastify has bound the hooks. */
  readonly onRequest?: readonly { readonly name: string }[] | null
}

/**
 * All routes of an application, those that no onRoute hook has seen included. The router prints its routes and calls
 * `buildPrettyMeta` with each; it first writes its own function into the options, which our setter drops.
 *
 * To ask of Fastify: a list of all routes with their configurations and bound hooks.
 */
export function routerEntries(app: FastifyInstance): RouterEntry[] {
  const entries = new Set<RouterEntry>()
  function collect({ store }: { readonly store: RouterEntry }): object {
    entries.add(store)
    return {}
  }
  const options = {
    includeMeta: true,
    get buildPrettyMeta() {
      return collect
    },
    set buildPrettyMeta(_own) {},
  }
  app.printRoutes(options)
  return [...entries]
}

/**
 * Runs what makes Fastify derive a logger for a request of ours, which no client sent: the derived one is silent. Where the
 * logger lets nothing be defined, the request is logged like another.
 *
 * To ask of Fastify: a log level for one request, known before its logger is derived.
 */
export function silently({ log }: FastifyInstance, run: () => void): void {
  const child: unknown = Reflect.get(log, 'child')
  const silent = (bindings: object, options?: object): unknown =>
    Reflect.apply(child as typeof log.child, log, [bindings, { ...options, level: 'silent' }])
  const isSilent =
    'level' in log &&
    !Object.hasOwn(log, 'child') &&
    Reflect.defineProperty(log, 'child', { value: silent, configurable: true })
  try {
    run()
  } finally {
    if (isSilent) Reflect.deleteProperty(log, 'child')
  }
}

/**
 * Has `check` see the names of hooks that are added to this scope, but not to those below, while `run` runs; it may throw.
 * Fastify calls nobody when a hook is added (to ask upstream: something like `onRoute` for hooks).
 */
export async function withHookCheck(
  app: FastifyInstance,
  run: () => PromiseLike<unknown>,
  check: (hook: string) => void,
): Promise<void> {
  const { addHook } = app
  function checked(this: FastifyInstance, hook: string, ...rest: unknown[]): unknown {
    if (this === app) check(hook)
    return Reflect.apply(addHook, this, [hook, ...rest])
  }
  Object.assign(app, { addHook: checked })
  try {
    await run()
  } finally {
    Object.assign(app, { addHook })
  }
}

function findKey(holder: object, description: string, agrees: (value: unknown) => boolean): symbol | null {
  const keys = Object.getOwnPropertySymbols(holder).filter(
    (key) => key.description === description && agrees((holder as BySymbol)[key]),
  )
  return keys.length === 1 ? (keys[0] ?? null) : null
}

/** Read in place: one function for several symbols made unmatched requests 5 % slower. */
type BySymbol = Readonly<Record<symbol, unknown>>

function member(value: unknown, name: string): unknown {
  return isObject(value) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
