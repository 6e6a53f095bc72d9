/** The settings store in a SQLite file. */
import {
  FileLock,
  type NodeSqliteDatabase,
  option,
  type OptionsSchema,
  Type,
} from '@fastify-modular/core/internal'
import { FMOD_SETTINGS_INVALID_STORE_OPTION, FMOD_SETTINGS_STORE_NOT_OPEN } from '../../misuse-errors.ts'
import { checkArgument, type MigrateMode, sqliteOptions } from '../options.ts'
import { canExist, checkWrite } from '../plan-write.ts'
import {
  type Erased,
  type HistoryId,
  type HistoryQuery,
  type HistoryRow,
  type KeyCount,
  type NewsQuery,
  type ResealRequest,
  type RowId,
  type SettingsStore,
  type StoredRow,
  type StoreNews,
  storePort,
  type StoreWatch,
  type TrimLimits,
  type TrimResult,
  type UserNews,
  type WriteRequest,
  type WriteResult,
} from '../store.ts'
import {
  type Connection,
  type DriverSource,
  openConnection,
  queryBuilder,
  toDriverSource,
  toStoreFailure,
  watchFile,
} from './connection.ts'
import { createForgetting, type SqliteForgetting } from './forget.ts'
import { prepareReads, type SqliteReads } from './read-statements.ts'
import { sqliteSettingsTables } from './tables.ts'
import { createWriter, type SqliteWriter } from './write.ts'

/**
 * A path (`:memory:` for a database that is gone with the process), opened with better-sqlite3 where it is installed,
 * else with `node:sqlite` of Node 22.13 and newer; `driver` names one of them. Or a connection of either that you opened.
 */
export type SqliteSource =
  | { readonly file: string; readonly driver?: 'better-sqlite3' | 'node' }
  | { readonly database: SqliteDatabase | NodeSqliteDatabase }

/** The part of a better-sqlite3 connection that the store needs, by structure: its types need not be installed. */
export interface SqliteDatabase {
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
 * the lock of the file, the first write blocks this one for at most five seconds (the time-out of a connection that you
 * hand over), those after it for some milliseconds each until one succeeds.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function sqlite(source: SqliteSource, options: SqliteOptions = {}): SettingsStore {
  checkArgument('sqlite', { name: 'source', schema: sourceSchema, value: source })
  checkArgument('sqlite', { name: 'options', schema: optionsSchema, value: options })
  const driverSource = toDriverSource(source)
  if (!driverSource) {
    const reason = 'source must be { file } or an open { database } of better-sqlite3 or node:sqlite'
    throw new FMOD_SETTINGS_INVALID_STORE_OPTION('sqlite', reason)
  }
  const { migrate = 'auto', tablePrefix = '', pollInterval = 100 } = options
  return new SqliteStore(driverSource, { migrate, tablePrefix, pollInterval })
}

interface OpenStore extends Connection {
  readonly reads: SqliteReads
  readonly writer: SqliteWriter
  readonly forgetting: SqliteForgetting
  readonly lock: FileLock
}

/** One connection, synchronous inside: a method runs to its end before another one starts. */
class SqliteStore implements SettingsStore {
  readonly port = storePort
  readonly name = 'sqlite'
  readonly transactional = 'sync'
  readonly durable: boolean
  readonly #source: DriverSource
  readonly #options: Required<SqliteOptions>
  readonly #watches = new Set<() => void>()
  #open: OpenStore | undefined

  constructor(source: DriverSource, options: Required<SqliteOptions>) {
    this.durable = 'file' in source ? source.file !== ':memory:' : !source.database.memory
    this.#source = source
    this.#options = options
  }

  async open(): Promise<void> {
    try {
      this.#open = await this.#connect()
    } catch (error) {
      throw toStoreFailure(error)
    }
  }

  readShared(): ReturnType<SettingsStore['readShared']> {
    return this.#use(({ reads }) => reads.shared())
  }

  readUser(userId: string): Promise<readonly StoredRow[]> {
    return this.#use(({ reads }) => (canExist(userId) ? reads.user(userId) : []))
  }

  readRow(id: RowId): Promise<StoredRow | undefined> {
    return this.#use(({ writer }) => (canExist(id.userId, id.key) ? writer.find(id) : undefined))
  }

  readNews(query: NewsQuery): Promise<StoreNews> {
    return this.#use(({ reads }) => reads.news(query))
  }

  readUserNews(since: string | undefined, limit: number): Promise<UserNews> {
    return this.#use(({ reads }) => reads.userNews(since, limit))
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.#use(({ writer, lock }) => {
      checkWrite(request)
      return lock.write(() => writer.write(request))
    })
  }

  readHistory(query: HistoryQuery): Promise<readonly HistoryRow[]> {
    return this.#use(({ reads }) =>
      canExist(query.key, query.userId, query.actor, query.following?.key) ? reads.history(query) : [],
    )
  }

  scan(after: RowId | null, limit: number): Promise<readonly StoredRow[]> {
    return this.#use(({ reads }) => reads.scan(after, limit))
  }

  countOthers(keys: readonly string[]): Promise<readonly KeyCount[]> {
    return this.#use(({ reads }) => reads.countOthers(keys))
  }

  scanHistory(after: HistoryId | null, limit: number): Promise<readonly HistoryRow[]> {
    return this.#use(({ reads }) => reads.scanHistory(after, limit))
  }

  findPlainHistory(keys: readonly string[]): Promise<readonly string[]> {
    return this.#use(({ reads }) => keys.filter(reads.hasPlainHistory))
  }

  reseal(rows: ResealRequest): Promise<number> {
    return this.#use(({ writer, lock }) => lock.write(() => writer.reseal(rows)))
  }

  trim(limits: TrimLimits): Promise<TrimResult> {
    return this.#use(({ forgetting, lock }) => lock.write(() => forgetting.trim(limits)))
  }

  eraseUser(userId: string): Promise<Erased> {
    if (!canExist(userId)) return Promise.resolve({ values: 0, history: 0, mentions: 0, isDone: true })
    return this.#use(({ forgetting, lock }) => lock.write(() => forgetting.user(userId)))
  }

  watch({ onHint, onLost }: StoreWatch): Promise<() => Promise<void>> {
    return this.#use(() => {
      const stop = watchFile({
        dataVersion: () => this.#open?.reads.dataVersion(),
        interval: this.#options.pollInterval,
        onHint,
        onLost: (error) => onLost(toStoreFailure(error)),
      })
      this.#watches.add(stop)
      return async () => {
        stop()
        this.#watches.delete(stop)
      }
    })
  }

  async close(): Promise<void> {
    for (const stop of this.#watches) stop()
    this.#watches.clear()
    this.#open?.release()
    this.#open = undefined
  }

  async #connect(): Promise<OpenStore> {
    const connection = await openConnection(this.#source, this.#options)
    const { client, release } = connection
    try {
      const tables = sqliteSettingsTables(this.#options)
      const reads = prepareReads(client, queryBuilder(client), tables)
      const writer = createWriter(client, tables)
      const forgetting = createForgetting(client, tables)
      return { ...connection, reads, writer, forgetting, lock: new FileLock(client) }
    } catch (error) {
      release()
      throw error
    }
  }

  async #use<T>(task: (open: OpenStore) => T): Promise<T> {
    if (!this.#open) throw new FMOD_SETTINGS_STORE_NOT_OPEN(this.name)
    try {
      return task(this.#open)
    } catch (error) {
      throw toStoreFailure(error)
    }
  }
}
