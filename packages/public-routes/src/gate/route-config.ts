/** Reads the configuration of the route that the router chose, without what `request.routeOptions` costs. */
import type { FastifyRequest } from 'fastify'

export type RouteConfig = FastifyRequest['routeOptions']['config'] | undefined

/**
 * The getter `request.routeOptions` builds an object of twelve members each time: half of what a gate would cost.
 * Fastify keeps the configuration one read away, under a symbol of its own. It is looked for on the first request and
 * taken only if the getter says the same; a Fastify that keeps it elsewhere is asked through the getter.
 */
export function createConfigReader(): (request: FastifyRequest) => RouteConfig {
  let key: symbol | null | undefined
  return function readConfig(request) {
    if (key === undefined) key = findContextKey(request)
    const context = key === null ? undefined : contextUnder(request, key)
    return context === undefined ? request.routeOptions.config : context.config
  }
}

interface RouteContext {
  readonly config: RouteConfig
}

function findContextKey(request: FastifyRequest): symbol | null {
  const { config } = request.routeOptions
  const keys = Object.getOwnPropertySymbols(request).filter(
    (key) => key.description === 'fastify.context' && contextUnder(request, key)?.config === config,
  )
  return keys.length === 1 ? (keys[0] ?? null) : null
}

function contextUnder(request: object, key: symbol): RouteContext | undefined {
  return (request as Readonly<Record<symbol, RouteContext | undefined>>)[key]
}
