/** What the SQLite store forgets: old history, and users who are erased; in portions. */
import type { Database } from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import type { SqlForgetting } from '../sql-store.ts'
import type { Erased, TrimLimits, TrimResult } from '../store.ts'
import type { SqliteTables } from '../sqlite-tables.ts'
import { immediate } from './write.ts'

/** Rows that one transaction takes from a table. */
const atOnce = 500

export function createForgetting(client: Database, tables: SqliteTables): SqlForgetting {
  const statements = forgettingStatements(tables)
  const prepare = (sql: string) => client.prepare(sql)
  const mark = prepare(statements.mark).pluck()
  const bound = prepare(statements.bound).pluck()
  const move = prepare(statements.move)
  const find = { expired: prepare(statements.expired).raw(), written: prepare(statements.written).raw() }
  const remove = prepare(statements.remove)
  const erase = {
    values: prepare(statements.deleteValues),
    history: prepare(statements.deleteHistory),
    writers: prepare(statements.anonymousValues),
    actors: prepare(statements.anonymousHistory),
    count: prepare(statements.count).pluck(),
    erased: prepare(statements.erased),
  }

  /** Takes the next entries of a span of time that begins at a mark, and moves the mark. */
  function takeNext(what: keyof typeof find, before: number, limits: object): TrimResult {
    const first = Number(mark.get(what) ?? 0)
    const found = bound.get(first, before)
    const last = typeof found === 'number' ? found : before - 1
    const entries = find[what].all({ ...limits, first, last }) as unknown[][]
    const removed = entries.reduce((sum, entry) => sum + remove.run(...entry).changes, 0)
    // Entries of one moment may be more than one portion.
    if (entries.length < atOnce && last > first) move.run(String(last), what)
    return { removed, isDone: entries.length < atOnce && last >= before - 1 }
  }

  function trim(limits: TrimLimits): TrimResult {
    const now = Date.now()
    // node:sqlite refuses a parameter that the statement does not name.
    const expired = takeNext('expired', Math.min(limits.olderThan, now), {})
    return expired.removed > 0 || !expired.isDone
      ? { ...expired, isDone: false }
      : takeNext('written', now, limits)
  }

  function eraseUser(userId: string): Erased {
    const [values, history, writers, actors] = [erase.values, erase.history, erase.writers, erase.actors].map(
      (statement) => statement.run(userId).changes,
    ) as [number, number, number, number]
    if (values + history + writers > 0)
      erase.erased.run({ now: Date.now(), seq: Number(erase.count.get() ?? 0) })
    const isDone = [values, history, writers, actors].every((rows) => rows < atOnce)
    return { values, history, mentions: writers + actors, isDone }
  }

  return { trim: immediate(client, trim), user: immediate(client, eraseUser) }
}

/** The statements by what they forget. */
function forgettingStatements(tables: SqliteTables) {
  const [values, history, meta] = [tables.values, tables.history, tables.meta].map(getTableName)
  const rowsOf = (table: string | undefined, columns: string, condition: string): string =>
    `(${columns}) in (select ${columns} from ${table} where ${condition} limit ${atOnce})`
  const value = 'scope, user_id, key'
  const entry = 'revision, scope, user_id, key'
  const isNewer = `exists (select 1 from ${history} n
        where n.key = o.key and n.scope = o.scope and n.user_id = o.user_id and n.revision > o.revision)`
  return {
    mark: `select value from ${meta} where name = ?`,
    move: `update ${meta} set value = ? where name = ?`,
    // Entries of one moment go together.
    bound: `select at from ${history} where at > ? and at < ? order by at limit 1 offset ${atOnce - 1}`,
    remove: `delete from ${history} where revision = ? and scope = ? and user_id = ? and key = ?`,
    expired: `select ${entry} from ${history} o where at > @first and at <= @last and ${isNewer} limit ${atOnce}`,
    // What is beyond the newest entries; and the oldest one, which was the newest when its time was over.
    written: `with written as materialized (
        select distinct key, scope, user_id from ${history} where at > @first and at <= @last
      ), beyond as (
        select written.*, (select revision from ${history} h
          where h.key = written.key and h.scope = written.scope and h.user_id = written.user_id
          order by revision desc limit 1 offset @perValue - 1) as revision from written
      ), oldest as (
        select written.*, (select min(revision) from ${history} h
          where h.key = written.key and h.scope = written.scope and h.user_id = written.user_id) as revision from written
      )
      select o.revision, o.scope, o.user_id, o.key from beyond cross join ${history} o
        on o.key = beyond.key and o.scope = beyond.scope and o.user_id = beyond.user_id and o.revision < beyond.revision
      union
      select o.revision, o.scope, o.user_id, o.key from oldest cross join ${history} o
        on o.key = oldest.key and o.scope = oldest.scope and o.user_id = oldest.user_id and o.revision = oldest.revision
      where o.at < @olderThan and ${isNewer} limit ${atOnce}`,
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
