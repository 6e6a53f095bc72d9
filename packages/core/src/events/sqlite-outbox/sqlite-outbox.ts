/** Subpath `core/events/sqlite-outbox`, optional peer better-sqlite3: the durable transport for one machine. Events are rows of the application's own SQLite database. */
import { isNodeSqlite, NodeSqliteConnection, type NodeSqliteDatabase } from '../../internal/node-sqlite.ts'
import { argumentProblems, option, type OptionsSchema, refuseOptions, Type } from '../../internal/options.ts'
import { safeRead } from '../../internal/safe.ts'
import { durableTransport } from '../durable/durable-transport.ts'
import { type DurableOptions, durableOptions } from '../durable/options.ts'
import type { EventTransport } from '../transport.ts'
import type { SqliteDatabase } from './database.ts'
import { SqliteQueue } from './queue.ts'

export type { SqliteDatabase } from './database.ts'

export interface SqliteOutboxOptions extends DurableOptions {
  /**
   * An open database of better-sqlite3, or a `DatabaseSync` of `node:sqlite`. The outbox does not close it; open it with
   * `synchronous = FULL`.
   */
  readonly database: SqliteDatabase | NodeSqliteDatabase
  /**
   * How long a running delivery belongs to its process, in milliseconds: after a process died, another attempt begins
   * when the lease has ended; a running handler renews it.
   * @default 10000
   */
  readonly lease?: number
  /**
   * How often the database is polled for commits of other processes, in milliseconds: one statement each.
   * @default 100
   */
  readonly pollInterval?: number
}

const schema: OptionsSchema<SqliteOutboxOptions> = Type.Object({
  ...durableOptions,
  database: option.required(option.that(isDatabase, 'an open database of better-sqlite3 or node:sqlite')),
})

function isDatabase(value: unknown): boolean {
  const methods = ['exec', 'pragma', 'prepare', 'transaction']
  return isNodeSqlite(value) || methods.every((method) => typeof safeRead(value, method) === 'function')
}

/**
 * Stores events in the caller's transaction and delivers each at least once to every handler of its type, also after
 * the process was killed: with retries, and dead letters for what cannot be handled.
 * @throws {FMOD_CORE_INVALID_OPTION} with all options that cannot be used
 */
export function sqliteOutbox(options: SqliteOutboxOptions): EventTransport {
  refuseOptions('sqliteOutbox()', argumentProblems(schema, options, 'options'))
  const { database: given, lease = 10_000, pollInterval = 100, ...rest } = options
  const database = isNodeSqlite(given) ? new NodeSqliteConnection(given) : given
  return durableTransport(
    {
      name: 'sqliteOutbox',
      transactional: 'sync',
      isOn: (connection) => connection === given,
      open: (context) => new SqliteQueue(database, lease, context),
    },
    { ...rest, beatInterval: Math.min(pollInterval, Math.ceil(lease / 3)) },
  )
}
