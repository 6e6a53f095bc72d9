/** Fastify's own list of routes with their configuration, which includes those that were registered before the gate. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

type Config = FastifyRequest['routeOptions']['config']
type Constraints = Readonly<Record<string, unknown>>

/** A route as the router keeps it. */
export interface FastifyRoute {
  /** As it was registered, with the prefix of its plugin. */
  readonly url: string
  readonly methods: readonly string[]
  /**
   * The objects that requests carry as the configuration of this route: two for the root of a prefix, `/p` and `/p/`.
   */
  readonly configs: readonly [Config, ...Config[]]
  readonly constraints: Constraints
  /** Whether Fastify made this HEAD route from another one. */
  readonly isDerived: boolean
  /** Names of its onRequest hooks, in their order; complete after Fastify has bound the hooks. */
  readonly hooks: readonly string[]
}

interface Entry extends FastifyRoute {
  readonly methods: string[]
  readonly configs: [Config, ...Config[]]
}

/**
 * All routes, those that Fastify derived last; null where Fastify does not show them. When the router prints its
 * routes, it calls `buildPrettyMeta` of the options with each of them: our function collects them. A router that
 * prints routes without these calls gives null.
 */
export function readFastifyRoutes(app: FastifyInstance): readonly FastifyRoute[] | null {
  const entries = new Map<Config, Entry>()
  for (const method of app.supportedMethods) {
    const readable: boolean[] = []
    const collect = (route: unknown): object => {
      readable.push(addRoute(entries, method, route))
      return {}
    }
    const isEmpty = app.printRoutes(collectingOptions(method, collect)) === '(empty tree)'
    if (readable.includes(false) || (readable.length === 0 && !isEmpty)) return null
  }
  const routes = [...new Set(entries.values())]
  return [...routes.filter(({ isDerived }) => !isDerived), ...routes.filter(({ isDerived }) => isDerived)]
}

/** The router first writes its own function into the options, so the property has a setter. */
function collectingOptions(method: string, collect: (route: unknown) => object) {
  return {
    method,
    includeMeta: true,
    get buildPrettyMeta() {
      return collect
    },
    set buildPrettyMeta(_own) {},
  }
}

/** A route with several methods or an optional parameter comes several times, with one configuration. */
function addRoute(entries: Map<Config, Entry>, method: string, route: unknown): boolean {
  if (!isRouterRoute(route)) return false
  const { path, store } = route
  const { config } = store
  const constraints = route.opts?.constraints ?? {}
  const known = entries.get(config)
  if (known !== undefined) {
    if (!known.methods.includes(method)) known.methods.push(method)
    return true
  }
  const isAlike = (other: Entry) =>
    other.url === config.url &&
    other.methods.includes(method) &&
    other.configs[0].public === config.public &&
    other.configs[0].access === config.access &&
    haveSameMembers(other.constraints, constraints)
  const withoutSlash = path === `${config.url}/` ? [...entries.values()].find(isAlike) : undefined
  if (withoutSlash !== undefined) {
    withoutSlash.configs.push(config)
    entries.set(config, withoutSlash)
  } else {
    entries.set(config, {
      url: config.url,
      methods: [method],
      configs: [config],
      constraints,
      isDerived: isMadeByFastify(store),
      hooks: (store.onRequest ?? []).map(nameOf),
    })
  }
  return true
}

export function haveSameMembers(one: Constraints, other: Constraints): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

/** False, which keeps HEAD closed, where a version of Fastify marks such routes in another way. */
function isMadeByFastify(store: object): boolean {
  return Object.getOwnPropertySymbols(store).some(
    (key) => key.description === 'fastify.routeByFastify' && Reflect.get(store, key) === true,
  )
}

/** Fastify binds hooks. */
function nameOf({ name }: { readonly name: string }): string {
  return name.replace(/^bound /, '') || 'anonymous'
}

interface RouterRoute {
  readonly path: string
  readonly opts?: { readonly constraints?: Constraints }
  readonly store: {
    readonly config: Config
    readonly onRequest?: readonly { readonly name: string }[] | null
  }
}

function isRouterRoute(route: unknown): route is RouterRoute {
  const { path, store } = (route ?? {}) as { path?: unknown; store?: { config?: { url?: unknown } } }
  return typeof path === 'string' && typeof store?.config?.url === 'string'
}
