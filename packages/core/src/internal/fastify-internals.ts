/**
 * All reaches of our packages into Fastify and pino: what they keep to themselves or give out only through slow getters, and
 * where we stand in for a hook that they lack. Each has the question to its makers that would make it unnecessary. A symbol is
 * looked for by its description on the first use and taken only if what stands there agrees with the public API; otherwise the
 * public API is used.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { describeError } from './failures.ts'
import { isRecord, safeRead } from './safe.ts'

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
    return isRecord(context) ? (member(context, 'config') as RouteConfig) : request.routeOptions.config
  }
}

/** The last one found. Each copy of Fastify has a symbol of its own, and the search is slow (bench/errors.mjs). */
let trailersKey: symbol | null = null

/**
 * Takes away all trailers of a reply.
 *
 * To ask of Fastify: the names of a reply's trailers, or the removal of all of them.
 */
export function removeTrailers(reply: FastifyReply): void {
  if (trailersKey === null || !(trailersKey in reply)) {
    trailersKey = findKey(reply, 'fastify.reply.trailers', () => true)
  }
  const trailers = trailersKey === null ? undefined : (reply as unknown as BySymbol)[trailersKey]
  if (isRecord(trailers)) for (const name of Object.keys(trailers)) reply.removeTrailer(name)
}

let controllerKey: symbol | null = null

/**
 * Whether the application logs no requests: by the log controller, or by the option of early versions of 5.
 *
 * To ask of Fastify: the log controller of an application.
 */
export function isRequestLoggingDisabled({ server }: Pick<FastifyRequest, 'server'>): boolean {
  if (controllerKey === null || !(controllerKey in server)) {
    controllerKey = findKey(rootOf(server), 'fastify.logController', isRecord)
  }
  const controller = controllerKey === null ? undefined : (server as unknown as BySymbol)[controllerKey]
  return member(controller ?? server.initialConfig, 'disableRequestLogging') === true
}

/** The application of a scope: each scope has the one above it as prototype. */
export function rootOf(scope: FastifyInstance): FastifyInstance {
  const above = Object.getPrototypeOf(scope) as FastifyInstance | null
  return above === null || above === Object.prototype ? scope : rootOf(above)
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
 * Has `check` see each call of a method of an application and of the scopes below it, before the method runs; it may throw.
 * Returns the function that ends this.
 *
 * To ask of Fastify: for hooks and handlers what `onRoute` is for routes.
 */
export function checkCalls(
  app: FastifyInstance,
  method: 'addHook' | 'setErrorHandler' | 'setNotFoundHandler',
  check: (scope: FastifyInstance, argument: unknown) => void,
): () => void {
  const { [method]: original } = app
  function checked(this: FastifyInstance, ...given: unknown[]): unknown {
    check(this, given[0])
    return Reflect.apply(original, this, given)
  }
  Object.assign(app, { [method]: checked })
  return () => void Object.assign(app, { [method]: original })
}

/** Where pino keeps the serialisers of a logger and its children; a global symbol, which Fastify uses likewise. */
const serializersKey = Symbol.for('pino.serializers')

/**
 * Makes the logger's serialiser of errors total. Fastify logs what ends a stream by it, outside of any handler, and
 * pino's own throws for frozen errors and getters that throw: the process would end. What the serialiser in place can
 * describe it still does. Other loggers stay as they are.
 *
 * To ask of pino: a serialiser of errors that never throws.
 */
export function guardErrorSerializer(log: unknown): void {
  const serializers = safeRead(log, serializersKey)
  const inPlace = safeRead(serializers, 'err')
  if (!isRecord(serializers) || typeof inPlace !== 'function') return
  function serializeError(error: unknown): unknown {
    try {
      return Reflect.apply(inPlace as () => unknown, serializers, [error])
    } catch {
      return describeError(error)
    }
  }
  Object.assign(serializers, { err: serializeError })
}

/** Fastify's own `send`, whatever has taken its place on a reply. */
export function ownSendOf(reply: FastifyReply): FastifyReply['send'] {
  return (Object.getPrototypeOf(reply) as FastifyReply).send
}

/**
 * Puts a function in the place of the `send` of one reply, through which Fastify also answers what fails after a handler.
 *
 * To ask of Fastify: a hook for the answer of one reply, and one for an answer that could not be sent.
 */
export function replaceSend(reply: FastifyReply, send: (payload?: unknown) => FastifyReply): void {
  reply.send = send
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
  return isRecord(value) ? value[name] : undefined
}
