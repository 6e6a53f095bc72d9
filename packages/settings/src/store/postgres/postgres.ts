/** The settings store in a PostgreSQL database. */
import { randomBytes } from 'node:crypto'
import { type OptionsSchema, Type } from '@fastify-modular/core/internal'
import { type PostgresTimeouts, within } from '@fastify-modular/core/internal/postgres'
import type { FastifyBaseLogger } from 'fastify'
import { FMOD_SETTINGS_STORE_NOT_OPEN } from '../../misuse-errors.ts'
import { canExist, checkWrite } from '../plan-write.ts'
import { checkArgument, type MigrateMode, postgresOptions } from '../options.ts'
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
  type StoreContext,
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
  checkSource,
  type Connections,
  createConnections,
  type DriverSource,
  orStoreFailure,
  toStoreFailure,
} from './connection.ts'
import { createForgetting, type PostgresForgetting } from './forget.ts'
import { Announcer, listen } from './listen.ts'
import { migrate } from './migrate.ts'
import { type PostgresNames, postgresNames, type PostgresTableNames } from './names.ts'
import { type PostgresReads, prepareReads } from './read-statements.ts'
import { postgresSettingsTables } from './tables.ts'
import { createWriter, type PostgresWriter } from './write.ts'

/** `postgres://user:password@host:port/database`, or a pool of the package `pg` that you made. */
export type PostgresSource = { readonly connectionString: string } | { readonly pool: PostgresPool }

/** The part of a pool of `pg` that the store needs, by structure: its types need not be installed. */
export interface PostgresPool {
  readonly options: object
  connect(): Promise<object>
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}

export interface PostgresOptions extends PostgresTableNames {
  /** @default 'auto' */
  readonly migrate?: MigrateMode
  /** Where the tables are; made when missing. @default the search path of the connection, usually `public` */
  readonly schema?: string
  /** Put before the names of the tables. @default '' */
  readonly tablePrefix?: string
  /** Milliseconds after which a change of another instance is noticed even if no notification arrives. @default 30000 */
  readonly pollInterval?: number
  /** Milliseconds for which changes of users' values are gathered before other instances are notified of them. @default 20 */
  readonly announceWindow?: number
  /**
   * Whether connections keep prepared statements. Set false behind a pooler in transaction mode that does not know them.
   * @default true
   */
  readonly prepared?: boolean
  /** Where to listen for changes, if the source is a pooler, through which no notification comes. @default the source */
  readonly listen?: { readonly connectionString: string }
  /** How long the database may take. A pool that you hand over keeps its time-outs for statements, except those of writes. */
  readonly timeouts?: PostgresTimeouts
}

const sourceSchema: OptionsSchema<{ connectionString?: string; pool?: object }> = Type.Object({
  connectionString: Type.Unknown(), // checkSource checks both
  pool: Type.Unknown(),
})
const optionsSchema: OptionsSchema<PostgresOptions> = postgresOptions

/**
 * A store in a PostgreSQL database, for one or many instances, which are notified of each other's changes by LISTEN. Needs the
 * package `pg`. A pool that you hand over keeps its own time-outs; one connection beside it listens.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function postgres(source: PostgresSource, options: PostgresOptions = {}): SettingsStore {
  checkArgument('postgres', { name: 'source', schema: sourceSchema, value: source })
  checkSource(source)
  checkArgument('postgres', { name: 'options', schema: optionsSchema, value: options })
  if (options.listen) checkSource(options.listen)
  const { pollInterval = 30_000 } = options
  return new PostgresStore(source, options, pollInterval)
}

interface OpenStore extends Connections {
  readonly reads: PostgresReads
  readonly writer: PostgresWriter
  readonly forgetting: PostgresForgetting
  readonly announcer: Announcer
}

class PostgresStore implements SettingsStore {
  readonly port = storePort
  readonly name = 'postgres'
  readonly transactional = 'async'
  readonly durable = true
  readonly #source: DriverSource
  readonly #options: PostgresOptions
  readonly #names: PostgresNames
  readonly #migrate: MigrateMode
  readonly #pollInterval: number
  readonly #announceWindow: number
  readonly #instance = randomBytes(6).toString('base64url')
  readonly #watches = new Set<() => Promise<void>>()
  #open: OpenStore | undefined

  constructor(source: DriverSource, options: PostgresOptions, pollInterval: number) {
    this.#source = source
    this.#options = options
    this.#names = postgresNames(options, options.prepared)
    this.#migrate = options.migrate ?? 'auto'
    this.#pollInterval = pollInterval
    this.#announceWindow = options.announceWindow ?? 20
  }

  async open({ log }: StoreContext): Promise<void> {
    const onError = (error: unknown): void => warnOfLoss(log, error)
    const connections = await createConnections(this.#source, this.#options, onError)
    try {
      await migrateThrough(connections, this.#names, this.#migrate)
      this.#open = await this.#prepare(connections)
    } catch (error) {
      await connections.release()
      throw error
    }
  }

  readShared(): ReturnType<SettingsStore['readShared']> {
    return this.#use(({ reads }) => reads.shared())
  }

  async readUser(userId: string): Promise<readonly StoredRow[]> {
    return canExist(userId) ? this.#use(({ reads }) => reads.user(userId)) : []
  }

  async readRow(id: RowId): Promise<StoredRow | undefined> {
    return canExist(id.userId, id.key) ? this.#use(({ reads }) => reads.row(id)) : undefined
  }

  readNews(query: NewsQuery): Promise<StoreNews> {
    return this.#use(({ reads }) => reads.news(query))
  }

  readUserNews(since: string | undefined, limit: number): Promise<UserNews> {
    return this.#use(({ reads }) => reads.userNews(since, limit))
  }

  async write(request: WriteRequest): Promise<WriteResult> {
    checkWrite(request)
    return this.#opened().writer.write(request)
  }

  async readHistory(query: HistoryQuery): Promise<readonly HistoryRow[]> {
    return canExist(query.key, query.userId, query.actor, query.following?.key)
      ? this.#use(({ reads }) => reads.history(query))
      : []
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
    return this.#use(({ reads }) => reads.plainHistory(keys))
  }

  async reseal(rows: ResealRequest): Promise<number> {
    return this.#opened().writer.reseal(rows)
  }

  trim(limits: TrimLimits): Promise<TrimResult> {
    return this.#use(({ forgetting }) => forgetting.trim(limits))
  }

  async eraseUser(userId: string): Promise<Erased> {
    if (!canExist(userId)) return { values: 0, history: 0, mentions: 0, isDone: true }
    const { forgetting, announcer } = this.#opened()
    try {
      return await forgetting.user(userId)
    } finally {
      announcer.addUser(userId) // also if it failed: it may have been committed
    }
  }

  async watch(watch: StoreWatch): Promise<() => Promise<void>> {
    const { createClient, prepare, timeouts } = this.#opened()
    const stop = await listen({
      createClient,
      prepare,
      names: this.#names,
      instance: this.#instance,
      pollInterval: this.#pollInterval,
      probe: timeouts.probe,
      answer: timeouts.connect,
      close: timeouts.close,
      watch: { ...watch, onLost: (error) => watch.onLost(toStoreFailure(error)) },
    })
    this.#watches.add(stop)
    return async () => {
      this.#watches.delete(stop)
      await stop()
    }
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await within(1000, open?.announcer.flush() ?? Promise.resolve())
    await Promise.all([...this.#watches].map((stop) => stop()))
    this.#watches.clear()
    await open?.release()
  }

  async #prepare(connections: Connections): Promise<OpenStore> {
    const { drizzle } = await import('drizzle-orm/node-postgres')
    const { pool, timeouts } = connections
    const names = this.#names
    const { schema, prefix } = names
    const tables = postgresSettingsTables({ ...(schema !== undefined && { schema }), tablePrefix: prefix })
    const announcer = new Announcer({ pool, names, instance: this.#instance, window: this.#announceWindow })
    const writer = createWriter({
      pool,
      names,
      statementTimeout: timeouts.query,
      onCommit: (written) => announcer.add(written),
    })
    return {
      ...connections,
      announcer,
      reads: prepareReads(drizzle(pool), tables, names),
      writer,
      forgetting: createForgetting(pool, names, (task) => writer.underLock(task)),
    }
  }

  async #use<T>(task: (open: OpenStore) => Promise<T>): Promise<T> {
    return orStoreFailure(task(this.#opened()))
  }

  #opened(): OpenStore {
    if (!this.#open) throw new FMOD_SETTINGS_STORE_NOT_OPEN(this.name)
    return this.#open
  }
}

async function migrateThrough({ pool }: Connections, names: PostgresNames, mode: MigrateMode): Promise<void> {
  const client = await orStoreFailure(pool.connect())
  // A connection that breaks fails the waiting statement, and also emits an event that must have a listener.
  client.on('error', ignore)
  try {
    await migrate(client, names, mode)
    client.off('error', ignore)
    client.release()
  } catch (error) {
    client.release(true)
    throw toStoreFailure(error)
  }
}

function ignore(): void {}

function warnOfLoss(log: FastifyBaseLogger, error: unknown): void {
  log.warn({ err: toStoreFailure(error) }, 'an idle connection to the settings database was lost')
}
