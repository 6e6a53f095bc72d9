/** Writes in SQLite, from the lock to the commit, and their statements. */
import type { SyncTx } from '@fastify-modular/core'
import type { Database, Statement } from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import {
  FMOD_SETTINGS_ENQUEUE_NOT_SYNC,
  FMOD_SETTINGS_TRANSACTION_ENDED,
  FMOD_SETTINGS_TRANSACTION_OPEN,
} from '../../misuse-errors.ts'
import { historyOf, planWrite } from '../plan-write.ts'
import { noRevision, parseRevision, type Revision, revisionId } from '../revision.ts'
import type { HistoryRow, ReencryptRequest, RowId, StoredRow, WriteRequest, WriteResult } from '../store.ts'
import type { SqlWriter } from '../sql-store.ts'
import type { SqliteTables } from './tables.ts'

/**
 * Writes take the lock of the file first (`immediate`): a transaction that reads before it writes would otherwise fail
 * whenever another process wrote in between, whatever the time-out.
 */
export function createWriter(client: Database, tables: SqliteTables): SqlWriter {
  const statements = prepareStatements(client, tables)

  function foundBy({ reads }: WriteRequest) {
    return { at: Date.now(), rows: reads.flatMap((id) => statements.find(id) ?? []) }
  }

  function writeShared(request: WriteRequest): WriteResult {
    const result = planWrite(request, { ...foundBy(request), ...statements.revision() })
    if (result.changes.length === 0) return result
    statements.saveRevision(result)
    return apply(request, result, 0)
  }

  function writeOfUsers(request: WriteRequest): WriteResult {
    const { lastVersion } = statements
    const result = planWrite(request, { ...foundBy(request), lastVersion })
    return result.changes.length === 0 ? result : apply(request, result, statements.countUsers())
  }

  function apply(request: WriteRequest, result: WriteResult, seq: number): WriteResult {
    statements.save(result.changes.flatMap(({ after }) => after ?? []))
    for (const change of result.changes) {
      if (!change.after) statements.delete(change)
      statements.addHistory(historyOf(change, request, result), seq)
    }
    enqueue(client, request, result)
    return result
  }

  return {
    shared: immediate(client, writeShared),
    ofUsers: immediate(client, writeOfUsers),
    // Copies of the old texts stay in free space of the file until it is vacuumed, even with `secure_delete`: it does not
    // overwrite what SQLite moves between pages.
    reencrypt: immediate(client, statements.reencrypt),
  }
}

/**
 * Makes a transaction that takes the lock first.
 * @throws {FMOD_SETTINGS_TRANSACTION_OPEN} when called inside a transaction of the application: better-sqlite3 would make a
 * savepoint, and the application could undo an acknowledged write
 */
export function immediate<A, R>(client: Database, task: (argument: A) => R): (argument: A) => R {
  const transaction = client.transaction(task)
  return (argument) => {
    if (client.inTransaction) throw new FMOD_SETTINGS_TRANSACTION_OPEN()
    return transaction.immediate(argument)
  }
}

/** @throws {FMOD_SETTINGS_ENQUEUE_NOT_SYNC} what a promise writes later would escape the transaction */
function enqueue(client: Database, request: WriteRequest, result: WriteResult): void {
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
  isOpen = false // a later statement would run outside of the transaction
  if (!pending) return
  pending.catch(() => {}) // the failure below is the one that is reported
  throw new FMOD_SETTINGS_ENQUEUE_NOT_SYNC()
}

interface WriteStatements {
  find(id: RowId): StoredRow | undefined
  revision(): Revision
  /** The version of the newest entry of history of a value, or 0. */
  lastVersion(id: RowId): number
  save(rows: readonly StoredRow[]): void
  delete(id: RowId): void
  addHistory(row: HistoryRow, seq: number): void
  /** Counts a write of users' values; returns its number. */
  countUsers(): number
  saveRevision(revision: Revision): void
  /** Replaces texts of rows that are as they were read; returns how many. */
  reencrypt(request: ReencryptRequest): number
}

/** So many rows travel in one statement where there are as many: for values that is nearly twice as fast. */
const batch = 50

/**
 * Prepares the writes on an open database whose tables exist. Without drizzle: a bulk runs them a thousand times, and
 * its mapping of parameters costs as much as the statement.
 */
function prepareStatements(client: Database, tables: SqliteTables): WriteStatements {
  const values = getTableName(tables.values)
  const history = getTableName(tables.history)
  // As arrays: a bulk reads each of its rows.
  const find = client
    .prepare<[number, string, string], ValueRecord>(
      `select value, encrypted, revision, updated_at, updated_by from ${values} where scope = ? and user_id = ? and key = ?`,
    )
    .raw()
  const revision = client
    .prepare<[], string>(`select value from ${getTableName(tables.meta)} where name = 'revision'`)
    .pluck()
  const lastVersion = client
    .prepare<[string, number, string], number | null>(
      `select max(revision) from ${history} where key = ? and scope = ? and user_id = ?`,
    )
    .pluck()
  const prepareSave = (rows: number) =>
    client.prepare(`
    insert into ${values} (scope, user_id, key, value, encrypted, revision, updated_at, updated_by)
    values ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}
    on conflict (scope, user_id, key) do update set value = excluded.value, encrypted = excluded.encrypted,
      revision = excluded.revision, updated_at = excluded.updated_at, updated_by = excluded.updated_by`)
  const saveOne = prepareSave(1)
  const saveBatch = prepareSave(batch)
  const remove = client.prepare(`delete from ${values} where scope = ? and user_id = ? and key = ?`)
  const addHistory = client.prepare(`
    insert into ${history} (revision, scope, user_id, key, old_value, old_encrypted, new_value, new_encrypted,
      origin, actor, request_id, note, set_size, at, seq, token)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const countUsers = client
    .prepare<[], string>(
      `update ${getTableName(tables.meta)} set value = value + 1 where name = 'users' returning value`,
    )
    .pluck()
  const saveRevision = client.prepare(
    `update ${getTableName(tables.meta)} set value = ? where name = 'revision'`,
  )
  const reencryptValue = client.prepare(`
    update ${values} set value = ?, encrypted = ?
    where scope = ? and user_id = ? and key = ? and revision = ? and value = ?`)
  const reencryptEntry = client.prepare(`
    update ${history} set old_value = ?, old_encrypted = ?, new_value = ?, new_encrypted = ?
    where revision = ? and scope = ? and user_id = ? and key = ? and old_value is ? and new_value is ?`)

  return {
    find: (id) => {
      const record = find.get(id.scope, id.userId, id.key)
      return record && toRow(id, record)
    },
    revision: () => parseRevision(revision.get()) ?? noRevision,
    lastVersion: ({ scope, userId, key }) => lastVersion.get(key, scope, userId) ?? 0,
    save: (rows) => {
      const single = rows.length % batch
      for (const row of rows.slice(0, single)) saveOne.run(...columnsOf(row))
      for (let start = single; start < rows.length; start += batch)
        saveBatch.run(rows.slice(start, start + batch).flatMap(columnsOf))
    },
    delete: (id) => void remove.run(id.scope, id.userId, id.key),
    countUsers: () => Number(countUsers.get() ?? 0),
    addHistory: (row, seq) =>
      void addHistory.run(
        row.revision,
        row.scope,
        row.userId,
        row.key,
        row.oldValue,
        Number(row.oldEncrypted),
        row.newValue,
        Number(row.newEncrypted),
        row.origin,
        row.actor,
        row.requestId,
        row.note,
        row.setSize,
        row.at,
        seq,
        row.token,
      ),
    saveRevision: (revision) => void saveRevision.run(revisionId(revision)),
    reencrypt: ({ values: rows, history: entries }) => {
      let replaced = 0
      for (const { before, after } of rows) {
        const { scope, userId, key, revision } = before
        const encrypted = Number(after.encrypted)
        replaced += reencryptValue.run(
          after.value,
          encrypted,
          scope,
          userId,
          key,
          revision,
          before.value,
        ).changes
      }
      for (const { before, after } of entries) {
        const texts = [after.oldValue, Number(after.oldEncrypted), after.newValue, Number(after.newEncrypted)]
        const { revision, scope, userId, key, oldValue, newValue } = before
        replaced += reencryptEntry.run(...texts, revision, scope, userId, key, oldValue, newValue).changes
      }
      return replaced
    },
  }
}

function columnsOf(row: StoredRow): (string | number | null)[] {
  const { scope, userId, key, value, encrypted, revision, updatedAt, updatedBy } = row
  return [scope, userId, key, value, Number(encrypted), revision, updatedAt, updatedBy]
}

/** A row of settings_value without its name, as the driver gives it. */
type ValueRecord = readonly [
  value: string,
  encrypted: number,
  revision: number,
  updatedAt: number,
  updatedBy: string | null,
]

function toRow({ scope, userId, key }: RowId, record: ValueRecord): StoredRow {
  const [value, encrypted, revision, updatedAt, updatedBy] = record
  return { scope, userId, key, value, encrypted: encrypted === 1, revision, updatedAt, updatedBy }
}
