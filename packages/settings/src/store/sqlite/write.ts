/** Writes in SQLite, from the lock to the commit, and their statements. */
import type { SyncTx } from '@fastify-modular/core'
import type { Database, Statement } from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import {
  FMOD_SETTINGS_ENQUEUE_NOT_SYNC,
  FMOD_SETTINGS_TRANSACTION_ENDED,
  FMOD_SETTINGS_TRANSACTION_OPEN,
} from '../../misuse-errors.ts'
import { historyOf, isOfUsers, planWrite } from '../plan-write.ts'
import type { HistoryRow, ResealRequest, RowId, StoredRow, WriteRequest, WriteResult } from '../store.ts'
import type { SqliteTables } from './tables.ts'

export interface SqliteWriter {
  find(id: RowId): StoredRow | undefined
  /** @throws {FMOD_SETTINGS_TRANSACTION_OPEN} the application's connection is inside a transaction of its own */
  write(request: WriteRequest): WriteResult
  /**
   * Replaces texts; returns how many rows. Copies of the old ones stay in free space of the file until it is vacuumed,
   * even with `secure_delete`: it does not overwrite what SQLite moves between pages.
   * @throws {FMOD_SETTINGS_TRANSACTION_OPEN} the application's connection is inside a transaction of its own
   */
  reseal(request: ResealRequest): number
}

/**
 * Writes take the lock of the file first (`immediate`): a transaction that reads before it writes would otherwise fail
 * whenever another process wrote in between, whatever the time-out.
 */
export function createWriter(client: Database, tables: SqliteTables): SqliteWriter {
  const statements = prepareStatements(client, tables)

  function writeLocked(request: WriteRequest): WriteResult {
    const rows = request.reads.flatMap((id) => statements.find(id) ?? [])
    const ofUsers = isOfUsers(request)
    const revision = ofUsers ? 0 : statements.revision()
    const { lastVersion } = statements
    const result = planWrite(request, { revision, at: Date.now(), rows, lastVersion })
    if (result.changes.length > 0) apply(request, result)
    return result
  }

  function apply(request: WriteRequest, result: WriteResult): void {
    const ofUsers = isOfUsers(request)
    const seq = ofUsers ? statements.countUsers() : 0
    statements.save(result.changes.flatMap(({ after }) => after ?? []))
    for (const change of result.changes) {
      if (!change.after) statements.delete(change)
      statements.addHistory(historyOf(change, request, result), seq)
    }
    if (!ofUsers) statements.saveRevision(result.revision)
    enqueue(client, request, result)
  }

  /** In an open transaction better-sqlite3 would make a savepoint, and the application could undo an acknowledged write. */
  function refuseOpenTransaction(): void {
    if (client.inTransaction) throw new FMOD_SETTINGS_TRANSACTION_OPEN()
  }

  const write = client.transaction(writeLocked)
  const reseal = client.transaction(statements.reseal)
  return {
    find: statements.find,
    write: (request) => {
      refuseOpenTransaction()
      return write.immediate(request)
    },
    reseal: (request) => {
      refuseOpenTransaction()
      return reseal.immediate(request)
    },
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
  revision(): number
  /** The version of the newest entry of history of a value, or 0. */
  lastVersion(id: RowId): number
  save(rows: readonly StoredRow[]): void
  delete(id: RowId): void
  addHistory(row: HistoryRow, seq: number): void
  /** Counts a write of users' values; returns its number. */
  countUsers(): number
  saveRevision(revision: number): void
  /** Replaces texts of rows that are as they were read; returns how many. */
  reseal(request: ResealRequest): number
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
      `select value, sealed, revision, updated_at, updated_by from ${values} where scope = ? and user_id = ? and key = ?`,
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
    insert into ${values} (scope, user_id, key, value, sealed, revision, updated_at, updated_by)
    values ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}
    on conflict (scope, user_id, key) do update set value = excluded.value, sealed = excluded.sealed,
      revision = excluded.revision, updated_at = excluded.updated_at, updated_by = excluded.updated_by`)
  const saveOne = prepareSave(1)
  const saveBatch = prepareSave(batch)
  const remove = client.prepare(`delete from ${values} where scope = ? and user_id = ? and key = ?`)
  const addHistory = client.prepare(`
    insert into ${history} (revision, scope, user_id, key, old_value, old_sealed, new_value, new_sealed,
      origin, actor, request_id, note, set_size, at, seq)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const countUsers = client
    .prepare<[], string>(
      `update ${getTableName(tables.meta)} set value = value + 1 where name = 'users' returning value`,
    )
    .pluck()
  const saveRevision = client.prepare(
    `update ${getTableName(tables.meta)} set value = ? where name = 'revision'`,
  )
  const resealValue = client.prepare(`
    update ${values} set value = ?, sealed = ?
    where scope = ? and user_id = ? and key = ? and revision = ? and value = ?`)
  const resealEntry = client.prepare(`
    update ${history} set old_value = ?, old_sealed = ?, new_value = ?, new_sealed = ?
    where revision = ? and scope = ? and user_id = ? and key = ? and old_value is ? and new_value is ?`)

  return {
    find: (id) => {
      const record = find.get(id.scope, id.userId, id.key)
      return record && toRow(id, record)
    },
    revision: () => Number(revision.get() ?? 0),
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
        Number(row.oldSealed),
        row.newValue,
        Number(row.newSealed),
        row.origin,
        row.actor,
        row.requestId,
        row.note,
        row.setSize,
        row.at,
        seq,
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
  }
}

function columnsOf(row: StoredRow): (string | number | null)[] {
  const { scope, userId, key, value, sealed, revision, updatedAt, updatedBy } = row
  return [scope, userId, key, value, Number(sealed), revision, updatedAt, updatedBy]
}

/** A row of settings_value without its name, as the driver gives it. */
type ValueRecord = readonly [
  value: string,
  sealed: number,
  revision: number,
  updatedAt: number,
  updatedBy: string | null,
]

function toRow({ scope, userId, key }: RowId, record: ValueRecord): StoredRow {
  const [value, sealed, revision, updatedAt, updatedBy] = record
  return { scope, userId, key, value, sealed: sealed === 1, revision, updatedAt, updatedBy }
}
