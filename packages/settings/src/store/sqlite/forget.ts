/** What the SQLite store forgets: old history, and users who are erased; in portions. */
import type { Database } from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import { FMOD_SETTINGS_TRANSACTION_OPEN } from '../../misuse-errors.ts'
import { Portion } from '../plan-write.ts'
import type { Erased, TrimResult } from '../store.ts'
import type { SqliteTables } from './tables.ts'

export interface SqliteForgetting {
  claim(interval: number): boolean
  history(olderThan: number, after: number): TrimResult
  /** @throws {FMOD_SETTINGS_TRANSACTION_OPEN} the application's connection is inside a transaction of its own */
  user(userId: string): Erased
}

/** Rows of each table that one transaction takes from a user. */
const erasedAtOnce = 500

/** The event loop stands still for one portion: 8 ms. A fixed number of rows holds on one disk only. */
const portionInit = { first: 64, least: 16, most: 500, limit: 8 }

/** Pages of the log after which a commit moves them: the 1,000 of SQLite take up to 300 ms on a busy disk. */
const smallCheckpoint = 250

export function createForgetting(client: Database, tables: SqliteTables): SqliteForgetting {
  const statements = forgettingStatements(tables)
  const prepare = (sql: string) => client.prepare(sql)
  const claim = prepare(statements.claim)
  const bound = prepare(statements.bound).pluck()
  const remove = prepare(statements.history)
  const erase = {
    values: prepare(statements.deleteValues),
    history: prepare(statements.deleteHistory),
    writers: prepare(statements.anonymousValues),
    actors: prepare(statements.anonymousHistory),
    count: prepare(statements.count).pluck(),
    erased: prepare(statements.erased),
  }
  const portion = new Portion(portionInit)

  function trim(after: number, before: number): TrimResult {
    const start = performance.now()
    const found = bound.get(after, before, portion.rows - 1)
    const last = typeof found === 'number' ? found : before - 1
    const removed = withSmallCheckpoints(client, () => remove.run(after, last).changes)
    portion.took(performance.now() - start)
    return { removed, next: last < before - 1 ? last : null }
  }

  const eraseUser = client.transaction((userId: string): Erased => {
    const [values, history, writers, actors] = [erase.values, erase.history, erase.writers, erase.actors].map(
      (statement) => statement.run(userId).changes,
    ) as [number, number, number, number]
    if (values + history + writers > 0)
      erase.erased.run({ now: Date.now(), seq: Number(erase.count.get() ?? 0) })
    const isDone = [values, history, writers, actors].every((rows) => rows < erasedAtOnce)
    return { values, history, mentions: writers + actors, isDone }
  })

  return {
    claim: (interval) => claim.run(String(Date.now()), Date.now() - interval).changes === 1,
    history: (olderThan, after) => trim(after, olderThan),
    user: (userId) => {
      if (client.inTransaction) throw new FMOD_SETTINGS_TRANSACTION_OPEN()
      return eraseUser.immediate(userId)
    },
  }
}

function withSmallCheckpoints<T>(client: Database, task: () => T): T {
  const usual = Number(client.pragma('wal_autocheckpoint', { simple: true }))
  client.pragma(`wal_autocheckpoint = ${smallCheckpoint}`)
  try {
    return task()
  } finally {
    client.pragma(`wal_autocheckpoint = ${usual}`)
  }
}

/** The statements by what they forget. */
function forgettingStatements(tables: SqliteTables) {
  const [values, history, meta] = [tables.values, tables.history, tables.meta].map(getTableName)
  const rowsOf = (table: string | undefined, columns: string, condition: string): string =>
    `(${columns}) in (select ${columns} from ${table} where ${condition} limit ${erasedAtOnce})`
  const value = 'scope, user_id, key'
  const entry = 'revision, scope, user_id, key'
  return {
    claim: `update ${meta} set value = ? where name = 'trimmed' and cast(value as integer) <= ?`,
    // Entries of one moment go together.
    bound: `select at from ${history} where at > ? and at < ? order by at limit 1 offset ?`,
    history: `delete from ${history} where (${entry}) in (
      select ${entry} from ${history} o where at > ? and at <= ?
        and exists (select 1 from ${history} n where n.key = o.key and n.scope = o.scope and n.user_id = o.user_id
          and n.revision > o.revision))`,
    deleteValues: `delete from ${values} where ${rowsOf(values, value, 'scope = 2 and user_id = ?')}`,
    deleteHistory: `delete from ${history} where ${rowsOf(history, entry, 'scope = 2 and user_id = ?')}`,
    anonymousValues: `update ${values} set updated_by = null
      where ${rowsOf(values, value, 'updated_by = ? and updated_by <> user_id')}`,
    anonymousHistory: `update ${history} set actor = null, note = null
      where ${rowsOf(history, entry, 'actor = ? and actor <> user_id')}`,
    count: `update ${meta} set value = value + 1 where name = 'users' returning value`,
    // Found by processes that watch: all forget all users.
    erased: `insert into ${history} (revision, scope, user_id, key, origin, at, seq)
      values (@now, 2, '', '', 'erased', @now, @seq)
      on conflict (revision, scope, user_id, key) do update set seq = excluded.seq`,
  }
}
