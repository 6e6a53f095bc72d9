/** The settings store in a PostgreSQL database. */
import { randomBytes } from 'node:crypto'
import { argumentProblems, type OptionsSchema, refuseOptions, Type } from '@fastify-modular/core/internal'
import { type ConnectionOptions, within } from '@fastify-modular/core/internal/postgres'
import { type MigrateMode, postgresOptions, type PostgresTableNames } from '../options.ts'
import { type OpenDatabase, SqlStore } from '../sql-store.ts'
import type { SettingsStore, StoreContext } from '../store.ts'
import {
  checkSource,
  createConnections,
  type DriverSource,
  onConnection,
  orStoreFailure,
  toStoreFailure,
} from './connection.ts'
import { Announcer, listen } from './listen.ts'
import { postgresEngine } from './engine.ts'
import { migrate } from './migrate.ts'
import { postgresNames } from './names.ts'
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
  return new SqlStore({
    info: { name: 'postgres', durable: true, transactional: 'async' },
    connection: 'pool' in source ? source.pool : source.connectionString,
    open: (context) => openDatabase(source, options, context),
  })
}

async function openDatabase(
  source: DriverSource,
  options: PostgresOptions,
  { log }: StoreContext,
): Promise<OpenDatabase> {
  const names = postgresNames(options, options.prepared)
  const onError = (error: unknown): void =>
    log.warn({ err: toStoreFailure(error) }, 'an idle connection to the settings database was lost')
  const connections = await createConnections(source, options, onError)
  const { pool, timeouts, release } = connections
  try {
    await orStoreFailure(onConnection(pool, (client) => migrate(client, names, options.migrate ?? 'auto')))
  } catch (error) {
    await release()
    throw error
  }
  const instance = randomBytes(6).toString('base64url')
  const announcer = new Announcer({ pool, names, instance, window: options.announceWindow ?? 20 })
  const writer = new PostgresWriter({ pool, names, statementTimeout: timeouts.query, announcer })
  return {
    engine: postgresEngine(pool, names, writer),
    writer,
    read: async (task) => orStoreFailure(Promise.resolve(task())),
    write: async (task) => task(),
    watch: (watch) =>
      listen({
        connections,
        names,
        instance,
        pollInterval: options.pollInterval ?? 30_000,
        watch: { ...watch, onLost: (error) => watch.onLost(toStoreFailure(error)) },
      }),
    announceErasure: (owner) => announcer.addOwner(owner),
    release: async () => {
      await within(1000, announcer.flush())
      await release()
    },
  }
}
