/** An open SQLite file, ready for the store: set up, migrated, statements prepared. */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { FMOD_SETTINGS_INVALID_STORE_OPTION } from '../../misuse-errors.ts'
import type { MigrateMode } from '../schema-version.ts'
import { openFile, type SqliteSource } from './driver.ts'
import { migrate } from './migrate.ts'
import { prepareReads, type SqliteReads } from './read-statements.ts'
import { settingsTables } from './tables.ts'
import { prepareWrites, type SqliteWrites } from './write-statements.ts'

export interface Connection {
  readonly client: Database
  readonly reads: SqliteReads
  readonly writes: SqliteWrites
  /** Closes the file, unless the caller opened it. */
  readonly release: () => void
}

/**
 * Opens the file, creating it and its folder when they are missing.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION} the connection is closed
 */
export async function openConnection(
  source: SqliteSource,
  tablePrefix: string,
  mode: MigrateMode,
): Promise<Connection> {
  const client = 'database' in source ? source.database : await createFile(source.file)
  if (!client.open) throw new FMOD_SETTINGS_INVALID_STORE_OPTION('database', 'sqlite', 'it is closed')
  const release = (): void => void ('file' in source && client.close())
  try {
    client.pragma('journal_mode = WAL') // readers and the writer do not wait for each other
    client.pragma('synchronous = FULL') // an acknowledged write survives a power loss (decision 28)
    migrate(client, tablePrefix, mode)
    const { drizzle } = await import('drizzle-orm/better-sqlite3')
    const tables = settingsTables({ tablePrefix })
    const reads = prepareReads(client, drizzle(client), tables)
    return { client, reads, writes: prepareWrites(client, tables), release }
  } catch (error) {
    release()
    throw error
  }
}

/** Milliseconds that a statement waits for the lock of another process. */
const busyTimeout = 5000

async function createFile(file: string): Promise<Database> {
  if (file !== ':memory:') await mkdir(dirname(file), { recursive: true })
  return openFile(file, busyTimeout)
}
