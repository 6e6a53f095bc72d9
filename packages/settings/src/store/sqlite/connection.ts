/** An open SQLite file, ready for the store: set up, migrated, statements prepared. */
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type Driver from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import {
  FMOD_SETTINGS_DRIVER_MISSING,
  FMOD_SETTINGS_DRIVER_UNSUPPORTED,
  FMOD_SETTINGS_INVALID_STORE_OPTION,
} from '../../misuse-errors.ts'
import type { MigrateMode } from '../options.ts'
import { lookAtFile, type OpenedFile } from './file.ts'
import { migrate } from './migrate.ts'
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
  if (!client.open) throw new FMOD_SETTINGS_INVALID_STORE_OPTION('sqlite', 'the database is closed')
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

/**
 * Opens a file with better-sqlite3.
 * @throws {FMOD_SETTINGS_DRIVER_MISSING} it is not installed
 * @throws {FMOD_SETTINGS_DRIVER_UNSUPPORTED} it does not work with this Node, or its binary is missing
 */
async function openFile(file: string, busyTimeout: number): Promise<Driver.Database> {
  const version = installedVersion()
  checkDriver(version, process.versions.node)
  const DatabaseFile = await loadDriver(version)
  return new DatabaseFile(file, { timeout: busyTimeout })
}

/** The binary is loaded with the first connection; one in memory needs nothing else. */
async function loadDriver(version: string): Promise<typeof Driver> {
  try {
    const { default: Database } = await import('better-sqlite3')
    new Database(':memory:').close()
    return Database
  } catch (cause) {
    const reason =
      'its binary is missing or was built for another Node. Run: npm rebuild better-sqlite3 (version 12 needs a C++ compiler, make and Python where it finds no prebuilt binary)'
    throw Object.assign(new FMOD_SETTINGS_DRIVER_UNSUPPORTED(version, process.versions.node, reason), {
      cause,
    })
  }
}

/**
 * better-sqlite3 13 ends older processes with a segmentation fault, so its version is looked at before it is loaded.
 * @throws {FMOD_SETTINGS_DRIVER_UNSUPPORTED}
 */
export function checkDriver(driver: string, node: string): void {
  if (Number.parseInt(driver, 10) < 13 || Number.parseInt(node, 10) >= 22) return
  throw new FMOD_SETTINGS_DRIVER_UNSUPPORTED(
    driver,
    node,
    'it would crash the process without a message. Install better-sqlite3@12, or use Node 22 or newer.',
  )
}

function installedVersion(): string {
  try {
    const manifest: { version: string } = createRequire(import.meta.url)('better-sqlite3/package.json')
    return manifest.version
  } catch (error) {
    const missing = new FMOD_SETTINGS_DRIVER_MISSING('sqlite', 'better-sqlite3', 'better-sqlite3')
    missing.cause = error
    throw missing
  }
}
