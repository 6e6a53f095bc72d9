/** @fastify-modular/public-routes: a method-aware registry of public routes, and the gate in front of every request. */
import type { Caller } from '@fastify-modular/core'
import type { Access, AccessByMethod } from './access/declaration.ts'
import type { PermissionMap, Permissions } from './access/permissions.ts'
import type { RequestAdmission } from './gate/decision.ts'
import type { PublicRouteRegistry } from './registry.ts'
import type { ApplicationAccess } from './review/access.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Who may call what: the table, explanations. */
    readonly access: ApplicationAccess
    /** The registry of public routes. */
    readonly publicRoutes: PublicRouteRegistry
    /** The permissions that routes may require; `list()` serves role editors. */
    readonly permissions: Permissions
  }
  interface FastifyRequest {
    /** The caller of the request; null for an anonymous request to a public route. */
    caller: Caller | null
    /**
     * How the gate let the request in: by a rule, a declaration or its caller. Null before the gate, and on requests that it
     * turned away. It describes the request as it reached the gate, and does not change when later hooks change the request.
     */
    readonly admission: RequestAdmission | null
  }
  interface FastifyContextConfig {
    /** Who may call this route; by method for a route that serves several. */
    access?: Access | AccessByMethod
    /** A permission that the handler checks by itself: the gate lists it and does not enforce it. */
    checkedByHandler?: string
  }
}

declare module '@fastify-modular/core' {
  interface ModuleContributions {
    /** Declares the module's public routes; runs once at boot, in dependency order. */
    publicRoutes: (registry: PublicRouteRegistry) => void
    /** The permissions that the module declares, with their display names: `{ 'Notes.Edit': 'Edit notes' }`. */
    permissions: PermissionMap
    /** The access of the module's routes that do not declare their own. */
    access: Access
  }
}

export type { Access, AccessByMethod } from './access/declaration.ts'
export type { Permission, PermissionMap, Permissions } from './access/permissions.ts'
export { classifyRequest, type ClientKind, safeReturnTo } from './gate/answers.ts'
export type { CsrfOptions } from './gate/csrf.ts'
export type { RequestAdmission } from './gate/decision.ts'
export type { PublicRoutesOptions } from './options.ts'
export { publicRoutes, publicRoutes as default } from './plugin.ts'
export { type AuthProvider, type AuthResult, combineProviders } from './provider.ts'
export type { PublicRouteRegistry } from './registry.ts'
export type { ApplicationAccess } from './review/access.ts'
export type { Explanation } from './review/explain.ts'
export { accessTransform } from './review/openapi.ts'
export type { AccessRow } from './review/table.ts'
export { PublicRoute, type PublicRouteOptions, type RegisteredRule } from './rule.ts'
