/** The statements of writes in PostgreSQL. */
import { isOpenWindow, isSettledWindow } from '../windows.ts'
import type { PostgresNames } from './names.ts'

/** Rows travel as arrays, one for each column: the statements are the same for 1 row and for 500. */
export function writeStatements(names: PostgresNames) {
  const { values, history, meta } = names
  // The time-outs end a transaction whose process stopped while it held the lock; the others would wait for ever.
  // They are set by the statement that takes the first lock, and prepared: three statements less to parse. So is that the
  // others are planned once: PostgreSQL expects ten names of each array, and would plan anew for one, at half of the cost.
  const timeouts = `
      with timeouts as materialized (
        select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
          set_config('idle_in_transaction_session_timeout', $3, true), set_config('plan_cache_mode', 'force_generic_plan', true)
      )`
  const now = `(extract(epoch from clock_timestamp()) * 1000)::bigint as now`
  const found = `id.scope, id.owner, id.key,
        v.value, v.encrypted, v.revision, v.updated_at, v.updated_by,
        case when v.revision is null then (
          select max(h.revision) from ${history} h where (h.key, h.scope, h.owner) = (id.key, id.scope, id.owner)
        ) end as last`
  return {
    // Takes the lock of System and Application rows; selects the revision and the time of the server. `$1` to `$3` are the
    // time-outs of the server for a lock, a statement and an idle transaction, in milliseconds.
    lock: `${timeouts}
      select meta.value, ${now} from ${meta} as meta, timeouts where meta.name = 'revision' for update of meta`,
    // `$1` to `$3` name rows. Sent after the lock is held: an earlier statement would see rows as they were before it.
    // A lateral look-up per row: a join would be planned as a scan of the table whatever the number of rows asked for.
    // With each row that is missing comes the version of the value's newest entry of history; so it does below.
    find: `
      select ${found}
      from unnest($1::smallint[], $2::text[], $3::text[]) as id (scope, owner, key)
      left join lateral (
        select * from ${values} v
        where (v.scope, v.owner, v.key) = (id.scope, id.owner, id.key) limit 1
      ) as v on true`,
    windows: `select name, value from ${meta} where ${isOpenWindow}`,
    // Under the lock: nobody else saves one meanwhile.
    setWindow: `
      with forgotten as (delete from ${meta} where name < $3 and ${isSettledWindow})
      insert into ${meta} (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
    // Locks an owner out of all other writes; `$4` names the lock.
    // A statement of its own, because one that waited for a lock would see rows as they were before it.
    lockOwner: `${timeouts}
      select pg_advisory_xact_lock(hashtextextended($4::text, 0)) from timeouts`,
    // `$1` and `$2` name an owner, `$3` its rows.
    // Rows are locked in the order of the database, which compares bytes; that of our texts differs beyond U+FFFF: an
    // erasure of a user locks rows of others. The time is taken when the locks are held: above the join, for each row.
    findOwned: `
      select ${found}, ${now}
      from (
        select $1::smallint as scope, $2::text as owner, key from unnest($3::text[]) as named (key)
        order by key collate "C"
      ) as id
      left join lateral (
        select * from ${values} v where (v.scope, v.owner, v.key) = (id.scope, id.owner, id.key) for update
      ) as v on true`,
    ...saveStatements(names),
  }
}

/** Rows and history at once; of shared rows the revision, too. */
function saveStatements({ values, history, meta }: PostgresNames) {
  const change = `
      with change as materialized (
        select * from unnest($6::smallint[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::boolean[], $12::text[], $13::boolean[])
          as row (scope, owner, key, revision, old_value, old_encrypted, new_value, new_encrypted)
      ), noted as (
        insert into ${history} (revision, scope, owner, key, old_value, old_encrypted, new_value, new_encrypted,
          origin, actor, request_id, note, set_size, at, token)
        select revision, scope, owner, key, old_value, old_encrypted, new_value, new_encrypted,
          $3::text, $2::text, $4::text, $5::text, (select count(*) from change)::integer, $1::bigint, $14::text
        from change
      )`
  const save = `${change}, saved as (
        insert into ${values} (scope, owner, key, value, encrypted, revision, updated_at, updated_by)
        select scope, owner, key, new_value, new_encrypted, revision, $1::bigint, $2::text from change
        where new_value is not null
        on conflict (scope, owner, key) do update set value = excluded.value, encrypted = excluded.encrypted,
          revision = excluded.revision, updated_at = excluded.updated_at, updated_by = excluded.updated_by
      ), deleted as (
        delete from ${values} v using change c
        where c.new_value is null and (v.scope, v.owner, v.key) = (c.scope, c.owner, c.key)
      )`
  return {
    save: `${save}
      update ${meta} set value = $15::text where name = 'revision'`,
    saveOwned: `${save}
      select`,
  }
}
