/** Chooses the database. */
import { ConfigError, type DatabaseConfig } from '../config.ts'
import { createTables, type Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

/**
 * Opens the database of the configuration, creating these tables where they are missing. `onError` is called for connections
 * that break while idle.
 * @throws {ConfigError} it cannot be opened
 */
export async function openDatabase(
  config: DatabaseConfig,
  onError: (error: Error) => void,
  tables = createTables,
): Promise<Database> {
  try {
    if (config.kind === 'sqlite') return await openSqlite(config.file, tables)
    return await openPostgres(config.url, onError, tables)
  } catch (error) {
    const reason = error instanceof Error ? (error.cause instanceof Error ? error.cause : error).message : ''
    throw new ConfigError([`DATABASE_URL names a database that cannot be opened: ${reason}`])
  }
}
