/** Brings the tables in SQLite up to date. */
import type { Database } from 'better-sqlite3'
import { isOutdated, type MigrateMode } from '../options.ts'
import { migrations, recordVersion, startCounting } from './migrations.ts'

/**
 * Runs the missing migrations in one immediate transaction, whose lock makes processes that start together take turns.
 * @throws {FMOD_SETTINGS_SCHEMA_OUTDATED | FMOD_SETTINGS_SCHEMA_TOO_NEW}
 */
export function migrate(client: Database, prefix: string, mode: MigrateMode): void {
  if (mode === false) return void client.exec(startCounting(prefix))
  const schema = { store: 'sqlite', mode, known: migrations.length } as const
  if (!isOutdated({ ...schema, found: readVersion(client, prefix) })) return
  const run = client.transaction(() => {
    const found = readVersion(client, prefix) // another process may have been faster
    if (!isOutdated({ ...schema, found })) return
    for (const migration of migrations.slice(found)) client.exec(migration(prefix))
    client.exec(recordVersion(prefix, migrations.length))
  })
  run.immediate()
}

function readVersion(client: Database, prefix: string): number {
  const exists = client.prepare("select 1 from sqlite_schema where type = 'table' and name = ?")
  if (!exists.get(`${prefix}settings_meta`)) return 0
  const version = client.prepare(`select value from ${prefix}settings_meta where name = 'schema'`).pluck()
  return Number(version.get() ?? 0)
}
