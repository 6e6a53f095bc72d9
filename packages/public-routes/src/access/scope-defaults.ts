/** The access that modules and encapsulated plugins declare for those of their routes that declare none. */
import { isAbsolute } from 'node:path'
import { mountingModule } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { FMOD_PUBLIC_ROUTES_INVALID_ACCESS } from '../misuse-errors.ts'
import { type Declared, parseAccess } from './declaration.ts'

/** Where a route was registered. */
export interface RouteOrigin {
  readonly scope: FastifyInstance
  /** Name of the module, if any. */
  readonly module: string | undefined
}

interface ScopeDefault extends Declared {
  /** The module inside which it was set. */
  readonly module: string | undefined
}

export class ScopeDefaults {
  readonly #app: FastifyInstance
  readonly #byModule = new Map<string, Declared>()
  readonly #byScope = new Map<FastifyInstance, ScopeDefault>()
  #isFrozen = false

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  /** @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} */
  setForModule(module: string, access: unknown): void {
    const source = `default of module "${module}"`
    this.#byModule.set(module, { requirement: parseAccess(access, source), source, by: 'default' })
  }

  /** @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} */
  set(scope: FastifyInstance, access: unknown): void {
    const source = `default of ${scopeName(scope)}`
    const fault = this.#faultOf(scope)
    if (fault !== null) throw new FMOD_PUBLIC_ROUTES_INVALID_ACCESS(source, fault)
    const requirement = parseAccess(access, source)
    this.#byScope.set(scope, { requirement, source, by: 'default', module: mountingModule(scope) })
  }

  /** The nearest default of a plugin inside the module, that of the module, or the nearest one around it. */
  find(origin: RouteOrigin | null): Declared | undefined {
    if (origin === null) return undefined
    const nearest = this.#nearest(origin.scope)
    const ofModule = origin.module === undefined ? undefined : this.#byModule.get(origin.module)
    if (nearest === undefined || ofModule === undefined) return nearest ?? ofModule
    return nearest.module === origin.module ? nearest : ofModule
  }

  freeze(): void {
    this.#isFrozen = true
  }

  get all(): readonly Declared[] {
    return [...this.#byModule.values(), ...this.#byScope.values()]
  }

  #nearest(scope: FastifyInstance): ScopeDefault | undefined {
    for (let at: unknown = scope; isScope(at); at = Object.getPrototypeOf(at)) {
      const found = this.#byScope.get(at)
      if (found !== undefined) return found
    }
    return undefined
  }

  #faultOf(scope: FastifyInstance): string | null {
    if (scope === this.#app) return 'the root has no default; use the option undeclared, or the option access'
    if (this.#byScope.has(scope)) return 'the plugin has one already'
    return this.#isFrozen ? 'the application is ready' : null
  }
}

/** Scopes inherit from each other, the root from a plain object. */
function isScope(value: unknown): value is FastifyInstance {
  return typeof value === 'object' && value !== null && value !== Object.prototype
}

/** `plugin blog`, `plugin /app/blog.js`, or `application` for the root; a plugin without a name is called by its prefix. */
export function scopeName(scope: FastifyInstance): string {
  if (Object.getPrototypeOf(scope) === Object.prototype) return 'application'
  const [name = ''] = scope.pluginName.split(' -> ') // its own name, then those of plugins that share the scope
  const isUsable = isAbsolute(name) || (/^[\w@./ -]{1,80}$/.test(name) && !unnamed.has(name))
  return isUsable ? `plugin ${name}` : `plugin at ${scope.prefix || '/'}`
}

/** What @fastify/autoload and transpilers call every plugin of theirs. */
const unnamed: ReadonlySet<string> = new Set(['composedPlugin', 'default', 'anonymous'])
