/** One write in SQLite, from the lock to the commit. */
import { ServiceUnavailableException, type SyncTx } from '@fastify-modular/core'
import type { Database, Statement } from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import {
  FMOD_SETTINGS_ENQUEUE_NOT_SYNC,
  FMOD_SETTINGS_TRANSACTION_ENDED,
  FMOD_SETTINGS_TRANSACTION_OPEN,
} from '../../misuse-errors.ts'
import { historyOf, planWrite, trimmedAtOnce, TrimTurns } from '../plan-write.ts'
import type {
  HistoryRetention,
  HistoryRow,
  ResealRequest,
  RowId,
  StoredRow,
  WriteRequest,
  WriteResult,
} from '../store.ts'
import type { Connection } from './connection.ts'
import type { SqliteTables } from './tables.ts'

/**
 * Makes the function that writes. It takes the lock of the file first (`immediate`): a transaction that reads before it
 * writes would otherwise fail whenever another process wrote in between, whatever the time-out.
 * @throws {FMOD_SETTINGS_TRANSACTION_OPEN} the caller's connection is inside a transaction of its own
 * @throws {ServiceUnavailableException} the file is no longer where its path leads to
 */
export function createWrite(connection: Connection): (request: WriteRequest) => WriteResult {
  const { client, file } = connection
  const turns = new TrimTurns()
  const transaction = client.transaction((request: WriteRequest) => {
    const result = writeLocked(connection, turns, request)
    // Last, because what is acknowledged must be found again.
    if (file.isReplaced()) throw toReplacedFailure()
    return result
  })
  return (request) => {
    // better-sqlite3 would open a savepoint, and the caller could still undo what we acknowledge.
    if (client.inTransaction) throw new FMOD_SETTINGS_TRANSACTION_OPEN()
    return transaction.immediate(request)
  }
}

/** What callers get while the path leads to another file, or to none. */
export function toReplacedFailure(): Error {
  const message = 'The SQLite database of the settings cannot answer (its file was replaced or removed).'
  return new ServiceUnavailableException(message, 1)
}

function writeLocked(connection: Connection, turns: TrimTurns, request: WriteRequest): WriteResult {
  const { reads, writes } = connection
  const current = request.reads.flatMap((id) => reads.row(id) ?? [])
  const result = planWrite(request, reads.revision(), current)
  if (result.changes.length === 0) return result
  writes.save(result.changes.flatMap(({ after }) => after ?? []))
  for (const change of result.changes) {
    if (!change.after) writes.delete(change)
    writes.addHistory(historyOf(change, request, result))
  }
  writes.saveRevision(result.revision)
  if (request.keepHistory !== undefined)
    for (const id of turns.due(result)) writes.trimHistory(id, request.keepHistory)
  enqueue(connection, request, result)
  return result
}

/**
 * Makes the function that replaces texts. Copies of them stay in free space of the file until it is vacuumed: with
 * `secure_delete`, too, for what SQLite moves between pages it does not overwrite.
 * @throws {FMOD_SETTINGS_TRANSACTION_OPEN} the caller's connection is inside a transaction of its own
 */
export function createReseal({ client, writes }: Connection): (request: ResealRequest) => number {
  const transaction = client.transaction((request: ResealRequest) => writes.reseal(request))
  return (request) => {
    if (client.inTransaction) throw new FMOD_SETTINGS_TRANSACTION_OPEN()
    return transaction.immediate(request)
  }
}

/** @throws {FMOD_SETTINGS_ENQUEUE_NOT_SYNC} what a promise writes later would escape the transaction */
function enqueue({ client }: Connection, request: WriteRequest, result: WriteResult): void {
  let isOpen = true
  const statements = new Map<string, Statement>() // a bulk enqueues hundreds of events with one statement
  const tx: SyncTx = {
    kind: 'sync',
    run(sql, params) {
      if (!isOpen) throw new FMOD_SETTINGS_TRANSACTION_ENDED()
      const statement = statements.get(sql) ?? client.prepare(sql)
      statements.set(sql, statement)
      statement.run(...params)
    },
  }
  const pending = request.enqueue?.(tx, result)
  isOpen = false // what is sent later would be written outside of the transaction
  if (!pending) return
  pending.catch(() => {}) // its own failure is of no interest any more
  throw new FMOD_SETTINGS_ENQUEUE_NOT_SYNC()
}

export interface SqliteWrites {
  save(rows: readonly StoredRow[]): void
  delete(id: RowId): void
  addHistory(row: HistoryRow): void
  saveRevision(revision: number): void
  /** Replaces texts of rows that are as they were read; answers how many. */
  reseal(request: ResealRequest): number
  /** Keeps the newest entries of one value. */
  trimHistory(id: RowId, keep: number): void
  /** Answers how many rows are gone. */
  pruneHistory(retention: HistoryRetention): number
}

/** So many rows travel in one statement where there are as many: for values that is nearly twice as fast. */
const batch = 50

/**
 * Prepares the writes on an open database whose tables exist. Without drizzle: a bulk runs them a thousand times, and
 * its mapping of parameters costs as much as the statement.
 */
export function prepareWrites(client: Database, tables: SqliteTables): SqliteWrites {
  const values = getTableName(tables.values)
  const history = getTableName(tables.history)
  const prepareSave = (rows: number) =>
    client.prepare(`
    insert into ${values} (scope, user_id, key, value, sealed, revision, updated_at, updated_by)
    values ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}
    on conflict (scope, user_id, key) do update set value = excluded.value, sealed = excluded.sealed,
      revision = excluded.revision, updated_at = excluded.updated_at, updated_by = excluded.updated_by`)
  const saveOne = prepareSave(1)
  const saveBatch = prepareSave(batch)
  const remove = client.prepare(`delete from ${values} where scope = ? and user_id = ? and key = ?`)
  const addHistory = client.prepare(`
    insert into ${history} (revision, scope, user_id, key, old_value, old_sealed, new_value, new_sealed,
      origin, actor, request_id, note, at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const saveRevision = client.prepare(
    `update ${getTableName(tables.meta)} set value = ? where name = 'revision'`,
  )
  const trim = client.prepare(`
    delete from ${history} where key = @key and scope = @scope and user_id = @userId and revision in (
      select revision from ${history} where key = @key and scope = @scope and user_id = @userId
      order by revision desc limit ${trimmedAtOnce} offset @keep)`)
  const prune = client.prepare(`
    delete from ${history} where (revision, scope, user_id, key) in (
      select revision, scope, user_id, key from (
        select revision, scope, user_id, key, at,
          row_number() over (partition by scope, user_id, key order by revision desc) as place
        from ${history})
      where place > 1 and (place > ? or at < ?))`)
  const resealValue = client.prepare(`
    update ${values} set value = ?, sealed = ?
    where scope = ? and user_id = ? and key = ? and revision = ? and value = ?`)
  const resealEntry = client.prepare(`
    update ${history} set old_value = ?, old_sealed = ?, new_value = ?, new_sealed = ?
    where revision = ? and scope = ? and user_id = ? and key = ? and old_value is ? and new_value is ?`)

  return {
    save: (rows) => {
      const single = rows.length % batch
      for (const row of rows.slice(0, single)) saveOne.run(...columnsOf(row))
      for (let start = single; start < rows.length; start += batch)
        saveBatch.run(rows.slice(start, start + batch).flatMap(columnsOf))
    },
    delete: (id) => void remove.run(id.scope, id.userId, id.key),
    addHistory: (row) =>
      void addHistory.run(
        row.revision,
        row.scope,
        row.userId,
        row.key,
        row.oldValue,
        Number(row.oldSealed),
        row.newValue,
        Number(row.newSealed),
        row.origin,
        row.actor,
        row.requestId,
        row.note,
        row.at,
      ),
    saveRevision: (revision) => void saveRevision.run(String(revision)),
    reseal: ({ values: rows, history: entries }) => {
      let replaced = 0
      for (const { before, after } of rows) {
        const { scope, userId, key, revision } = before
        const sealed = Number(after.sealed)
        replaced += resealValue.run(after.value, sealed, scope, userId, key, revision, before.value).changes
      }
      for (const { before, after } of entries) {
        const texts = [after.oldValue, Number(after.oldSealed), after.newValue, Number(after.newSealed)]
        const { revision, scope, userId, key, oldValue, newValue } = before
        replaced += resealEntry.run(...texts, revision, scope, userId, key, oldValue, newValue).changes
      }
      return replaced
    },
    trimHistory: ({ scope, userId, key }, keep) => void trim.run({ scope, userId, key, keep }),
    pruneHistory: ({ olderThan, perValue }) => prune.run(perValue, olderThan).changes,
  }
}

function columnsOf(row: StoredRow): (string | number | null)[] {
  const { scope, userId, key, value, sealed, revision, updatedAt, updatedBy } = row
  return [scope, userId, key, value, Number(sealed), revision, updatedAt, updatedBy]
}
