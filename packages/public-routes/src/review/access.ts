/** What `app.access` is: who may call what, in the whole application, and the default of the plugin that uses it. */
import { branded } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import type { Access } from '../access/declaration.ts'
import type { ScopeDefaults } from '../access/scope-defaults.ts'
import type { SecuritySchemes } from '../provider.ts'
import type { Explain } from './explain.ts'
import { describeAccess } from './openapi.ts'
import { type AccessRow, printTable } from './table.ts'

export interface ApplicationAccess {
  /**
   * A row for each route and method, sorted by URL, and one for the not-found handler.
   * @throws {FMOD_PUBLIC_ROUTES_NOT_READY}
   */
  table(): readonly AccessRow[]
  /** The table as text, in lines of at most 160 characters. */
  print(): string
  /**
   * How the gate decides a request and why. The request goes through the router up to the gate; hooks that run before
   * the gate see it. The target is taken as it is, as a client would put it on the wire.
   * @throws {FMOD_PUBLIC_ROUTES_NOT_READY}
   */
  explain: Explain
  /**
   * Sets the access of the routes of this plugin, and of those inside it, that do not declare their own. The nearest
   * default counts; that of a module is outside those that its plugins set.
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} an unknown shape, a second default, the root, or an application that is ready
   */
  setDefault(access: Access): void
  /** An OpenAPI document with `security`, `x-permission`, 401 and 403 of each operation; the given one stays as it is. */
  openapi<Document extends object>(document: Document): Document
}

interface AccessParts extends Pick<ApplicationAccess, 'table' | 'explain'> {
  readonly defaults: ScopeDefaults
  readonly schemes: SecuritySchemes
}

/** Decorates the application; each scope sets its own default. */
export function decorateAccess(
  app: FastifyInstance,
  { table, explain, defaults, schemes }: AccessParts,
): void {
  const byScope = new WeakMap<FastifyInstance, ApplicationAccess>()
  app.decorate('access', {
    getter(this: FastifyInstance) {
      const known = byScope.get(this)
      if (known !== undefined) return known
      const access = branded<ApplicationAccess>({
        table,
        print: () => printTable(table()),
        explain,
        setDefault: (declared) => defaults.set(this, declared),
        openapi: (document) => describeAccess(document, { rows: table(), schemes }),
      })
      byScope.set(this, access)
      return access
    },
  })
}
