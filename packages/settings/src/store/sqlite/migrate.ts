/** Brings the tables in SQLite up to date. */
import type { Database } from 'better-sqlite3'
import { effectiveMode, isOutdated, type MigrateMode } from '../options.ts'
import { migrations, migrationsFrom, type Schema, startCounting } from '../schema.ts'
import { schemaOf } from './print-sql.ts'

/**
 * Runs the missing migrations in one immediate transaction, whose lock makes processes that start together take turns.
 * @throws {FMOD_SETTINGS_SCHEMA_OUTDATED | FMOD_SETTINGS_SCHEMA_TOO_NEW}
 */
export function migrate(client: Database, prefix: string, wanted: MigrateMode): void {
  const schema = schemaOf(prefix)
  const mode = effectiveMode(wanted)
  if (mode === 'nothing') return
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
  const version = client.prepare<[], { readonly value: string }>(
    `select value from ${meta} where name = 'schema'`,
  )
  return Number(version.get()?.value ?? 0)
}
