/** What the SQLite store writes, prepared once. */
import type { Database } from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import type { HistoryRetention, HistoryRow, ResealRequest, RowId, StoredRow } from '../store.ts'
import { trimmedAtOnce } from '../trim-turns.ts'
import type { SqliteTables } from './tables.ts'

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
