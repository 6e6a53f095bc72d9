/** The routes that Fastify's router has, which no other list of it shows while an application boots. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

type Config = FastifyRequest['routeOptions']['config']

/** One method of a route, as the router keeps it. */
export interface RouterEntry {
  readonly method: string
  /** As it was registered, with the prefix of its plugin. */
  readonly url: string
  /** The object that requests carry as the configuration of the route. */
  readonly config: Config
  /** Names of its onRequest hooks, in their order; complete after Fastify has bound the hooks. */
  readonly hooks: readonly string[]
}

/**
 * All routes; null where Fastify does not show them. When the router prints its routes, it calls `buildPrettyMeta` of the
 * options with each of them: our function collects them. A router that prints routes without these calls gives null.
 */
export function readRouter(app: FastifyInstance): readonly RouterEntry[] | null {
  const entries: RouterEntry[] = []
  for (const method of app.supportedMethods) {
    const before = entries.length
    let isReadable = true
    const collect = (route: unknown): object => {
      if (isRouterRoute(route)) entries.push(toEntry(method, route))
      else isReadable = false
      return {}
    }
    const isEmpty = app.printRoutes(collectingOptions(method, collect)) === '(empty tree)'
    if (!isReadable || (entries.length === before && !isEmpty)) return null
  }
  return entries
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

function toEntry(method: string, { store }: RouterRoute): RouterEntry {
  const { config, onRequest } = store
  return { method, url: config.url, config, hooks: (onRequest ?? []).map(nameOf) }
}

/** Fastify binds hooks. */
function nameOf({ name }: { readonly name: string }): string {
  return name.replace(/^bound /, '') || 'anonymous'
}

interface RouterRoute {
  readonly store: {
    readonly config: Config
    readonly onRequest?: readonly { readonly name: string }[] | null
  }
}

function isRouterRoute(route: unknown): route is RouterRoute {
  const { store } = (route ?? {}) as { store?: { config?: { url?: unknown } } }
  return typeof store?.config?.url === 'string'
}
