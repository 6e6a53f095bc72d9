/** What the PostgreSQL store forgets: old history, and users who are erased; in portions. */
import type { Pool, PoolClient } from 'pg'
import { Portion } from '../plan-write.ts'
import type { Erased, TrimResult } from '../store.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresWriter } from './write.ts'

export interface PostgresForgetting {
  claim(interval: number): Promise<boolean>
  history(olderThan: number, after: number): Promise<TrimResult>
  user(userId: string): Promise<Erased>
}

/** Rows of each table that one transaction takes from a user. */
const erasedAtOnce = 500

/** The longest that one portion should take: writers do not wait for it, the disk does. */
const portionInit = { first: 500, least: 100, most: 1000, limit: 60 }

export function createForgetting(
  pool: Pool,
  names: PostgresNames,
  underLock: PostgresWriter['underLock'],
): PostgresForgetting {
  const statements = forgettingStatements(names)
  const portion = new Portion(portionInit)

  async function trim(statement: string, values: readonly unknown[]): Promise<TrimResult> {
    const start = performance.now()
    const { rows } = await pool.query<{ removed: number; next: string | null }>(statement, [
      ...values,
      portion.rows,
      names.channel,
    ])
    portion.took(performance.now() - start)
    const { removed = 0, next = null } = rows[0] ?? {}
    return { removed, next: next === null ? null : Number(next) }
  }

  return {
    claim: async (interval) => (await pool.query(statements.claim, [interval])).rowCount === 1,
    history: (olderThan, after) => trim(statements.history, [after, olderThan]),
    user: (userId) => underLock((client) => eraseUser(client, names, statements, userId)),
  }
}

/**
 * Erases one portion of a user, under the lock of the revision, which erasures and rewrapping take too, and that of the
 * user: no write of the user's rows is under way. Others' rows are locked in their order, as their writers do.
 */
async function eraseUser(
  client: PoolClient,
  names: PostgresNames,
  statements: ForgettingStatements,
  userId: string,
): Promise<Erased> {
  const run = async (statement: string, values: readonly unknown[] = [userId]): Promise<number> =>
    (await client.query(statement, [...values])).rowCount ?? 0
  await run(statements.lockUser, [names.userLock(userId)])
  const values = await run(statements.deleteValues)
  const history = await run(statements.deleteHistory)
  const written = await client.query<Written>(statements.lockWritten, [userId])
  const columns = (['scope', 'user_id', 'key'] as const).map((name) => written.rows.map((row) => row[name]))
  const writers = await run(statements.anonymousValues, [userId, ...columns])
  const actors = await run(statements.anonymousHistory)
  if (values + history + writers > 0) await run(statements.erased, [])
  const isDone = [values, history, written.rows.length, actors].every((rows) => rows < erasedAtOnce)
  return { values, history, mentions: writers + actors, isDone }
}

/** A row that names the user as its writer. */
interface Written {
  readonly scope: number
  readonly user_id: string
  readonly key: string
}

type ForgettingStatements = ReturnType<typeof forgettingStatements>

/** The statements by what they forget. */
function forgettingStatements({ values, history, meta }: PostgresNames) {
  const now = `(extract(epoch from clock_timestamp()) * 1000)::bigint`
  const limited = (table: string, condition: string): string =>
    `ctid = any (array(select ctid from ${table} where ${condition} limit ${erasedAtOnce} for update))`
  // Besides the claim, a lock for as long as the portion takes: transaction poolers take locks of sessions away.
  const gate = (lock: string): string => `
      with gate as materialized (select pg_try_advisory_xact_lock(hashtextextended(${lock} || '.trim', 0)) as mine)`
  return {
    claim: `update ${meta} set value = ${now}::text
      where name = 'trimmed' and value::bigint <= ${now} - $1::bigint`,
    // `$1`: after, `$2`: older than, `$3`: how many entries to look at, `$4`: the lock. Entries of one moment go together.
    history: `${gate('$4::text')}, bound as materialized (
        select coalesce((select at from ${history} where at > $1::bigint and at < $2::bigint
          order by at limit 1 offset $3::int - 1), $2::bigint - 1) as at
      ), gone as (
        delete from ${history} where ctid = any (array(
          select o.ctid from ${history} o, gate, bound where gate.mine and o.at > $1::bigint and o.at <= bound.at
            and exists (select from ${history} n where (n.key, n.scope, n.user_id) = (o.key, o.scope, o.user_id)
              and n.revision > o.revision)
          for update of o skip locked))
        returning 1
      )
      select (select count(*)::int from gone) as removed,
        case when bound.at < $2::bigint - 1 and gate.mine then bound.at end as next from bound, gate`,
    lockUser: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    deleteValues: `delete from ${values} where ${limited(values, 'scope = 2 and user_id = $1')}`,
    deleteHistory: `delete from ${history} where ${limited(history, 'scope = 2 and user_id = $1')}`,
    // Locked by a statement of its own: one that waits for a lock does not find what it has waited for by its ctid.
    lockWritten: `select id.* from (
        select scope, user_id, key from (
          select scope, user_id, key from ${values} where updated_by = $1 and updated_by <> user_id limit ${erasedAtOnce}
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
