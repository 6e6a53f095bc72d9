/** The organisation of a request. Applications without the settings' option `tenants` have none. */
import { defineProblem } from '@fastify-modular/core'
import type { TenantOfRequest } from '@fastify-modular/settings'
import { formatNamed, type Messages } from './texts/messages.ts'

/** The organisation of a page. */
export interface PageTenant {
  readonly id: string
  /** Left out where the host gives none. */
  readonly name?: string
}

/** 404. The request has no organisation. */
export class NoTenantException extends defineProblem({
  status: 404,
  code: 'NOT_FOUND',
  title: 'Resource not found',
}) {}

/** Characters of a name, as of those of people. */
const longest = 100

export function toPageTenant({ id, name: given }: TenantOfRequest): PageTenant {
  const name = given?.trim().slice(0, longest).toWellFormed()
  return { id, ...(name && { name }) }
}

/** Why a caller does not get the page of an organisation. */
export function forbiddenText(tenant: PageTenant, texts: Messages): string {
  return formatNamed(texts.tenantForbidden, texts.tenantForbiddenUnnamed, tenant)
}
