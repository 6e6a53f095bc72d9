/** The schema in PostgreSQL, step by step. Append only: a step that was released never changes. */
import { checkArgument, postgresOptions, type PrintOptions, printOptions } from '../options.ts'
import { type PostgresNames, postgresNames, type PostgresTableNames } from './names.ts'

/** The condition of the partial index; a statement has to repeat it to use the index. */
export const plainHistory =
  '((new_value is not null and not new_sealed) or (old_value is not null and not old_sealed))'

/**
 * Each step is one script; its place in the list is its version. Names are compared byte by byte (`collate "C"`), as
 * SQLite does: that is what keys and ids mean, and it is fast.
 */
export const migrations: readonly ((names: PostgresNames) => string)[] = [
  ({ prefix, values, history, meta }) => `\
create table ${meta} (
  name text not null primary key,
  value text not null
);

create table ${values} (
  scope smallint not null check (scope in (0, 1, 2)),
  user_id text collate "C" not null default '',
  key text collate "C" not null,
  value text not null,
  sealed boolean not null default false,
  revision bigint not null,
  updated_at bigint not null,
  updated_by text,
  primary key (scope, user_id, key),
  constraint "${prefix}settings_value_user" check ((scope = 2) = (user_id <> ''))
);

create table ${history} (
  revision bigint not null,
  scope smallint not null,
  user_id text collate "C" not null default '',
  key text collate "C" not null,
  old_value text,
  old_sealed boolean not null default false,
  new_value text,
  new_sealed boolean not null default false,
  origin text not null,
  actor text,
  request_id text,
  note text,
  at bigint not null,
  primary key (revision, scope, user_id, key)
);

create index "${prefix}settings_history_key" on ${history} (key, scope, user_id, revision);

insert into ${meta} (name, value) values ('revision', '0');
`,
  // Finds at boot, whatever the size of the history, the secrets in it that are not sealed.
  ({ prefix, history }) => `\
create index "${prefix}settings_history_plain" on ${history} (key) where ${plainHistory};
`,
  // Users' rows get versions of their own. No index on what a write changes in a row: PostgreSQL would have to touch all.
  ({ prefix, values, history, meta, name }) => `\
alter table ${values} alter column value drop not null;
alter table ${values} add constraint "${prefix}settings_value_set" check (value is not null or scope = 2);
create index "${prefix}settings_value_key" on ${values} (key, scope);
create index "${prefix}settings_value_writer" on ${values} (updated_by) where updated_by <> user_id;

alter table ${history} add column xid xid8 not null default pg_current_xact_id();
create index "${prefix}settings_history_shared" on ${history} (revision desc, scope, key) where scope < 2;
create index "${prefix}settings_history_user" on ${history} (user_id, at, revision, key) where scope = 2;
create index "${prefix}settings_history_xid" on ${history} (xid) include (user_id) where scope = 2;
create index "${prefix}settings_history_at" on ${history} (at);
create index "${prefix}settings_history_unset" on ${history} (at) where scope = 2 and new_value is null;
create index "${prefix}settings_history_actor" on ${history} (actor) where actor <> user_id;

insert into ${meta} (name, value) values ('trimmed', '0') on conflict (name) do nothing;

-- Instances of the version before give users' rows the shared revision, hold its lock and read the rows without one. While
-- they run beside this version, they must not overwrite what they may not have seen: what it wrote in the last minute.
create function ${name('settings_value_keep')}() returns trigger language plpgsql set search_path from current as $$
begin
  if old.revision > 1000000000000 and old.updated_at > extract(epoch from clock_timestamp()) * 1000 - 60000
    and exists (select from ${meta} m where m.name = 'revision'
      and (pg_current_xact_id()::text::bigint % 4294967296)::text in (m.xmin::text, m.xmax::text)) then
    raise exception 'an instance of a later version has just written this value' using errcode = '40001';
  end if;
  if tg_op = 'DELETE' then return old; end if;
  return new;
end $$;
create trigger "${prefix}settings_keep_updated" before update on ${values} for each row
  when (new.scope = 2 and new.revision < 1000000000000) execute function ${name('settings_value_keep')}();
create trigger "${prefix}settings_keep_deleted" before delete on ${values} for each row
  when (old.scope = 2 and old.value is not null) execute function ${name('settings_value_keep')}();
`,
]

/** Records the version that the tables have after a migration. */
export function recordVersion(names: PostgresNames, version: number): string {
  return `insert into ${names.meta} (name, value) values ('schema', '${version}') on conflict (name) do update set value = excluded.value;\n`
}

/**
 * The statements that `migrate: 'auto'` runs, for applications that run them themselves: on an empty database, or on tables
 * of an earlier version with `from`. One transaction.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function printSql({ from = 0, ...options }: PostgresTableNames & PrintOptions = {}): string {
  const schema = printOptions(postgresOptions, migrations.length)
  checkArgument('postgres', { name: 'options', schema, value: { from, ...options } })
  const names = postgresNames(options)
  const place =
    names.schema === undefined || from > 0 ? '' : `create schema if not exists "${names.schema}";\n\n`
  const steps = migrations.slice(from).map((migration) => migration(names))
  return `begin;\n\n${place}${steps.join('\n')}${recordVersion(names, migrations.length)}\ncommit;\n`
}
