/** What the PostgreSQL store forgets: old history, and users who are erased; in portions. */
import type { Pool, PoolClient } from 'pg'
import type { SqlForgetting } from '../sql-store.ts'
import type { Erased, TrimResult } from '../store.ts'
import { orStoreFailure } from './connection.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresWriter } from './write.ts'

interface ForgettingInit {
  readonly pool: Pool
  readonly names: PostgresNames
  readonly writer: Pick<PostgresWriter, 'underLock'>
  /** Called also after an erasure that failed: it may have been committed. */
  readonly onErased: (userId: string) => void
}

/** Rows that one transaction takes from a table. */
const atOnce = 500

export function createForgetting({ pool, names, writer, onErased }: ForgettingInit): SqlForgetting {
  const statements = forgettingStatements(names)

  /** Takes the next entries of a span of time that begins at a mark, and moves the mark; all done where it is locked. */
  async function takeNext(statement: string, values: readonly unknown[]): Promise<TrimResult> {
    const { rows } = await orStoreFailure(pool.query<TrimResult>(statement, [...values]))
    return rows[0] ?? { removed: 0, isDone: true }
  }

  /**
   * Erases one portion of a user, under the lock of the revision, which erasures and encryption take too, and that of the
   * user: no write of the user's rows is under way. Others' rows are locked in their order, as their writers do.
   */
  async function erase(client: PoolClient, userId: string): Promise<Erased> {
    const run = async (statement: string, parameters: readonly unknown[] = [userId]): Promise<number> =>
      (await client.query(statement, [...parameters])).rowCount ?? 0
    await run(statements.lockUser, [names.userLock(userId)])
    const values = await run(statements.deleteValues)
    const history = await run(statements.deleteHistory)
    const { rows } = await client.query<Written>(statements.lockWritten, [userId])
    const columns = (['scope', 'user_id', 'key'] as const).map((name) => rows.map((row) => row[name]))
    const writers = await run(statements.anonymousValues, [userId, ...columns])
    const actors = await run(statements.anonymousHistory)
    if (values + history + writers > 0) await run(statements.erased, [])
    const isDone = [values, history, rows.length, actors].every((count) => count < atOnce)
    return { values, history, mentions: writers + actors, isDone }
  }

  return {
    trim: async ({ olderThan, perValue }) => {
      const expired = await takeNext(statements.expired, [olderThan])
      return expired.removed > 0 || !expired.isDone
        ? { ...expired, isDone: false }
        : takeNext(statements.written, [olderThan, perValue])
    },
    user: (userId) => writer.underLock((client) => erase(client, userId)).finally(() => onErased(userId)),
  }
}

/** A row that names the user as its writer. */
interface Written {
  readonly scope: number
  readonly user_id: string
  readonly key: string
}

/** The statements by what they forget. */
function forgettingStatements({ values, history, meta }: PostgresNames) {
  const now = `(extract(epoch from clock_timestamp()) * 1000)::bigint`
  const limited = (table: string, condition: string): string =>
    `ctid = any (array(select ctid from ${table} where ${condition} limit ${atOnce} for update))`
  /** `before`: the end of the span; `old`: selects the ctid of what is to go. Entries of one moment go together. */
  const trimmed = (mark: string, before: string, old: string): string => `
      with mark as materialized (
        select value::bigint as first, ${before} as before from ${meta} where name = '${mark}' for update skip locked
      ), span as materialized (
        select first, before, coalesce((select at from ${history} where at > first and at < before
          order by at limit 1 offset ${atOnce - 1}), before - 1) as last from mark
      ), gone as (
        delete from ${history} where ctid = any (array(
          select free.ctid from (${old} limit ${atOnce}) as old
          cross join lateral (select h.ctid from ${history} h where h.ctid = old.ctid for update skip locked) as free))
        returning 1
      ), removed as materialized (
        select count(*)::int as rows from gone
      ), moved as (
        update ${meta} set value = last::text from span, removed
        where name = '${mark}' and last > first and removed.rows < ${atOnce}
      )
      select removed.rows as removed, removed.rows < ${atOnce} and last >= before - 1 as "isDone" from span, removed`
  const isNewer = (entry: string): string => `exists (
            select from ${history} n where (n.key, n.scope, n.user_id) = (${entry}.key, ${entry}.scope, ${entry}.user_id)
              and n.revision > ${entry}.revision)`
  return {
    // `$1`: older than.
    expired: trimmed(
      'expired',
      `least($1::bigint, ${now})`,
      `select o.ctid from span, ${history} o where o.at > span.first and o.at <= span.last and ${isNewer('o')}`,
    ),
    // `$1`: older than, `$2`: entries of a value. The oldest entry was the newest one when its time was over.
    written: trimmed(
      'written',
      now,
      `select o.ctid from (
            select distinct h.key, h.scope, h.user_id from span, ${history} h where h.at > span.first and h.at <= span.last
          ) as written cross join lateral (
            (select h.ctid from ${history} h
              where (h.key, h.scope, h.user_id) = (written.key, written.scope, written.user_id)
              order by h.revision desc limit ${atOnce} offset $2::bigint)
            union
            (select o.ctid from (
              select ctid, * from ${history} h
              where (h.key, h.scope, h.user_id) = (written.key, written.scope, written.user_id)
              order by h.revision limit 1
            ) as o where o.at < $1::bigint and ${isNewer('o')})
          ) as o`,
    ),
    lockUser: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    deleteValues: `delete from ${values} where ${limited(values, 'scope = 2 and user_id = $1')}`,
    deleteHistory: `delete from ${history} where ${limited(history, 'scope = 2 and user_id = $1')}`,
    // Locked by a statement of its own: one that waits for a lock does not find what it has waited for by its ctid.
    lockWritten: `select id.* from (
        select scope, user_id, key from (
          select scope, user_id, key from ${values} where updated_by = $1 and updated_by <> user_id limit ${atOnce}
        ) as named order by scope, user_id, key
      ) as id left join lateral (
        select from ${values} v where (v.scope, v.user_id, v.key) = (id.scope, id.user_id, id.key) for update
      ) as v on true`,
    anonymousValues: `update ${values} set updated_by = null where ctid = any (array(
        select v.ctid from unnest($2::smallint[], $3::text[], $4::text[]) as id (scope, user_id, key)
        cross join lateral (
          select ctid from ${values} v
          where (v.scope, v.user_id, v.key) = (id.scope, id.user_id, id.key) and v.updated_by = $1 limit 1
        ) as v))`,
    anonymousHistory: `update ${history} set actor = null, note = null
      where ${limited(history, 'actor = $1 and actor <> user_id')}`,
    // Found by instances that were not notified: all forget all users.
    erased: `insert into ${history} (revision, scope, user_id, key, origin, at)
      values (${now}, 2, '', '', 'erased', ${now})
      on conflict (revision, scope, user_id, key) do update set xid = pg_current_xact_id()`,
  }
}
