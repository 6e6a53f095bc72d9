/** The schema in PostgreSQL. */
import { checkArgument, postgresOptions, type PostgresTableNames } from '../options.ts'
import { plainHistory } from '../postgres-tables.ts'
import { type PostgresNames, postgresNames } from './names.ts'

/**
 * Each step is one script; its place in the list is its version. Append only: a step that was published never changes.
 * Names are compared byte by byte (`collate "C"`), as SQLite does: that is what keys and ids mean, and it is fast.
 */
export const migrations: readonly ((names: PostgresNames) => string)[] = [
  // No index on what a write changes in a value: PostgreSQL would have to touch all. The one by key has whole names, or
  // plans made while a table is empty would look one row up among all users of its key.
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
  encrypted boolean not null default false,
  revision bigint not null,
  updated_at bigint not null,
  updated_by text,
  primary key (scope, user_id, key),
  constraint "${prefix}settings_value_user" check ((scope = 2) = (user_id <> ''))
);
create index "${prefix}settings_value_key" on ${values} (key, scope, user_id);
create index "${prefix}settings_value_writer" on ${values} (updated_by) where updated_by <> user_id;

create table ${history} (
  revision bigint not null,
  scope smallint not null,
  user_id text collate "C" not null default '',
  key text collate "C" not null,
  old_value text,
  old_encrypted boolean not null default false,
  new_value text,
  new_encrypted boolean not null default false,
  origin text not null,
  actor text,
  request_id text,
  note text,
  at bigint not null,
  xid xid8 not null default pg_current_xact_id(),
  token text not null default '',
  set_size integer not null default 1,
  primary key (revision, scope, user_id, key)
);
create index "${prefix}settings_history_key" on ${history} (key, scope, user_id, revision);
create index "${prefix}settings_history_plain" on ${history} (key) where ${plainHistory};
create index "${prefix}settings_history_shared" on ${history} (revision desc, scope, key) where scope < 2;
create index "${prefix}settings_history_user" on ${history} (user_id, at, revision, key) where scope = 2;
create index "${prefix}settings_history_xid" on ${history} (xid) include (user_id) where scope = 2;
create index "${prefix}settings_history_at" on ${history} (at);
create index "${prefix}settings_history_actor" on ${history} (actor) where actor <> user_id;

${startCounting({ meta })}`,
]

/** What is counted needs its row, also in tables of foreign migrations. */
export function startCounting({ meta }: Pick<PostgresNames, 'meta'>): string {
  return `insert into ${meta} (name, value) values ('revision', '0'), ('expired', '0'), ('written', '0') on conflict (name) do nothing;\n`
}

/** Records the version that the tables have after a migration. */
export function recordVersion(names: PostgresNames, version: number): string {
  return `insert into ${names.meta} (name, value) values ('schema', '${version}') on conflict (name) do update set value = excluded.value;\n`
}

/**
 * The statements that `migrate: 'auto'` runs on an empty database, for applications that run them themselves. One
 * transaction.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function printSql(options: PostgresTableNames = {}): string {
  checkArgument('postgres', { name: 'options', schema: postgresOptions, value: options })
  const names = postgresNames(options)
  const place = names.schema === undefined ? '' : `create schema if not exists "${names.schema}";\n\n`
  const steps = migrations.map((migration) => migration(names))
  return `begin;\n\n${place}${steps.join('\n')}${recordVersion(names, migrations.length)}\ncommit;\n`
}
