/**
 * What `app.publicRoutes` is: the registry of the plugin that uses it, with the diagnostics of the whole application.
 */
import { mountingModule } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import type { Access } from '../access/declaration.ts'
import type { ScopeDefaults } from '../gate/route-access.ts'
import type { SecuritySchemes } from '../provider.ts'
import { PublicRouteRegistry } from '../registry.ts'
import type { RuleSet } from '../rules.ts'
import type { Explain, Explanation } from './explain.ts'
import type { AccessCensus } from './census.ts'
import { describeAccess } from './openapi.ts'
import { printSurface, type SurfaceEntry } from './surface.ts'

interface Diagnostics {
  readonly explain: Explain
  readonly surface: () => readonly SurfaceEntry[]
  readonly census: AccessCensus
  readonly schemes: SecuritySchemes
}

interface PublicRoutesParts extends Diagnostics {
  readonly rules: RuleSet
  readonly defaults: ScopeDefaults
  /** The plugin whose registry it is, and the source of its rules. */
  readonly scope: FastifyInstance
}

export class PublicRoutes extends PublicRouteRegistry {
  /** Who may call each route and method of the application, and what says so. */
  readonly access: AccessCensus
  readonly #schemes: SecuritySchemes
  readonly #explain: Explain
  readonly #surface: () => readonly SurfaceEntry[]
  readonly #setDefault: (access: Access) => void

  constructor({ rules, defaults, scope, explain, surface, census, schemes }: PublicRoutesParts) {
    super(rules, scopeName(scope), scope.prefix, () => mountingModule(scope))
    this.access = census
    this.#schemes = schemes
    this.#explain = explain
    this.#surface = surface
    this.#setDefault = (access) => defaults.set({ scope, access, name: scopeName(scope) })
  }

  /**
   * The access of the routes of this plugin, and of those inside it, that do not declare their own. The nearest default
   * counts; that of a module is outside those that its plugins set.
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} an unknown shape, a second default, the root, or an application that is ready
   */
  default(access: Access): this {
    this.#setDefault(access)
    return this
  }

  /**
   * How the gate decides a request and why. The request goes through the router up to the gate; hooks that run before
   * the gate see it. The target is taken as it is, as a client would put it on the wire.
   * @throws {FMOD_PUBLIC_ROUTES_NOT_READY}
   */
  explain(...request: Parameters<Explain>): Promise<Explanation> {
    return this.#explain(...request)
  }

  /** An OpenAPI document with `security`, `x-permission`, 401 and 403 of each operation; the given one stays as it is. */
  describe<Document extends object>(document: Document): Document {
    return describeAccess(document, { rows: this.access.table(), schemes: this.#schemes })
  }

  /** Each rule with the routes it opens; for routes with parameters it rests on sample values. */
  surface(): readonly SurfaceEntry[] {
    return this.#surface()
  }

  /** The surface as a table. */
  print(): string {
    return printSurface(this.surface())
  }
}

/** Decorates the application; each scope gets the registry that names it as the source of its rules. */
export function decorateRegistry(app: FastifyInstance, parts: Omit<PublicRoutesParts, 'scope'>): void {
  const registries = new WeakMap<FastifyInstance, PublicRoutes>()
  app.decorate('publicRoutes', {
    getter(this: FastifyInstance) {
      let registry = registries.get(this)
      if (registry === undefined) {
        registry = new PublicRoutes({ ...parts, scope: this })
        registries.set(this, registry)
      }
      return registry
    },
  })
}

/** `plugin blog`, or `application` for the root. */
export function scopeName(scope: FastifyInstance): string {
  if (Object.getPrototypeOf(scope) === Object.prototype) return 'application'
  const [name = ''] = scope.pluginName.split(' -> ') // its own name, then those of plugins that share the scope
  return /^[\w@./ -]{1,80}$/.test(name) ? `plugin ${name}` : `plugin at ${scope.prefix || '/'}`
}
