/** An open SQLite file, ready for the store: set up, migrated, statements prepared. */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { FMOD_SETTINGS_INVALID_STORE_OPTION } from '../../misuse-errors.ts'
import type { MigrateMode } from '../schema-version.ts'
import { openFile } from './driver.ts'
import { migrate } from './migrate.ts'
import { lookAtFile, type OpenedFile } from './file/opened-file.ts'
import { prepareReads, type SqliteReads } from './read-statements.ts'
import { sqliteSettingsTables } from './tables.ts'
import { prepareWrites, type SqliteWrites } from './write-statements.ts'

/** The source, whose connection is known to be one of better-sqlite3. */
export type DriverSource = { readonly file: string } | { readonly database: Database }

export interface Connection {
  readonly client: Database
  readonly reads: SqliteReads
  readonly writes: SqliteWrites
  readonly file: OpenedFile
  /** Closes the file, unless the caller opened it. */
  readonly release: () => void
}

/** The store uses what other drivers of SQLite lack, such as `pragma` and `transaction`. */
export function canOpen(source: object): source is DriverSource {
  if ('file' in source) return source.file !== ''
  const database: unknown = Reflect.get(source, 'database')
  return ['prepare', 'exec', 'pragma', 'transaction'].every(
    (method) => typeof Reflect.get(Object(database), method) === 'function',
  )
}

/**
 * Opens the file, creating it and its folder when they are missing.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION} the connection is closed
 */
export async function openConnection(
  source: DriverSource,
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
    const tables = sqliteSettingsTables({ tablePrefix })
    const reads = prepareReads(client, drizzle(client), tables)
    reads.dataVersion() // makes the log, whose identity is part of the file's
    return { client, reads, writes: prepareWrites(client, tables), file: lookAtFile(client), release }
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
