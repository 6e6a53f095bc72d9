/** What a page knows of settings before its scripts run. */
import type { FastifyRequest } from 'fastify'
import type { UserReader } from '../reading/reader.ts'
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

/** The element of a page with the public values that hold for its caller: data, which no policy of scripts refuses. */
export async function toDataElement(
  request: FastifyRequest,
  { publicValues, hasTenants }: { readonly publicValues: PublicData['values']; readonly hasTenants: boolean },
): Promise<string> {
  const reader: UserReader = await request.settings
  const { userId: caller, tenant } = reader
  const data: PublicData = {
    caller,
    ...(hasTenants && { tenant }),
    values: Object.fromEntries(
      Object.entries(publicValues).map(([key, shared]) => [
        key,
        caller === null && tenant === null ? shared : ownOr(shared, reader, key),
      ]),
    ),
  }
  // Nothing in it ends the element, or begins a comment in it.
  const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`)
  return `<script type="application/json" id="settings-data">${json}</script>`
}

/** The value that holds for the reader; the shared one where that cannot be read. */
function ownOr(shared: JsonValue, reader: { get(key: string): JsonValue }, key: string): JsonValue {
  try {
    return reader.get(key)
  } catch {
    return shared
  }
}
