/** The SQL of a write in PostgreSQL. Rows travel as arrays, one for each column: the statements are the same for 1 and for 500. */
import { trimmedAtOnce } from '../trim-turns.ts'
import type { PostgresNames } from './names.ts'

export interface PostgresWrites {
  /** Sent before all others. */
  readonly begin: string
  /**
   * Takes the lock that makes writers take turns: commit order is revision order. Answers the revision. `$1` to `$3` are
   * the time-outs of the server for a lock, a statement and an idle transaction, in milliseconds.
   */
  readonly lock: string
  /** `$1` to `$3` name rows. Sent after the lock is held: an earlier statement would see rows as they were before it. */
  readonly find: string
  /** Rows, history (with the trimming of the values named last), revision and notification at once. */
  readonly apply: string
  /** `$1` to `$7` are values as they were read, and their new texts. */
  readonly resealValues: string
  /** `$1` to `$10` are rows of history as they were read, and their new texts. */
  readonly resealHistory: string
  readonly pruneHistory: string
}

/** Writes the statements down. */
export function writeStatements({ values, history, meta }: PostgresNames): PostgresWrites {
  return {
    begin: 'begin isolation level read committed',
    // The time-outs end a transaction whose process stopped while it held the lock; the others would wait for ever.
    // They are set before the row is locked, because rows are locked last, and prepared: three statements less to parse.
    lock: `
      with timeouts as materialized (
        select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
          set_config('idle_in_transaction_session_timeout', $3, true)
      )
      select meta.value from ${meta} as meta, timeouts where meta.name = 'revision' for update of meta`,
    // A lateral look-up per row: a join would be planned as a scan of the table whatever the number of rows asked for.
    find: `
      select v.* from unnest($1::smallint[], $2::text[], $3::text[]) as id (scope, user_id, key)
      cross join lateral (
        select * from ${values} v
        where (v.scope, v.user_id, v.key) = (id.scope, id.user_id, id.key) limit 1
      ) as v`,
    apply: `
      with change as materialized (
        select * from unnest($7::smallint[], $8::text[], $9::text[], $10::text[], $11::boolean[], $12::text[], $13::boolean[])
          as row (scope, user_id, key, old_value, old_sealed, new_value, new_sealed)
      ), saved as (
        insert into ${values} (scope, user_id, key, value, sealed, revision, updated_at, updated_by)
        select scope, user_id, key, new_value, new_sealed, $1::bigint, $2::bigint, $3::text
        from change where new_value is not null
        on conflict (scope, user_id, key) do update set value = excluded.value, sealed = excluded.sealed,
          revision = excluded.revision, updated_at = excluded.updated_at, updated_by = excluded.updated_by
      ), deleted as (
        delete from ${values} v using change c
        where c.new_value is null and (v.scope, v.user_id, v.key) = (c.scope, c.user_id, c.key)
      ), noted as (
        insert into ${history} (revision, scope, user_id, key, old_value, old_sealed, new_value, new_sealed,
          origin, actor, request_id, note, at)
        select $1::bigint, scope, user_id, key, old_value, old_sealed, new_value, new_sealed,
          $4::text, $3::text, $5::text, $6::text, $2::bigint
        from change
      ), trimmed as (
        delete from ${history} h using unnest($15::smallint[], $16::text[], $17::text[]) as due (scope, user_id, key)
        cross join lateral (
          select o.revision from ${history} o
          where (o.key, o.scope, o.user_id) = (due.key, due.scope, due.user_id)
          order by o.revision desc limit ${trimmedAtOnce} offset $18::int - 1 -- the entry of this write is not seen here
        ) as old
        where (h.revision, h.scope, h.user_id, h.key) = (old.revision, due.scope, due.user_id, due.key)
      ), counted as (
        update ${meta} set value = ($1::bigint)::text where name = 'revision'
      )
      select pg_notify($14::text, ($1::bigint)::text)`,
    resealValues: `
      update ${values} v set value = r.new_value, sealed = r.sealed
      from unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::boolean[])
        as r (scope, user_id, key, revision, value, new_value, sealed)
      where (v.scope, v.user_id, v.key) = (r.scope, r.user_id, r.key)
        and v.revision = r.revision and v.value = r.value`,
    resealHistory: `
      update ${history} h set old_value = r.old_value, old_sealed = r.old_sealed,
        new_value = r.new_value, new_sealed = r.new_sealed
      from unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[],
        $7::text[], $8::boolean[], $9::text[], $10::boolean[])
        as r (scope, user_id, key, revision, found_old, found_new, old_value, old_sealed, new_value, new_sealed)
      where (h.revision, h.scope, h.user_id, h.key) = (r.revision, r.scope, r.user_id, r.key)
        and h.old_value is not distinct from r.found_old and h.new_value is not distinct from r.found_new`,
    pruneHistory: `
      delete from ${history} where (revision, scope, user_id, key) in (
        select revision, scope, user_id, key from (
          select revision, scope, user_id, key, at,
            row_number() over (partition by scope, user_id, key order by revision desc) as place
          from ${history}) as newest_first
        where place > 1 and (place > $1::bigint or at < $2::bigint))`,
  }
}
