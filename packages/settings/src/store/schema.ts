/** The tables in SQL, alike in both engines but for the types of columns; and the versions of them. */
import { SettingScope } from '../setting-definition.ts'

/** The condition of a partial index; a statement has to repeat it to use the index. */
export const plainHistory =
  '((new_value is not null and not new_encrypted) or (old_value is not null and not old_encrypted))'

/** Whether a row that names a user as its writer is not the user's own. */
export function isMention(column: 'updated_by' | 'actor'): string {
  return `(scope <> ${SettingScope.User} or ${column} <> owner)`
}

/** What differs between the engines. */
export interface Schema {
  /** Tables, ready for SQL. */
  readonly values: string
  readonly history: string
  readonly meta: string
  /** Puts the prefix of the tables before a name. */
  readonly name: (name: string) => string
  readonly types: Readonly<Record<'scope' | 'name' | 'number' | 'flag', string>>
  /** The column by which owners that were written are found, and the columns of its index. */
  readonly counted: { readonly column: string; readonly index: string }
  /** What follows the columns of a table. */
  readonly ending: string
  /** What is counted in `meta`. */
  readonly counters: readonly string[]
}

/**
 * Each step is one script; its place in the list is its version. Append only: a step that was published never changes.
 * No index on what a write changes in a value: PostgreSQL would have to touch all. The one by key has whole names, or
 * plans made while a table is empty would look one row up among all owners of its key.
 */
export const migrations: readonly ((schema: Schema) => string)[] = [
  ({ values, history, meta, name, types, counted, ending, ...schema }) => `\
create table ${meta} (
  name text not null primary key,
  value text not null
)${ending};

create table ${values} (
  scope ${types.scope} not null check (scope in (0, 1, 2, 3)),
  owner ${types.name} not null default '',
  key ${types.name} not null,
  value text not null,
  encrypted ${types.flag} not null default false,
  revision ${types.number} not null,
  updated_at ${types.number} not null,
  updated_by text,
  primary key (scope, owner, key),
  constraint "${name('settings_value_owner')}" check ((scope >= 2) = (owner <> ''))
)${ending};
create index "${name('settings_value_key')}" on ${values} (key, scope, owner);
create index "${name('settings_value_writer')}" on ${values} (updated_by)
  where updated_by is not null and ${isMention('updated_by')};

create table ${history} (
  revision ${types.number} not null,
  scope ${types.scope} not null,
  owner ${types.name} not null default '',
  key ${types.name} not null,
  old_value text,
  old_encrypted ${types.flag} not null default false,
  new_value text,
  new_encrypted ${types.flag} not null default false,
  origin text not null,
  actor text,
  request_id text,
  note text,
  at ${types.number} not null,
  ${counted.column},
  token text not null default '',
  set_size integer not null default 1,
  primary key (revision, scope, owner, key)
)${ending};
create index "${name('settings_history_key')}" on ${history} (key, scope, owner, revision);
create index "${name('settings_history_plain')}" on ${history} (key) where ${plainHistory};
create index "${name('settings_history_shared')}" on ${history} (revision desc, scope, key) where scope < 2;
create index "${name('settings_history_owner')}" on ${history} (scope, owner, at, revision, key) where scope >= 2;
create index "${name('settings_history_written')}" on ${history} ${counted.index} where scope >= 2;
create index "${name('settings_history_at')}" on ${history} (at);
create index "${name('settings_history_actor')}" on ${history} (actor)
  where actor is not null and ${isMention('actor')};

${startCounting({ meta, ...schema })}`,
]

/** What is counted needs its row, also in tables of foreign migrations. */
export function startCounting({ meta, counters }: Pick<Schema, 'meta' | 'counters'>): string {
  const rows = counters.map((counter) => `('${counter}', '0')`).join(', ')
  return `insert into ${meta} (name, value) values ${rows} on conflict (name) do nothing;\n`
}

/** The statements that tables of version `from` lack, and one that records the version that they have then. */
export function migrationsFrom(from: number, schema: Schema): readonly string[] {
  const version = `insert into ${schema.meta} (name, value) values ('schema', '${migrations.length}') on conflict (name) do update set value = excluded.value;\n`
  return [...migrations.slice(from).map((migration) => migration(schema)), version]
}
