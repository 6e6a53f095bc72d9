/** What happened to values, and the way back (issue "history and rollback"; masked like every response). */
import { ArgumentException, ConflictException, NotFoundException } from '@fastify-modular/core'
import type { JsonValue, SettingScope } from '../setting-definition.ts'
import type { HistoryRow, SettingsStore } from '../store/store.ts'
import type { WriteOptions } from './contract.ts'
import { readText } from '../values/decode.ts'
import type { Snapshot } from './read/snapshot.ts'
import type { RowCodec } from './row-codec.ts'
import { requireSetting, rowUser } from './write/entries.ts'
import type { Write, WriteOutcome } from './write/write.ts'
import { toConflict } from './contract-operations.ts'

/** One change of one value. */
export interface HistoryEntry {
  readonly revision: number
  readonly key: string
  readonly scope: SettingScope
  readonly userId: string | null
  /** What was stored before; null where nothing was, and for sensitive settings. */
  readonly oldValue: JsonValue
  /** What was stored then; null where the value was removed, and for sensitive settings. */
  readonly newValue: JsonValue
  /** Whether a value was stored after the change: tells apart what masking hides. */
  readonly isOverridden: boolean
  readonly origin: string
  readonly actor: string | null
  readonly note: string | null
  readonly requestId: string | null
  /** ISO 8601, UTC. */
  readonly at: string
}

/** Selects history, newest first. */
export interface HistoryFilter {
  readonly key?: string
  readonly scope?: SettingScope
  /** Required when `scope` is User. Without a scope, users' values are left out. */
  readonly userId?: string
  readonly revision?: number
  /** Only entries before this revision: the cursor of the next page. */
  readonly before?: number
  /** At most so many entries, 1–500. @default 50 */
  readonly limit?: number
}

export interface History {
  /** What happened to System and Application values, or to those of one user; of defined settings only. */
  list(filter?: HistoryFilter): Promise<readonly HistoryEntry[]>
  /**
   * Writes again what a revision had made of a value, as a new revision, checked like every write.
   * @throws {NotFoundException} unknown setting, or the revision did not change it
   * @throws {ConflictException} the old value cannot be unsealed any more
   */
  rollback(target: RollbackTarget, options?: WriteOptions): Promise<WriteOutcome>
}

/** The value to take back, and the revision whose result is wanted. */
export interface RollbackTarget {
  readonly key: string
  readonly scope: SettingScope
  readonly revision: number
  readonly userId?: string
}

const maxLimit = 500

export function createHistory(
  store: SettingsStore,
  snapshot: Snapshot,
  codec: RowCodec,
  write: Write,
): History {
  function toEntry(row: HistoryRow): HistoryEntry | undefined {
    const cell = snapshot.find(row.key)
    if (!cell) return undefined
    const show = (value: string | null, sealed: boolean): JsonValue =>
      // Sealed values stay hidden even where the definition is not sensitive any more (decision 13).
      value === null || sealed || cell.setting.definition.sensitive ? null : readText(value)
    const { revision, key, scope, origin, actor, note, requestId } = row
    return {
      revision,
      key,
      scope,
      userId: row.userId || null,
      oldValue: show(row.oldValue, row.oldSealed),
      newValue: show(row.newValue, row.newSealed),
      isOverridden: row.newValue !== null,
      origin,
      actor,
      note,
      requestId,
      at: new Date(row.at).toISOString(),
    }
  }

  return {
    async list(filter = {}) {
      const { limit = 50, scope } = filter
      if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
        throw new ArgumentException(`The limit must be an integer from 1 to ${maxLimit}.`, 'limit')
      }
      // Without a scope nobody's own values: the empty user id is that of System and Application rows.
      const userId = scope === undefined ? '' : rowUser(scope, filter.userId)
      const rows = await store.readHistory({ ...filter, userId, limit })
      return rows.flatMap((row) => toEntry(row) ?? [])
    },
    async rollback({ key, scope, revision, userId }, options = {}) {
      const id = { key, scope, userId: rowUser(scope, userId) }
      const cell = requireSetting(snapshot, key)
      const [entry] = await store.readHistory({ ...id, revision, limit: 1 })
      if (!entry) throw new NotFoundException(`Revision of the setting "${key}"`, revision)
      const change = toChange(entry, codec)
      return write([{ ...id, cell, change }], { origin: 'rollback', ...options }, { onStale: toConflict })
    },
  }
}

function toChange(entry: HistoryRow, codec: RowCodec) {
  if (entry.newValue === null) return { kind: 'clear' } as const
  try {
    const text = codec.textOf(entry, { value: entry.newValue, sealed: entry.newSealed })
    return { kind: 'set', value: JSON.parse(text) as JsonValue } as const // canonical JSON
  } catch {
    throw new ConflictException(
      `The old value of the setting "${entry.key}" cannot be read any more, so that it cannot be restored.`,
    )
  }
}
