/** Brings the tables in SQLite up to date. */
import type { Database } from 'better-sqlite3'
import { checkArgument, isOutdated, type MigrateMode, sqliteOptions } from '../options.ts'
import { migrations, migrationsFrom, type Schema, startCounting } from '../schema.ts'

/** The schema under a prefix, which is a checked identifier or empty. */
function schemaOf(prefix: string): Schema {
  const name = (name: string): string => prefix + name
  return {
    values: name('settings_value'),
    history: name('settings_history'),
    meta: name('settings_meta'),
    name,
    types: { scope: 'integer', name: 'text', number: 'integer', flag: 'integer' },
    counted: { column: 'seq integer not null default 0', index: '(seq, user_id)' },
    ending: ' without rowid, strict',
    counters: ['revision', 'expired', 'written', 'users'],
    random: 'lower(hex(randomblob(16)))',
  }
}

/**
 * Runs the missing migrations in one immediate transaction, whose lock makes processes that start together take turns.
 * @throws {FMOD_SETTINGS_SCHEMA_OUTDATED | FMOD_SETTINGS_SCHEMA_TOO_NEW}
 */
export function migrate(client: Database, prefix: string, mode: MigrateMode): void {
  const schema = schemaOf(prefix)
  if (mode === false) return void client.exec(startCounting(schema))
  const state = { store: 'sqlite', mode, known: migrations.length } as const
  if (!isOutdated({ ...state, found: readVersion(client, schema) })) return
  const run = client.transaction(() => {
    const found = readVersion(client, schema) // another process may have been faster
    if (isOutdated({ ...state, found })) client.exec(migrationsFrom(found, schema).join(''))
  })
  run.immediate()
}

function readVersion(client: Database, { meta }: Schema): number {
  const exists = client.prepare("select 1 from sqlite_schema where type = 'table' and name = ?")
  if (!exists.get(meta)) return 0
  return Number(client.prepare(`select value from ${meta} where name = 'schema'`).pluck().get() ?? 0)
}

/**
 * The statements that `migrate: 'auto'` runs on an empty database, for applications that run them themselves. One
 * transaction.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function printSql(options: { readonly tablePrefix?: string } = {}): string {
  checkArgument('sqlite', { name: 'options', schema: sqliteOptions, value: options })
  return `begin immediate;\n\n${migrationsFrom(0, schemaOf(options.tablePrefix ?? '')).join('\n')}\ncommit;\n`
}
