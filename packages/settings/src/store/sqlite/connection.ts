/** An open SQLite file: its driver, its lock, its watch, and what its failures mean. */
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceUnavailableException } from '@fastify-modular/core'
import {
  currentCommand,
  FMOD_CORE_INVALID_OPTION,
  isNodeSqlite,
  nodeSqlite,
  NodeSqliteConnection,
  sqliteCodeOf,
} from '@fastify-modular/core/internal'
import type Driver from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { errorCodes } from '../../misuse-errors.ts'
import { migrations } from '../schema.ts'

/** The source, whose connection is known to be one that the store can use. */
export type DriverSource = FileSource | { readonly database: Database }

interface FileSource {
  readonly file: string
  readonly driver?: 'better-sqlite3' | 'node'
}

/** Undefined for a source without a file name or a connection of the two drivers. */
export function toDriverSource(source: FileSource | { readonly database: object }): DriverSource | undefined {
  if ('file' in source) return source.file === '' ? undefined : source
  const database = asDriver(source.database)
  return database && { database }
}

/** The connection with the interface of better-sqlite3. `file` is the path by which it was opened, if that is known. */
function asDriver(database: object, file?: string): Database | undefined {
  const driver = isNodeSqlite(database) ? new NodeSqliteConnection(database, file) : database
  return isDriver(driver) ? driver : undefined
}

/** Of the interface of better-sqlite3, the store uses nothing that the connections of `node:sqlite` are not given. */
function isDriver(database: object): database is Database {
  return ['prepare', 'exec', 'pragma', 'transaction'].every(
    (method) => typeof Reflect.get(Object(database), method) === 'function',
  )
}

/**
 * Opens the file, creating it and its folder when they are missing.
 * @throws {FMOD_CORE_INVALID_OPTION} the connection is closed
 */
export async function openConnection(source: DriverSource): Promise<Database> {
  const client = 'database' in source ? source.database : await createFile(source)
  if (!client.open) throw new FMOD_CORE_INVALID_OPTION('sqlite()', 'the database is closed')
  return client
}

/**
 * Readers and the writer do not wait for each other. While another process writes a file that has no log yet, such as a
 * new one, SQLite answers that the file is locked, whatever the time-out.
 */
export async function useLog(client: Database): Promise<void> {
  for (const end = Date.now() + busyTimeout; ; await delay(10 + 20 * Math.random())) {
    try {
      client.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if (!sqliteCodeOf(error).startsWith('SQLITE_BUSY') || Date.now() > end) throw error
    }
  }
}

/** Milliseconds that a statement waits for the lock of another process. */
const busyTimeout = 5000

const isNode20 = Number.parseInt(process.versions.node, 10) < 22
const betterSqliteOfThisNode = isNode20 ? 'better-sqlite3@12' : 'better-sqlite3'
/** How a binary of better-sqlite3 comes about, or is not needed. */
const wayOut = isNode20
  ? 'Install g++, make and python3 and run: npm rebuild better-sqlite3; or use Node 22 or newer, for which better-sqlite3 13 brings its binaries.'
  : "Run: npm install better-sqlite3@13, which brings its binaries; or use node:sqlite by { driver: 'node' }."

/**
 * Opens a file: with better-sqlite3 where it is installed, else with `node:sqlite`, unless the driver is named.
 * @throws {FMOD_SETTINGS_DRIVER_MISSING} the driver is not installed
 * @throws {FMOD_SETTINGS_DRIVER_UNSUPPORTED} it does not work with this Node, or its binary is missing
 */
async function createFile({ file, driver }: FileSource): Promise<Database> {
  if (file !== ':memory:') await makeFolder(file)
  const { node } = process.versions
  const version = driver === 'node' ? undefined : installedVersion()
  if (version !== undefined) {
    checkDriver(version, node)
    const DatabaseFile = await loadDriver(version)
    return new DatabaseFile(file, { timeout: busyTimeout })
  }
  const connection = driver === 'better-sqlite3' ? undefined : openWithNode(file)
  if (connection) return connection
  if (driver === 'node')
    throw new errorCodes.FMOD_SETTINGS_DRIVER_UNSUPPORTED('node:sqlite', node, 'use Node 22.13 or newer.')
  throw new errorCodes.FMOD_SETTINGS_DRIVER_MISSING('sqlite', 'better-sqlite3', betterSqliteOfThisNode)
}

/** @throws {FMOD_SETTINGS_SCHEMA_OUTDATED} there is no file, and a command opens the application: it makes none */
async function makeFolder(file: string): Promise<void> {
  const command = currentCommand()
  if (command && !command.migrates && !existsSync(file))
    throw new errorCodes.FMOD_SETTINGS_SCHEMA_OUTDATED('sqlite', 0, migrations.length)
  await mkdir(dirname(file), { recursive: true })
}

/** Undefined where this Node has no `node:sqlite`. */
function openWithNode(file: string): Database | undefined {
  const module = nodeSqlite()
  const connection = module && asDriver(new module.DatabaseSync(file), file)
  connection?.pragma(`busy_timeout = ${busyTimeout}`)
  return connection
}

/** The binary is loaded with the first connection; one in memory needs nothing else. */
async function loadDriver(version: string): Promise<typeof Driver> {
  try {
    const { default: Database } = await import('better-sqlite3')
    new Database(':memory:').close()
    return Database
  } catch (cause) {
    const reason = `its binary is missing or was built for another Node. ${wayOut}`
    throw Object.assign(unsupported(version, process.versions.node, reason), { cause })
  }
}

/**
 * better-sqlite3 13 ends older processes with a segmentation fault, so its version is looked at before it is loaded.
 * @throws {FMOD_SETTINGS_DRIVER_UNSUPPORTED}
 */
export function checkDriver(driver: string, node: string): void {
  if (Number.parseInt(driver, 10) < 13 || Number.parseInt(node, 10) >= 22) return
  throw unsupported(
    driver,
    node,
    'it would crash the process without a message. Install better-sqlite3@12, or use Node 22 or newer.',
  )
}

function unsupported(version: string, node: string, reason: string): Error {
  return new errorCodes.FMOD_SETTINGS_DRIVER_UNSUPPORTED(`better-sqlite3 ${version}`, node, reason)
}

/** Of better-sqlite3; undefined when it is not installed. */
function installedVersion(): string | undefined {
  try {
    const manifest: { version: string } = createRequire(import.meta.url)('better-sqlite3/package.json')
    return manifest.version
  } catch {
    return undefined
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
  let hintedAt = 0 // of the monotonic clock
  let isLost = false
  const timer = setInterval(check, watch.interval).unref()
  return () => clearInterval(timer)

  function check(): void {
    try {
      const version = watch.dataVersion()
      if (version === seen && !isLost && performance.now() - hintedAt < floor) return
      seen = version
    } catch (error) {
      if (!isLost) watch.onLost(error)
      isLost = true
      return
    }
    hintedAt = performance.now()
    isLost = false
    watch.onHint()
  }
}

/**
 * The failure that a caller of the store gets for an error of SQLite: 503 when the database is locked, full, read-only,
 * damaged or gone. Other errors stay as they are: they are defects, or come from the caller's own code.
 */
export function toStoreFailure(error: unknown): unknown {
  const code = sqliteCodeOf(error)
  if (!unavailable.test(code)) return error
  return new ServiceUnavailableException(
    `The SQLite database of the settings cannot answer (${code}).`,
    1,
    error,
  )
}

const unavailable =
  /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|NOMEM|PERM|AUTH|NOLFS|SCHEMA)(_|$)/
