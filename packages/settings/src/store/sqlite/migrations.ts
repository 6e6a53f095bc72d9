/** The schema in SQLite. */
import { plainHistory } from '../sqlite-tables.ts'
import { checkArgument, sqliteOptions } from '../options.ts'

/**
 * Each step is one script; its place in the list is its version. Append only: a step that was published never changes.
 * `prefix` is a checked identifier or empty.
 */
export const migrations: readonly ((prefix: string) => string)[] = [
  (prefix) => `\
create table ${prefix}settings_meta (
  name text not null primary key,
  value text not null
) without rowid, strict;

create table ${prefix}settings_value (
  scope integer not null check (scope in (0, 1, 2)),
  user_id text not null default '',
  key text not null,
  value text not null,
  encrypted integer not null default 0,
  revision integer not null,
  updated_at integer not null,
  updated_by text,
  primary key (scope, user_id, key),
  constraint ${prefix}settings_value_user check ((scope = 2) = (user_id <> ''))
) without rowid, strict;
create index ${prefix}settings_value_key on ${prefix}settings_value (key, scope);
create index ${prefix}settings_value_writer on ${prefix}settings_value (updated_by) where updated_by <> user_id;

create table ${prefix}settings_history (
  revision integer not null,
  scope integer not null,
  user_id text not null default '',
  key text not null,
  old_value text,
  old_encrypted integer not null default 0,
  new_value text,
  new_encrypted integer not null default 0,
  origin text not null,
  actor text,
  request_id text,
  note text,
  at integer not null,
  seq integer not null default 0,
  token text not null default '',
  set_size integer not null default 1,
  primary key (revision, scope, user_id, key)
) without rowid, strict;
create index ${prefix}settings_history_key on ${prefix}settings_history (key, scope, user_id, revision);
create index ${prefix}settings_history_plain on ${prefix}settings_history (key) where ${plainHistory};
create index ${prefix}settings_history_shared on ${prefix}settings_history (revision desc, scope, key) where scope < 2;
create index ${prefix}settings_history_user on ${prefix}settings_history (user_id, at, revision, key) where scope = 2;
create index ${prefix}settings_history_seq on ${prefix}settings_history (seq, user_id) where scope = 2;
create index ${prefix}settings_history_at on ${prefix}settings_history (at);
create index ${prefix}settings_history_actor on ${prefix}settings_history (actor) where actor <> user_id;

${startCounting(prefix)}`,
]

/** What is counted needs its row, also in tables of foreign migrations. */
export function startCounting(prefix: string): string {
  return `insert into ${prefix}settings_meta (name, value) values ('revision', '0'), ('expired', '0'), ('written', '0'), ('users', '0') on conflict (name) do nothing;\n`
}

/** Records the version that the tables have after a migration. */
export function recordVersion(prefix: string, version: number): string {
  return `insert into ${prefix}settings_meta (name, value) values ('schema', '${version}') on conflict (name) do update set value = excluded.value;\n`
}

/**
 * The statements that `migrate: 'auto'` runs on an empty database, for applications that run them themselves. One
 * transaction.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function printSql(options: { readonly tablePrefix?: string } = {}): string {
  checkArgument('sqlite', { name: 'options', schema: sqliteOptions, value: options })
  const { tablePrefix = '' } = options
  const steps = migrations.map((migration) => migration(tablePrefix))
  return `begin immediate;\n\n${steps.join('\n')}${recordVersion(tablePrefix, migrations.length)}\ncommit;\n`
}
