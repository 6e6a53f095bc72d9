/** Chooses the database and the store of settings that shares its connections. */
import type { DatabaseConfig } from '../config.ts'
import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import { postgres } from '@fastify-modular/settings/postgres'
import { sqlite } from '@fastify-modular/settings/sqlite'
import type { SettingsStore } from '@fastify-modular/settings'

export interface HostDatabase extends Database {
  readonly settingsStore: SettingsStore
}

/** Opens the database of the configuration; `onError` hears of connections that break while idle. */
export async function openDatabase(
  config: DatabaseConfig,
  onError: (error: Error) => void,
): Promise<HostDatabase> {
  if (config.kind === 'sqlite') {
    const database = openSqlite(config.file)
    return { ...database, settingsStore: sqlite({ database: database.connection }) }
  }
  const database = await openPostgres(config.url, onError)
  return { ...database, settingsStore: postgres({ pool: database.pool }) }
}
