/** The changes of values, masked like every response. */
import { ArgumentException, type Caller, ForbiddenException } from '@fastify-modular/core'
import type { Parts } from '../parts.ts'
import { isOwned, type JsonValue, SettingScope } from '../setting-definition.ts'
import type { HistoryPlace, HistoryRow } from '../store/store.ts'
import { readText } from '../values/json.ts'
import { isSecret, type RegisteredSetting } from '../values/validate.ts'
import { namedScope, rowOwner } from '../memory/owned-values.ts'
import { namedCaller, requireVisible, visibleTo } from '../visibility.ts'

/** One change of one value. */
export interface HistoryEntry {
  readonly revision: number
  readonly key: string
  readonly scope: SettingScope
  readonly userId: string | null
  /** Of Tenant scope alone: whose value it is. */
  readonly tenant?: string
  /** The value before; null if none was stored, and for sensitive settings. */
  readonly oldValue: JsonValue
  /** The new value; null if the value was removed, and for sensitive settings. */
  readonly newValue: JsonValue
  /** Whether a value was stored after the change: distinguishes what masking hides. */
  readonly isOverridden: boolean
  readonly origin: string
  readonly actor: string | null
  readonly note: string | null
  readonly requestId: string | null
  /** How many values the write changed. */
  readonly setSize: number
  /** ISO 8601, UTC. */
  readonly at: string
}

/** Selects history, newest first: that of a user by time, all other by revision. Members are combined with AND. */
export interface HistoryFilter {
  /**
   * Only what this caller may see over HTTP: System settings for administrators, users' values for their owner. Without it
   * everything.
   * @throws {ForbiddenException} the caller may not see what the filter asks for
   */
  readonly visibleTo?: Caller
  readonly key?: string
  readonly scope?: SettingScope
  /** Selects the values of this user, which have User scope; all others without it. @throws {ArgumentException} another scope, no user */
  readonly userId?: string
  /** Selects the values of this tenant, which have Tenant scope. Not with `visibleTo`. */
  readonly tenant?: string
  /** The version that the change gave the value. */
  readonly revision?: number
  /** Only entries of these keys. */
  readonly keys?: readonly string[]
  /** Only what this actor wrote. */
  readonly actor?: string
  /** Only entries of this time and later; ISO 8601, in UTC where it names no offset. */
  readonly since?: string
  /** Only entries after the `next` of a page. @throws {ArgumentException} it is none */
  readonly before?: string
  /** At most so many entries, 1–500. @default 50 */
  readonly limit?: number
}

/** Some history, newest first: as many entries as the limit allows, or fewer if they store more than 256 KiB. */
export interface HistoryPage {
  /** At least one, unless there are none, or those of the page belong to settings that no module defines any more. */
  readonly entries: readonly HistoryEntry[]
  /**
   * For the filter `before`, null at the end: the revision, scope and key of the last entry, such as `12:1:app.title`; of
   * a user's history its time, version and key.
   */
  readonly next: string | null
}

const maxLimit = 500
/** Bytes of stored text in a page. */
const pageBytes = 256 * 1024

/** Changes of System and Application values, or of one user's values; of defined settings only. */
export async function readHistory(
  parts: Pick<Parts, 'store' | 'sharedValues' | 'selfService'>,
  options: HistoryFilter = {},
): Promise<HistoryPage> {
  const { store, sharedValues } = parts
  const caller = namedCaller(options, 'visibleTo')
  const { before, limit = 50, since, visibleTo: _caller, ...filter } = options
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit)
    throw new ArgumentException(`The limit must be an integer from 1 to ${maxLimit}.`, 'limit')
  if (filter.revision !== undefined) requireRevision(filter.revision)
  const selection = {
    ...filter,
    ...rowsOf(filter, parts, caller),
    since: since === undefined ? undefined : toTime(since),
  }
  const following = before === undefined ? undefined : toPlace(before, selection)
  const rows = await store.history({ ...selection, following, limit, maxBytes: pageBytes })
  const last = rows.at(-1)
  const rest = last ? await store.history({ ...selection, following: last, limit: 1 }) : []
  const visible = caller && visibleTo(caller, parts)
  return {
    entries: rows.flatMap((row) => {
      const setting = sharedValues.find(row.key)?.setting
      return setting && visible?.record(setting.definition, placeOfRow(row)) !== false
        ? toEntry(row, setting)
        : []
    }),
    next: last && rest.length > 0 ? toNext(last) : null,
  }
}

/**
 * The rows that a filter selects: one user's rows, or System and Application rows.
 * @throws {ForbiddenException} the caller may not see them
 */
function rowsOf(
  filter: HistoryFilter,
  parts: Pick<Parts, 'sharedValues' | 'selfService'>,
  caller: Caller | undefined,
) {
  const { key } = filter
  const scope = namedScope(filter)
  const owner =
    scope === undefined ? '' : rowOwner(scope, scope === SettingScope.Tenant ? filter.tenant : filter.userId)
  if (!caller) return { owner, scope }
  if (scope === SettingScope.Tenant)
    throw new ForbiddenException('The history of a tenant is for those who may write its values.')
  const definition = key === undefined ? undefined : parts.sharedValues.find(key)?.setting.definition
  requireVisible(caller, definition, { scope, userId: filter.userId }, parts)
  return { owner, scope: scope ?? (caller.isAdmin === true ? undefined : SettingScope.Application) }
}

/** Where a row stands, as its visibility depends on it. */
function placeOfRow({ scope, owner }: HistoryRow) {
  return {
    scope,
    ...(scope === SettingScope.User && { userId: owner }),
    ...(scope === SettingScope.Tenant && { tenant: owner }),
  }
}

function toEntry(row: HistoryRow, setting: RegisteredSetting): HistoryEntry {
  const show = (text: string | null, encrypted: boolean): JsonValue =>
    text === null || isSecret(setting, { encrypted }) ? null : readText(text)
  const { revision, key, scope, origin, actor, note, requestId, setSize } = row
  return {
    revision,
    key,
    scope,
    userId: scope === SettingScope.User ? row.owner : null,
    ...(scope === SettingScope.Tenant && { tenant: row.owner }),
    oldValue: show(row.oldValue, row.oldEncrypted),
    newValue: show(row.newValue, row.newEncrypted),
    isOverridden: row.newValue !== null,
    origin,
    actor,
    note,
    requestId,
    setSize,
    at: new Date(row.at).toISOString(),
  }
}

function toNext({ scope, at, revision, key }: HistoryPlace): string {
  return isOwned(scope) ? `${at}:${revision}:${key}` : `${revision}:${scope}:${key}`
}

/** @throws {ArgumentException} it is not the `next` of a page */
function toPlace(next: string, { owner, scope: selected }: ReturnType<typeof rowsOf>): HistoryPlace {
  const [, first, second, key = ''] = /^(\d{1,15}):(\d{1,15}):(.+)$/s.exec(next) ?? []
  const numbers = { first: Number(first), second: Number(second) }
  if (selected !== undefined && isOwned(selected) && first !== undefined)
    return { at: numbers.first, revision: numbers.second, scope: selected, owner, key }
  const { System, Application } = SettingScope
  const scope = [System, Application].find((shared) => shared === numbers.second)
  if (scope === undefined) throw new ArgumentException('Use the next of a page.', 'before')
  return { at: 0, revision: numbers.first, scope, owner, key } // only users' entries are in the order of time
}

/** @throws {ArgumentException} not a revision: without one the newest entry would be taken */
export function requireRevision(revision: number): void {
  if (!Number.isSafeInteger(revision) || revision < 1)
    throw new ArgumentException('The revision must be a positive integer.', 'revision')
}

/** @throws {ArgumentException} it is not a date-time */
function toTime(iso: string): number {
  const hasOffset = /(?:Z|[+-]\d\d:?\d\d)$/i.test(iso)
  const time = Date.parse(/T/i.test(iso) && !hasOffset ? `${iso}Z` : iso)
  if (Number.isNaN(time)) throw new ArgumentException('Use an ISO 8601 date-time.', 'since')
  return time
}
