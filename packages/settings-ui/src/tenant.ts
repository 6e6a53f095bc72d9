/** The organisation of a request: what the pages say of it. Applications without the settings' option `tenants` have none. */
import { defineProblem } from '@fastify-modular/core'
import type { TenantOfRequest } from '@fastify-modular/settings'
import { groupIcon } from './group-icons.ts'
import { initialsOf } from './people.ts'
import { format } from './texts/messages.ts'
import type { AllMessages } from './texts/texts.ts'
import type { Plural } from './texts/texts-of.ts'

/** The organisation of a page, in the language of the page: the script has no words for it. */
export interface PageTenant {
  readonly id: string
  /** Its name, or what stands in its place. */
  readonly heading: string
  readonly initials: string
  /** What to draw beside what comes from it: one path. */
  readonly icon: string
  /** Whom its values concern. */
  readonly hint: string
  /** Of a value of its own that its members inherit. */
  readonly from: string
  /** Of what takes a member back to that value. */
  readonly back: string
  /** What stands before and after that value in a sentence. */
  readonly inherited: readonly string[]
  /** Of a new default that its members do not see. */
  readonly ownValue: string
  /** Said on a page of another organisation. */
  readonly arrived: string
  /** Said on its own page where the next organisation has no name, or where there is none. */
  readonly left: string
  readonly draftsStay: Plural
  readonly reload: string
}

/** 404. The request has no organisation. */
export class NoTenantException extends defineProblem({
  status: 404,
  code: 'NOT_FOUND',
  title: 'Resource not found',
}) {}

/** Characters of a name, as of those of people. */
const longest = 100

/** The name of an organisation, as far as it is shown; undefined where the host gives none. */
function nameOf({ name }: TenantOfRequest): string | undefined {
  return name?.trim().slice(0, longest).toWellFormed() || undefined
}

/** What a page says of its organisation. */
export function toPageTenant(tenant: TenantOfRequest, texts: AllMessages): PageTenant {
  const name = nameOf(tenant)
  const say = (named: string, unnamed: string): string =>
    name === undefined ? unnamed : format(named, { name })
  const value = name === undefined ? texts.tenantValueUnnamed : texts.tenantValue
  return {
    id: tenant.id,
    heading: name ?? texts.tenant,
    initials: Array.from(initialsOf(name ?? texts.tenant))
      .slice(0, 1)
      .join(''),
    icon: groupIcon('users') ?? '',
    hint: say(texts.tenantHint, texts.tenantHintUnnamed),
    from: say(texts.fromTenant, texts.fromTenantUnnamed),
    back: say(texts.backToTenant, texts.backToTenantUnnamed),
    // In parts: a name may look like a place for the value.
    inherited: value.split('{value}').map((part) => say(part, part)),
    ownValue: say(texts.tenantOwnValue, texts.tenantOwnValueUnnamed),
    arrived: say(texts.inTenant, texts.leftTenant),
    left: texts.leftTenant,
    draftsStay: texts.draftsStay,
    reload: texts.reload,
  }
}

/** Why a caller does not get the page of an organisation. */
export function forbiddenText(tenant: TenantOfRequest, texts: AllMessages): string {
  const name = nameOf(tenant)
  return name === undefined ? texts.tenantForbiddenUnnamed : format(texts.tenantForbidden, { name })
}
