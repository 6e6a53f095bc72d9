/** The statements of writes in PostgreSQL. */
import type { PostgresNames } from './names.ts'

export interface WriteStatements {
  /** Sent before all others. */
  readonly begin: string
  /**
   * Takes the lock of System and Application rows. Returns the revision and the time of the server. `$1` to `$3` are the
   * time-outs of the server for a lock, a statement and an idle transaction, in milliseconds.
   */
  readonly lock: string
  /** `$1` to `$3` name rows. Sent after the lock is held: an earlier statement would see rows as they were before it. */
  readonly find: string
  /**
   * Locks users out of all other writes; `$4` names their locks. A statement of its own, because one that waited for a lock
   * would see rows as they were before it.
   */
  readonly lockUsers: string
  /**
   * Locks users' rows in their order and returns them; `$1` and `$2` name them. With each one that is missing comes the
   * version of the value's newest entry of history.
   */
  readonly findUsers: string
  /** Rows, history and revision at once. */
  readonly save: string
  /** Rows and history of users. */
  readonly saveUsers: string
  /** `$1` to `$7` are values as they were read, and their new texts. */
  readonly reencryptValues: string
  /** `$1` to `$10` are rows of history as they were read, and their new texts. */
  readonly reencryptHistory: string
}

/** Rows travel as arrays, one for each column: the statements are the same for 1 row and for 500. */
export function writeStatements({ values, history, meta }: PostgresNames): WriteStatements {
  // The time-outs end a transaction whose process stopped while it held the lock; the others would wait for ever.
  // They are set by the statement that takes the first lock, and prepared: three statements less to parse. So is that the
  // others are planned once: PostgreSQL expects ten names of each array, and would plan anew for one, at half of the cost.
  const timeouts = `
      with timeouts as materialized (
        select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
          set_config('idle_in_transaction_session_timeout', $3, true), set_config('plan_cache_mode', 'force_generic_plan', true)
      )`
  const now = `(extract(epoch from clock_timestamp()) * 1000)::bigint as now`
  const change = `
      with change as materialized (
        select * from unnest($6::smallint[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::boolean[], $12::text[], $13::boolean[])
          as row (scope, user_id, key, revision, old_value, old_encrypted, new_value, new_encrypted)
      ), noted as (
        insert into ${history} (revision, scope, user_id, key, old_value, old_encrypted, new_value, new_encrypted,
          origin, actor, request_id, note, set_size, at, token)
        select revision, scope, user_id, key, old_value, old_encrypted, new_value, new_encrypted,
          $3::text, $2::text, $4::text, $5::text, (select count(*) from change)::integer, $1::bigint, $14::text
        from change
      )`
  const save = `${change}, saved as (
        insert into ${values} (scope, user_id, key, value, encrypted, revision, updated_at, updated_by)
        select scope, user_id, key, new_value, new_encrypted, revision, $1::bigint, $2::text from change
        where new_value is not null
        on conflict (scope, user_id, key) do update set value = excluded.value, encrypted = excluded.encrypted,
          revision = excluded.revision, updated_at = excluded.updated_at, updated_by = excluded.updated_by
      ), deleted as (
        delete from ${values} v using change c
        where c.new_value is null and (v.scope, v.user_id, v.key) = (c.scope, c.user_id, c.key)
      )`
  return {
    begin: 'begin isolation level read committed',
    lock: `${timeouts}
      select meta.value, ${now} from ${meta} as meta, timeouts where meta.name = 'revision' for update of meta`,
    // A lateral look-up per row: a join would be planned as a scan of the table whatever the number of rows asked for.
    find: `
      select v.* from unnest($1::smallint[], $2::text[], $3::text[]) as id (scope, user_id, key)
      cross join lateral (
        select * from ${values} v
        where (v.scope, v.user_id, v.key) = (id.scope, id.user_id, id.key) limit 1
      ) as v`,
    // In the order of the locks: two writes of several users take turns.
    lockUsers: `${timeouts}
      select pg_advisory_xact_lock(lock) from timeouts, (
        select distinct hashtextextended(name, 0) as lock from unnest($4::text[]) as name order by lock
      ) as ordered`,
    // Rows are locked in the order of the database, which compares bytes; that of our texts differs beyond U+FFFF: an
    // erasure locks rows of other users. The time is taken when the locks are held: above the join, for each row.
    findUsers: `
      select id.user_id, id.key, v.value, v.encrypted, v.revision, v.updated_at, v.updated_by, ${now},
        case when v.revision is null then (
          select max(h.revision) from ${history} h where (h.key, h.scope, h.user_id) = (id.key, id.scope, id.user_id)
        ) end as last
      from (
        select 2::smallint as scope, * from unnest($1::text[], $2::text[]) as named (user_id, key)
        order by user_id collate "C", key collate "C"
      ) as id
      left join lateral (
        select * from ${values} v where (v.scope, v.user_id, v.key) = (2, id.user_id, id.key) for update
      ) as v on true`,
    save: `${save}
      update ${meta} set value = $15::text where name = 'revision'`,
    saveUsers: `${save}
      select`,
    // Users' rows are locked in their order, as their writers do.
    reencryptValues: `
      with locked as materialized (
        select v.scope, v.user_id, v.key from (
          select * from unnest($1::smallint[], $2::text[], $3::text[]) as named (scope, user_id, key)
          order by scope, user_id collate "C", key collate "C"
        ) as id cross join lateral (
          select * from ${values} v where (v.scope, v.user_id, v.key) = (id.scope, id.user_id, id.key) for update
        ) as v
      )
      update ${values} v set value = r.new_value, encrypted = r.encrypted
      from unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::boolean[])
        as r (scope, user_id, key, revision, value, new_value, encrypted)
      join locked l on (l.scope, l.user_id, l.key) = (r.scope, r.user_id, r.key)
      where (v.scope, v.user_id, v.key) = (l.scope, l.user_id, l.key)
        and v.revision = r.revision and v.value = r.value`,
    reencryptHistory: `
      update ${history} h set old_value = r.old_value, old_encrypted = r.old_encrypted,
        new_value = r.new_value, new_encrypted = r.new_encrypted
      from unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[],
        $7::text[], $8::boolean[], $9::text[], $10::boolean[])
        as r (scope, user_id, key, revision, found_old, found_new, old_value, old_encrypted, new_value, new_encrypted)
      where (h.revision, h.scope, h.user_id, h.key) = (r.revision, r.scope, r.user_id, r.key)
        and h.old_value is not distinct from r.found_old and h.new_value is not distinct from r.found_new`,
  }
}
