/** What a write does, decided before a store touches anything. The same for every store. */
import { FMOD_SETTINGS_INVALID_WRITE } from '../misuse-errors.ts'
import { checkRowId, checkStorable, compareRowIds, rowIdText } from './row-id.ts'
import type {
  AppliedChange,
  HistoryRow,
  RowChange,
  RowId,
  StoredRow,
  WriteRequest,
  WriteResult,
} from './store.ts'

/** Refuses a request that no store could keep. Called before the lock is taken. @throws {ArgumentException} */
export function checkRequest(request: WriteRequest): void {
  for (const id of request.reads) checkRowId(id)
  for (const name of ['actor', 'origin', 'requestId', 'note'] as const) checkStorable(request[name], name)
}

/**
 * Lets the request decide and returns its changes in the order of their rows, without deletions of unset rows.
 * Without changes the revision stays.
 * @throws {FMOD_SETTINGS_INVALID_WRITE} two changes of one row, or a change of a row that was not read
 */
export function planWrite(request: WriteRequest, revision: number, rows: Iterable<StoredRow>): WriteResult {
  const found = new Map<string, StoredRow | undefined>()
  for (const id of request.reads) found.set(rowIdText(id), undefined)
  for (const row of rows) found.set(rowIdText(row), row)
  const current = { revision, get: (id: RowId) => found.get(rowIdText(id)) }
  const at = Date.now()
  const changes: AppliedChange[] = []
  for (const change of request.decide(current)) {
    const name = rowIdText(change)
    const before = found.get(name)
    // Deleting the row answers false for a row that was not read and for one that was already changed.
    if (!found.delete(name)) throw new FMOD_SETTINGS_INVALID_WRITE(change.key)
    checkStorable(change.value, change.key)
    if (!before && change.value === null) continue
    const { scope, userId, key } = change
    changes.push({ scope, userId, key, before, after: rowAfter(change, revision + 1, at, request.actor) })
  }
  if (changes.length === 0) return { revision, at, changes }
  return { revision: revision + 1, at, changes: changes.toSorted(compareRowIds) }
}

/** The row of history that a change leaves. */
export function historyOf(change: AppliedChange, request: WriteRequest, result: WriteResult): HistoryRow {
  return {
    scope: change.scope,
    userId: change.userId,
    key: change.key,
    revision: result.revision,
    oldValue: change.before?.value ?? null,
    oldSealed: change.before?.sealed ?? false,
    newValue: change.after?.value ?? null,
    newSealed: change.after?.sealed ?? false,
    origin: request.origin,
    actor: request.actor,
    requestId: request.requestId ?? null,
    note: request.note ?? null,
    at: result.at,
  }
}

// Members are named one by one here and above: spreading three objects into one makes V8 give up its fast layout, and a
// bulk a hundred times slower.
function rowAfter(
  change: RowChange,
  revision: number,
  at: number,
  actor: string | null,
): StoredRow | undefined {
  const { scope, userId, key, value, sealed } = change
  if (value === null) return undefined
  return Object.freeze({ scope, userId, key, value, sealed, revision, updatedAt: at, updatedBy: actor })
}

/** Writes of a value for each trimming of its history: often enough to bound it, seldom enough to cost next to nothing. */
const interval = 8
/** Values whose writes are counted; those of the others are trimmed once more than needed. */
const capacity = 10_000

/** Entries that one trimming of a value removes at most, so that no write is long; the next ones remove the rest. */
export const trimmedAtOnce = 500

/** Counts the writes of values in this process. */
export class TrimCounter {
  readonly #last = new Map<string, { readonly revision: number; readonly count: number }>()

  /**
   * Counts the changes, and returns those whose values are to be trimmed: every eighth of a value, and each one after a
   * write that was not counted here.
   */
  takeDue({ changes, revision }: WriteResult): readonly AppliedChange[] {
    if (this.#last.size > capacity) this.#last.clear()
    return changes.filter((change) => {
      const name = rowIdText(change)
      const last = this.#last.get(name)
      const isNext = last !== undefined && last.revision === change.before?.revision
      const count = isNext ? (last.count + 1) % interval : 0
      this.#last.set(name, { revision, count })
      return count === 0
    })
  }
}
