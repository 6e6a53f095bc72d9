/** What every file of routes gets. */
import type { SettingsService } from '../create-settings.ts'
import type { FastifyRequest } from 'fastify'
import type { Membership, TenantWriter } from '../tenants.ts'
import type { SettingsOptions } from '../options.ts'
import type { NamePeople } from './people.ts'
import type { SettingsApp } from './schemas.ts'
import type { SharedLists } from './shared-lists.ts'

export interface RouteContext {
  readonly app: SettingsApp
  readonly service: SettingsService
  readonly options: SettingsOptions
  readonly people: NamePeople
  /** The tenant of a request for its caller; null where there is none, or without the option `tenants`. */
  readonly tenantOf: (request: FastifyRequest) => Promise<Membership | null>
  /**
   * The same where the caller may write the values of the tenant.
   * @throws {NoTenantException} the request has no tenant
   * @throws {ForbiddenException} the caller may not write its values
   */
  readonly tenantWriter: (request: FastifyRequest) => Promise<TenantWriter>
  readonly sharedLists: SharedLists
}
