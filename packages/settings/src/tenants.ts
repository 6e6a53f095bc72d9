/** The tenant of a request: an organisation whose values its members share. The host says which one it is. */
import {
  type Caller,
  ForbiddenException,
  hasPermission,
  ServiceUnavailableException,
} from '@fastify-modular/core'
import { safeRead, withTimeout } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import { NoTenantException } from './exceptions.ts'
import { isStorable } from './setting-definition.ts'

/** What the host knows of the tenant of a request. */
export interface FoundTenant {
  /** 1–255 characters; the values of the tenant are stored under it. */
  readonly id: string
  /** For display only. */
  readonly name?: string
  /**
   * The caller's permissions in this tenant, in place of those of the caller: for the permission of the option and for the
   * `writePermission` of definitions.
   * @default those of the caller, which is right only where roles are the same everywhere
   */
  readonly permissions?: readonly string[]
}

/**
 * Returns the tenant of a request, or its id; null where there is none, or where the caller does not belong to it. The caller
 * is null where nobody is signed in. Called at most once for each request and caller; it may take 5 s.
 */
export type FindTenant = (
  request: FastifyRequest,
  caller: Caller | null,
) => FoundTenant | string | null | Promise<FoundTenant | string | null>

/** How settings of organisations work. */
export interface TenantOptions {
  readonly of: FindTenant
  /** What writing the values of a tenant needs, of the caller in this tenant. @default 'TenantSettings.Update' */
  readonly permission?: string
}

/** The tenant of a request, and what its caller may do there. */
export interface TenantOfRequest {
  readonly id: string
  /** Null where the host gives none. */
  readonly name: string | null
  /** Whether the caller may write the values of the tenant. */
  readonly mayWrite: boolean
}

/** The same, and the caller with the permissions that count in the tenant; null where nobody is signed in. */
export interface Membership extends TenantOfRequest {
  readonly member: Caller | null
}

/** Milliseconds that the host may take. */
const patience = 5000

/** Finds the tenant of a request for a caller. */
export type FindMembership = (request: FastifyRequest, caller: Caller | null) => Promise<Membership | null>

/** What writing the values of a tenant needs where the host names no permission. */
export const tenantPermission = 'TenantSettings.Update'

/**
 * Returns the function that asks the host, once for each request and caller id: what was answered for nobody does not count
 * for somebody, and what a request began with holds to its end.
 */
export function createFindMembership({ of, permission = tenantPermission }: TenantOptions): FindMembership {
  const answers = new WeakMap<FastifyRequest, Map<string | null, Promise<Membership | null>>>()

  async function ask(request: FastifyRequest, caller: Caller | null): Promise<Membership | null> {
    const found = await withTimeout(Promise.resolve(of(request, caller)), patience, () => {
      throw new ServiceUnavailableException('The tenant of the request could not be found in time.', 5)
    })
    if (found === null) return null
    const { id, name, permissions } = toTenant(found)
    const member = caller && (permissions ? { ...caller, permissions } : caller)
    return { id, name: name ?? null, member, mayWrite: hasPermission(member, permission) }
  }

  return function findMembership(request, caller) {
    const ofRequest = answers.get(request) ?? new Map<string | null, Promise<Membership | null>>()
    answers.set(request, ofRequest)
    const callerId = caller?.id ?? null
    const answer = ofRequest.get(callerId) ?? ask(request, caller)
    ofRequest.set(callerId, answer)
    return answer
  }
}

/** @throws {TypeError} it is not a tenant: null would pass for no tenant */
function toTenant(found: FoundTenant | string): FoundTenant {
  const tenant = typeof found === 'string' ? { id: found } : found
  const id = safeRead(tenant, 'id')
  const permissions = safeRead(tenant, 'permissions')
  const name = safeRead(tenant, 'name')
  if (typeof id !== 'string' || id === '' || id.length > 255 || !isStorable(id))
    throw new TypeError(
      'The settings option tenants.of must return null, an id of 1 to 255 characters, or { id }.',
    )
  if (permissions !== undefined && !Array.isArray(permissions))
    throw new TypeError('The settings option tenants.of must return permissions as an array.')
  return { id, ...(typeof name === 'string' && name !== '' && { name }), ...(permissions && { permissions }) }
}

/** The tenant of a request whose caller may write its values. */
export interface TenantWriter extends Membership {
  readonly member: Caller
}

/**
 * @throws {NoTenantException} the request has no tenant
 * @throws {ForbiddenException} the caller may not write the values of the tenant
 */
export function requireTenantWriter(membership: Membership | null): TenantWriter {
  if (!membership) throw new NoTenantException()
  const { member, mayWrite } = membership
  if (!member || !mayWrite) throw new ForbiddenException('You may not change the settings of this tenant.')
  return { ...membership, member }
}
