/** The settings store in a PostgreSQL database. */
import { randomBytes } from 'node:crypto'
import { argumentProblems, type OptionsSchema, refuseOptions, Type } from '@fastify-modular/core/internal'
import { type ConnectionOptions, within } from '@fastify-modular/core/internal/postgres'
import { type MigrateMode, postgresOptions, type PostgresTableNames } from '../options.ts'
import { type SqlParts, SqlStore } from '../sql-store.ts'
import type { SettingsStore, StoreContext, StoreWatch } from '../store.ts'
import {
  checkSource,
  type Connections,
  createConnections,
  type DriverSource,
  onConnection,
  orStoreFailure,
  toStoreFailure,
} from './connection.ts'
import { Announcer, listen } from './listen.ts'
import { postgresEngine } from './engine.ts'
import { migrate } from './migrate.ts'
import { type PostgresNames, postgresNames } from './names.ts'
import { PostgresWriter } from './write.ts'

/** `postgres://user:password@host:port/database`, or a pool of the package `pg` that you made. */
export type PostgresSource = { readonly connectionString: string } | { readonly pool: PostgresPool }

/** The part of a pool of `pg` that the store needs, by structure: its types need not be installed. */
interface PostgresPool {
  readonly options: object
  connect(): Promise<object>
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}

export interface PostgresOptions extends PostgresTableNames, ConnectionOptions {
  /** @default 'auto' */
  readonly migrate?: MigrateMode
  /** Milliseconds after which a change of another instance is noticed even if no notification arrives. @default 30000 */
  readonly pollInterval?: number
  /** Milliseconds for which changes of values of users and tenants are gathered before other instances are notified of them. @default 20 */
  readonly announceWindow?: number
  /**
   * Whether connections keep prepared statements. Set false behind a pooler in transaction mode that does not know them.
   * @default true
   */
  readonly prepared?: boolean
  /** Where to listen for changes, if the source is a pooler, through which no notification comes. @default the source */
  readonly listen?: { readonly connectionString: string }
}

const sourceSchema: OptionsSchema<{ connectionString?: string; pool?: object }> = Type.Object({
  connectionString: Type.Unknown(), // checkSource checks both
  pool: Type.Unknown(),
})
const optionsSchema: OptionsSchema<PostgresOptions> = postgresOptions

/**
 * A store in a PostgreSQL database, for one or many instances, which are notified of each other's changes by LISTEN. Needs the
 * package `pg`. A pool that you hand over keeps its own time-outs; one connection beside it listens.
 * @throws {FMOD_CORE_INVALID_OPTION}
 */
export function postgres(source: PostgresSource, options: PostgresOptions = {}): SettingsStore {
  refuseOptions('postgres()', argumentProblems(sourceSchema, source, 'source'))
  checkSource(source)
  refuseOptions('postgres()', argumentProblems(optionsSchema, options, 'options'))
  if (options.listen) checkSource(options.listen)
  return new PostgresStore(source, options)
}

interface OpenDatabase extends SqlParts, Connections {
  readonly release: () => Promise<void>
}

class PostgresStore extends SqlStore<OpenDatabase> {
  readonly info = { name: 'postgres', durable: true, transactional: 'async' } as const
  readonly #source: DriverSource
  readonly #options: PostgresOptions
  readonly #names: PostgresNames
  readonly #instance = randomBytes(6).toString('base64url')

  constructor(source: DriverSource, options: PostgresOptions) {
    super()
    this.#source = source
    this.#options = options
    this.#names = postgresNames(options, options.prepared)
  }

  get connection(): unknown {
    return 'pool' in this.#source ? this.#source.pool : this.#source.connectionString
  }

  async open({ log }: StoreContext): Promise<void> {
    const onError = (error: unknown): void =>
      log.warn({ err: toStoreFailure(error) }, 'an idle connection to the settings database was lost')
    const connections = await createConnections(this.#source, this.#options, onError)
    try {
      const mode = this.#options.migrate ?? 'auto'
      await orStoreFailure(onConnection(connections.pool, (client) => migrate(client, this.#names, mode)))
      this.parts = this.#prepare(connections)
    } catch (error) {
      await connections.release()
      throw error
    }
  }

  protected startWatch(connections: OpenDatabase, watch: StoreWatch) {
    return listen({
      connections,
      names: this.#names,
      instance: this.#instance,
      pollInterval: this.#options.pollInterval ?? 30_000,
      watch: { ...watch, onLost: (error) => watch.onLost(toStoreFailure(error)) },
    })
  }

  #prepare(connections: Connections): OpenDatabase {
    const { pool, timeouts } = connections
    const names = this.#names
    const window = this.#options.announceWindow ?? 20
    const announcer = new Announcer({ pool, names, instance: this.#instance, window })
    const writer = new PostgresWriter({ pool, names, statementTimeout: timeouts.query, announcer })
    return {
      ...connections,
      release: async () => {
        await within(1000, announcer.flush())
        await connections.release()
      },
      engine: postgresEngine(pool, names, writer),
      writer,
      announceErasure: (owner) => announcer.addOwner(owner),
    }
  }

  protected async read<T>(task: (parts: OpenDatabase) => T | Promise<T>): Promise<T> {
    return orStoreFailure(Promise.resolve(task(this.opened())))
  }

  protected async write<T>(task: (parts: OpenDatabase) => T | Promise<T>): Promise<T> {
    return task(this.opened())
  }
}
