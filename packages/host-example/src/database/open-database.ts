/** Chooses the database. */
import { existsSync } from 'node:fs'
import { ConfigError, type DatabaseConfig } from '../config.ts'
import { createTables, type Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

/**
 * Opens the database of the configuration, creating what is missing unless it is opened for a command: that finds a file which
 * is not there empty, and only `migrate` makes one. `onError` is called for connections that break while idle.
 * @throws {ConfigError} it cannot be opened
 */
export async function openDatabase(
  config: DatabaseConfig,
  onError: (error: Error) => void,
  command?: string,
): Promise<Database> {
  const tables = command === undefined ? createTables : []
  try {
    if (config.kind === 'sqlite') {
      const isMade = command === undefined || command === 'migrate' || existsSync(config.file)
      return await openSqlite(isMade ? config.file : ':memory:', tables)
    }
    return await openPostgres(config.url, onError, tables)
  } catch (error) {
    const reason = error instanceof Error ? (error.cause instanceof Error ? error.cause : error).message : ''
    throw new ConfigError([`DATABASE_URL names a database that cannot be opened: ${reason}`])
  }
}
