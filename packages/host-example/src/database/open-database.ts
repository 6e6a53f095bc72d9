/** Chooses the database, and the store of settings and the transport of events that share its connections. */
import type { EventsOptions } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { ConfigError, type DatabaseConfig } from '../config.ts'
import { createTables, type Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import { postgres } from '@fastify-modular/settings/postgres'
import { sqlite } from '@fastify-modular/settings/sqlite'
import type { SettingsStore } from '@fastify-modular/settings'

export interface HostDatabase extends Database {
  readonly settingsStore: SettingsStore
  readonly eventTransport: NonNullable<EventsOptions['transport']>
}

/**
 * Opens the database of the configuration, creating these tables where they are missing. `onError` is called for connections
 * that break while idle.
 * @throws {ConfigError} it cannot be opened
 */
export async function openDatabase(
  config: DatabaseConfig,
  onError: (error: Error) => void,
  tables = createTables,
): Promise<HostDatabase> {
  try {
    return await open(config, onError, tables)
  } catch (error) {
    const reason = error instanceof Error ? (error.cause instanceof Error ? error.cause : error).message : ''
    throw new ConfigError([`DATABASE_URL names a database that cannot be opened: ${reason}`])
  }
}

async function open(
  config: DatabaseConfig,
  onError: (error: Error) => void,
  tables: readonly string[],
): Promise<HostDatabase> {
  if (config.kind === 'sqlite') {
    const database = await openSqlite(config.file, tables)
    const { connection } = database
    return {
      ...database,
      settingsStore: sqlite({ database: connection }),
      eventTransport: sqliteOutbox({ database: connection }),
    }
  }
  const database = await openPostgres(config.url, onError, tables)
  const { pool } = database
  return {
    ...database,
    settingsStore: postgres({ pool }),
    eventTransport: pgBoss({ pool, timeouts: { close: 1000 } }),
  }
}
