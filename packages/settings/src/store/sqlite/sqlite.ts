/** The settings store in a SQLite file. */
import {
  argumentProblems,
  FileLock,
  FMOD_CORE_INVALID_OPTION,
  type NodeSqliteDatabase,
  option,
  type OptionsSchema,
  refuseOptions,
  Type,
} from '@fastify-modular/core/internal'
import { type MigrateMode, sqliteOptions } from '../options.ts'
import { type OpenDatabase, SqlStore } from '../sql-store.ts'
import type { SettingsStore } from '../store.ts'
import {
  type DriverSource,
  openConnection,
  toDriverSource,
  toStoreFailure,
  useLog,
  watchFile,
} from './connection.ts'
import { sqliteEngine } from './engine.ts'
import { migrate } from './migrate.ts'
import { schemaOf } from './print-sql.ts'
import { createWriter } from './write.ts'

/**
 * A path (`:memory:` for a database that is gone with the process), opened with better-sqlite3 where it is installed,
 * else with `node:sqlite` of Node 22.13 and newer; `driver` names one of them. Or a connection of either that you opened.
 */
export type SqliteSource =
  | { readonly file: string; readonly driver?: 'better-sqlite3' | 'node' }
  | { readonly database: SqliteDatabase | NodeSqliteDatabase }

/** The part of a better-sqlite3 connection that the store needs, by structure: its types need not be installed. */
interface SqliteDatabase {
  readonly open: boolean
  readonly memory: boolean
  readonly inTransaction: boolean
  exec(sql: string): unknown
  pragma(sql: string): unknown
  prepare(sql: string): object
  transaction(run: () => unknown): object
}

export interface SqliteOptions {
  /** @default 'auto' */
  readonly migrate?: MigrateMode
  /** Put before the names of the tables. @default '' */
  readonly tablePrefix?: string
  /** Milliseconds after which a change of another process is noticed at the latest. @default 100 */
  readonly pollInterval?: number
}

const sourceSchema: OptionsSchema<{ file?: string; driver?: string; database?: object }> = Type.Object({
  file: Type.String({ minLength: 1, description: 'the path of a file' }),
  driver: option.oneOf('better-sqlite3', 'node'),
  database: Type.Unknown(), // toDriverSource checks it
})
const optionsSchema: OptionsSchema<SqliteOptions> = sqliteOptions

/**
 * A store in a SQLite file, for one machine; several processes may share the file. Needs the
 * package `better-sqlite3`, or Node 22.13 or newer.
 * The connection runs in WAL mode with `synchronous = FULL`, also one that you hand over. While another process holds
 * the lock of the file, the first write blocks this process for at most five seconds, or the time-out of a connection that
 * you hand over. The writes after it block for some milliseconds each, until one succeeds.
 * @throws {FMOD_CORE_INVALID_OPTION}
 */
export function sqlite(source: SqliteSource, options: SqliteOptions = {}): SettingsStore {
  refuseOptions('sqlite()', argumentProblems(sourceSchema, source, 'source'))
  refuseOptions('sqlite()', argumentProblems(optionsSchema, options, 'options'))
  const driverSource = toDriverSource(source)
  if (!driverSource) {
    const reason = 'source must be { file } or an open { database } of better-sqlite3 or node:sqlite'
    throw new FMOD_CORE_INVALID_OPTION('sqlite()', reason)
  }
  const durable = 'file' in driverSource ? driverSource.file !== ':memory:' : !driverSource.database.memory
  return new SqlStore({
    info: { name: 'sqlite', durable, transactional: 'sync' },
    connection: 'database' in source ? source.database : undefined,
    open: () => orStoreFailure(() => openFile(driverSource, options)),
  })
}

/** One connection, synchronous inside: a task runs to its end before another one starts. */
async function openFile(
  source: DriverSource,
  { migrate: mode = 'auto', tablePrefix = '', pollInterval = 100 }: SqliteOptions,
): Promise<OpenDatabase> {
  const client = await openConnection(source)
  const release = (): void => {
    if ('file' in source) client.close() // any other is the application's
  }
  try {
    await useLog(client)
    client.pragma('synchronous = FULL') // an acknowledged write survives a power loss (decision 28)
    migrate(client, tablePrefix, mode)
    const tables = schemaOf(tablePrefix)
    const lock = new FileLock(client)
    return {
      engine: sqliteEngine(client, tables),
      writer: createWriter(client, tables),
      read: orStoreFailure,
      write: (task) => orStoreFailure(() => lock.write(task)),
      watch({ onHint, onLost }) {
        const version = client.prepare<[], { readonly data_version: number }>('pragma data_version')
        const dataVersion = () => version.get()?.data_version
        const onFailure = (error: unknown): void => onLost(toStoreFailure(error))
        return watchFile({ dataVersion, interval: pollInterval, onHint, onLost: onFailure })
      },
      release,
    }
  } catch (error) {
    release()
    throw error
  }
}

/** Rejects with what callers get for a failure of SQLite. */
async function orStoreFailure<T>(task: () => T | Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    throw toStoreFailure(error)
  }
}
