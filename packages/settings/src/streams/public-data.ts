/** What a page knows of settings before its scripts run. */
import type { FastifyRequest } from 'fastify'
import type { Whose } from '../reading/reader.ts'
import type { JsonValue } from '../setting-definition.ts'

/** What a page knows of settings before its scripts run. */
export interface PublicData {
  /** The id of the caller whose values these are; null for callers who are not signed in. */
  readonly caller: string | null
  /** The id of the tenant in which they hold, null without one; absent without the option `tenants`. */
  readonly tenant?: string | null
  /** Of public settings, by key. */
  readonly values: Readonly<Record<string, JsonValue>>
}

/**
 * The element of a page with the public values that hold for its caller: data, which no policy of scripts refuses. Values that
 * were secrets when they were stored are left out, as in every other answer.
 */
export async function toDataElement(
  request: FastifyRequest,
  publicValuesFor: (whose: Whose) => Promise<PublicData['values']>,
  hasTenants: boolean,
): Promise<string> {
  const { userId: caller, tenant } = await request.settings
  const whose = { ...(caller !== null && { userId: caller }), ...(tenant !== null && { tenant }) }
  const data: PublicData = {
    caller,
    ...(hasTenants && { tenant }),
    values: await publicValuesFor(whose),
  }
  // Nothing in it ends the element, or begins a comment in it.
  const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`)
  return `<script type="application/json" id="settings-data">${json}</script>`
}
