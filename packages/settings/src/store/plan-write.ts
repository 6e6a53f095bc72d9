/** What a write does, decided before a store touches anything. The same for every store; pure. */
import { FMOD_SETTINGS_INVALID_WRITE } from '../misuse-errors.ts'
import { checkRowId, checkStorable, compareRowIds, rowIdText } from './row-id.ts'
import type {
  AppliedChange,
  CurrentRows,
  HistoryRow,
  RowChange,
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
 * Asks the request what to change and answers the changes in the order of their rows, without those that change
 * nothing (decision 27). Without changes the revision stays.
 * @throws {FMOD_SETTINGS_INVALID_WRITE} two changes of one row, or a change of a row that was not read
 */
export function planWrite(request: WriteRequest, revision: number, rows: Iterable<StoredRow>): WriteResult {
  const current = currentRows(revision, rows)
  const readable = new Set(request.reads.map(rowIdText))
  const at = Date.now()
  const after = { revision: revision + 1, updatedAt: at, updatedBy: request.actor }
  const changes: AppliedChange[] = []
  for (const change of request.decide(current)) {
    // Deleting the name answers false for a row that was not read and for one that was already changed.
    if (!readable.delete(rowIdText(change))) throw new FMOD_SETTINGS_INVALID_WRITE(change.key)
    checkStorable(change.value, change.key)
    const before = current.get(change)
    if (changesNothing(before, change)) continue
    changes.push({ ...nameOf(change), before, after: rowAfter(change, after) })
  }
  if (changes.length === 0) return { revision, at, changes }
  return { revision: revision + 1, at, changes: changes.toSorted(compareRowIds) }
}

/** The row of history that a change leaves. */
export function historyOf(change: AppliedChange, request: WriteRequest, result: WriteResult): HistoryRow {
  return {
    ...nameOf(change),
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

function currentRows(revision: number, rows: Iterable<StoredRow>): CurrentRows {
  const byName = new Map<string, StoredRow>()
  for (const row of rows) byName.set(rowIdText(row), row)
  return { revision, get: (id) => byName.get(rowIdText(id)) }
}

function changesNothing(before: StoredRow | undefined, change: RowChange): boolean {
  if (!before) return change.value === null
  return before.value === change.value && before.sealed === change.sealed
}

function rowAfter(
  change: RowChange,
  written: Pick<StoredRow, 'revision' | 'updatedAt' | 'updatedBy'>,
): StoredRow | undefined {
  if (change.value === null) return undefined
  return Object.freeze({ ...nameOf(change), value: change.value, sealed: change.sealed, ...written })
}

/** Only the name: `decide` may hand over objects with more members. */
function nameOf({
  scope,
  userId,
  key,
}: RowChange | AppliedChange): Pick<RowChange, 'scope' | 'userId' | 'key'> {
  return { scope, userId, key }
}
