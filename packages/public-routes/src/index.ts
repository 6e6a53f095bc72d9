/** @fastify-modular/public-routes: a method-aware registry of public routes, and the gate in front of every request. */
import type { Caller } from '@fastify-modular/core'
import type { PublicRoutes } from './audit/public-routes.ts'
import type { RequestAccess } from './gate/gate.ts'
import type { PublicRouteRegistry } from './registry.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The registry of public routes (S 5.5), with `explain`, `surface` and `print`. */
    readonly publicRoutes: PublicRoutes
  }
  interface FastifyRequest {
    /** Who asks; null for an anonymous request to a public route. */
    caller: Caller | null
    /**
     * How the gate let the request in: `by: 'rule'` for a public one, whoever calls, with the rule that opens it;
     * `by: 'caller'` for one that needs a known caller. Null before the gate, and on requests that it turned away.
     */
    access: RequestAccess | null
  }
  interface FastifyContextConfig {
    /** Opens this route to anonymous callers: `true` for all its methods, or the methods it opens for. */
    public?: boolean | readonly string[]
  }
}

declare module '@fastify-modular/core' {
  interface ModuleHooks {
    /** Declares the module's public routes; runs once at boot, in dependency order (S 5.5). */
    publicRoutes: (registry: PublicRouteRegistry) => void
  }
}

export type { Explain, Explanation } from './audit/explain.ts'
export type { Opening, SurfaceEntry } from './audit/surface.ts'
export { type Classify, classifyRequest, type ClientKind } from './gate/answers/classify.ts'
export type { CrossOriginOptions } from './gate/cross-origin.ts'
export type { CaptureGuard } from './gate/decide.ts'
export type { RequestAccess } from './gate/gate.ts'
export { safeReturnTo } from './gate/answers/return-to.ts'
export type { PublicRoutesOptions } from './options.ts'
export { publicRoutes, publicRoutes as default } from './plugin.ts'
export { type Authenticated, type AuthProvider, combineProviders } from './provider.ts'
export { type MatchKind, type Methods, PublicRoute, type PublicRouteOptions } from './public-route.ts'
export type { PublicRoutes } from './audit/public-routes.ts'
export { PublicRouteRegistry, type RuleOptions } from './registry.ts'
export type { RegisteredRule } from './rule-index.ts'
