/** An open SQLite file: its driver, its lock, whether its path still leads to it, and what its failures mean. */
import { statSync, unlinkSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { ServiceUnavailableException } from '@fastify-modular/core'
import type Driver from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import {
  FMOD_SETTINGS_DRIVER_MISSING,
  FMOD_SETTINGS_DRIVER_UNSUPPORTED,
  FMOD_SETTINGS_INVALID_STORE_OPTION,
} from '../../misuse-errors.ts'
import type { MigrateMode } from '../options.ts'
import { migrate } from './migrate.ts'

/** The source, whose connection is known to be one of better-sqlite3. */
export type DriverSource = { readonly file: string } | { readonly database: Database }

export interface Connection {
  readonly client: Database
  readonly file: OpenedFile
  /** Closes the file, unless the application opened it. */
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
  { tablePrefix, migrate: mode }: { readonly tablePrefix: string; readonly migrate: MigrateMode },
): Promise<Connection> {
  const client = 'database' in source ? source.database : await createFile(source.file)
  if (!client.open) throw new FMOD_SETTINGS_INVALID_STORE_OPTION('sqlite', 'the database is closed')
  const release = (): void => {
    if ('file' in source) client.close()
  }
  try {
    client.pragma('journal_mode = WAL') // readers and the writer do not wait for each other
    client.pragma('synchronous = FULL') // an acknowledged write survives a power loss (decision 28)
    migrate(client, tablePrefix, mode)
    client.pragma('data_version') // makes the log, whose identity is part of the file's
    return { client, file: identifyFile(client), release }
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

interface OpenedFile {
  /** Device and inode; empty for a database in memory. */
  readonly id: string
  /**
   * Whether the path leads to another file, or to none: writes would go on into a file that cannot be found any more.
   * SQLite itself does not notice. Costs about ten microseconds.
   */
  isReplaced(): boolean
  /**
   * Prepares the path for another connection; false where it cannot be opened yet. The contents of the old file's log
   * are moved into the old file and the log is removed: with it SQLite would damage the file that is there now.
   */
  releasePath(): boolean
}

/** Looks at the file that a connection has just opened. */
function identifyFile(client: Database): OpenedFile {
  const path = client.memory ? '' : resolve(client.name)
  const idOf = (suffix = ''): string => idOfFile(path + suffix)
  if (path === '' || idOf() === '') return { id: '', isReplaced: () => false, releasePath: () => false }
  const id = idOf()
  const logs = ['-wal', '-shm'].map((suffix) => [suffix, idOf(suffix)] as const)
  return {
    id,
    isReplaced: () => idOf() !== id,
    releasePath() {
      // A file of no bytes is about to be copied.
      if (!statSync(path, { throwIfNoEntry: false })?.size) return false
      if (!checkpoint(client)) return false
      for (const [suffix, old] of logs) if (old !== '' && idOf(suffix) === old) unlinkSync(path + suffix)
      return true
    },
  }
}

function idOfFile(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat ? `${stat.dev}:${stat.ino}` : ''
}

/** Moves what is in the write-ahead log into the database file. False while another connection prevents it. */
function checkpoint(client: Database): boolean {
  const timeout = Number(client.pragma('busy_timeout', { simple: true }))
  client.pragma('busy_timeout = 0')
  try {
    return client.pragma('wal_checkpoint(truncate)', { simple: true }) === 0
  } finally {
    client.pragma(`busy_timeout = ${timeout}`)
  }
}

/** What the watch reads, and what it calls. */
export interface SqliteWatch {
  /** Changes whenever another connection has committed; costs a microsecond. */
  readonly dataVersion: () => unknown
  /** Milliseconds between two reads. */
  readonly interval: number
  readonly onHint: () => void
  readonly onLost: (error: unknown) => void
}

/** A hint is given at least this often, in milliseconds: not everything that happens to a file is noticed. */
const floor = 5000

/** Reads the version at intervals until the returned function is called. Does not keep the process alive. */
export function watchFile(watch: SqliteWatch): () => void {
  let seen: unknown
  let hintedAt = 0
  let isLost = false
  const timer = setInterval(check, watch.interval).unref()
  return () => clearInterval(timer)

  function check(): void {
    try {
      const version = watch.dataVersion()
      if (version === seen && !isLost && Date.now() - hintedAt < floor) return
      seen = version
    } catch (error) {
      if (!isLost) watch.onLost(error)
      isLost = true
      return
    }
    hintedAt = Date.now()
    isLost = false
    watch.onHint()
  }
}

/** The failure while the path leads to another file, or to none. */
export function toReplacedFailure(): Error {
  const message = 'The SQLite database of the settings cannot answer (its file was replaced or removed).'
  return new ServiceUnavailableException(message, 1)
}

/**
 * The failure that a caller of the store gets for an error of SQLite: 503 when the database is locked, full, read-only,
 * damaged or gone. Other errors stay as they are: they are defects, or come from the caller's own code.
 */
export function toStoreFailure(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!unavailable.test(code)) return error
  return new ServiceUnavailableException(
    `The SQLite database of the settings cannot answer (${code}).`,
    1,
    error,
  )
}

const unavailable =
  /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|NOMEM|PERM|AUTH|NOLFS|SCHEMA)(_|$)/
