/** Subpath `core/events/pg-boss`, optional peers pg and pg-boss: the durable transport for several instances. PostgreSQL is the engine, pg-boss the queue. */
import { logFailure } from '../../internal/failures.ts'
import { argumentProblems, option, type OptionsSchema, refuseOptions, Type } from '../../internal/options.ts'
import { BoundedConnections, type ConnectionOptions, connectionOptions } from '../../internal/postgres.ts'
import { safeRead } from '../../internal/safe.ts'
import { within } from '../../internal/timeout.ts'
import { durableTransport } from '../durable/durable-transport.ts'
import { type DurableOptions, durableOptions } from '../durable/options.ts'
import type { QueueContext } from '../durable/queue.ts'
import type { EventTransport } from '../transport.ts'
import { createBoss, createPool, type PgPool } from './database.ts'
import { PgBossQueue } from './queue.ts'

export type { PgConnection, PgPool } from './database.ts'

export interface PgBossCommonOptions extends DurableOptions, ConnectionOptions {
  /** Schema of pg-boss's tables; letters, digits and `_`. @default 'pgboss' */
  readonly schema?: string
  /**
   * How long a delivery belongs to an instance that has stopped renewing it, in milliseconds: another one takes it at
   * most one `pollInterval` later.
   * @default 10000
   */
  readonly lease?: number
  /**
   * How often an instance renews its leases and looks for due events besides the notifications, in milliseconds; two
   * fifths of the lease where that is less.
   * @default 4000
   */
  readonly pollInterval?: number
}

/** Where the queue lives: the same database as the data whose transactions publish. */
export type PgBossOptions = PgBossCommonOptions &
  (
    | { readonly connectionString: string; readonly pool?: never }
    | { readonly pool: PgPool; readonly connectionString?: never }
  )

const optionsSchema: OptionsSchema<PgBossOptions> = Type.Object({
  ...durableOptions,
  connectionString: option.string('a connection string'),
  pool: option.that(isPool, 'a pool of the package pg'),
  schema: Type.String({
    pattern: '^[A-Za-z_][A-Za-z0-9_]{0,40}$',
    description: 'at most 41 letters, digits and underscores, not a digit first',
  }),
  ...connectionOptions,
})

function isPool(value: unknown): boolean {
  return ['connect', 'query', 'on', 'end'].every((method) => typeof safeRead(value, method) === 'function')
}

/**
 * Stores events in the caller's transaction and delivers each at least once to every handler of its type, on one of
 * the instances that have it. The pool needs two connections for itself.
 * @throws {FMOD_CORE_INVALID_OPTION} with all options that cannot be used
 */
export function pgBoss(options: PgBossOptions): EventTransport {
  refuseOptions('pgBoss()', argumentProblems(optionsSchema, options, 'options'))
  const { pool, connectionString, lease = 10_000, pollInterval = 4000, timeouts } = options
  return durableTransport(
    {
      name: 'pgBoss',
      transactional: 'async',
      isOn: (connection) => connection === (pool ?? connectionString),
      open: (context) => openQueue({ ...options, lease }, context),
    },
    {
      ...options,
      beatInterval: Math.min(pollInterval, lease / 2.5),
      queueTimeout: timeouts?.close ?? 5000,
    },
  )
}

async function openQueue(
  options: PgBossOptions & { readonly lease: number },
  context: QueueContext,
): Promise<PgBossQueue> {
  const { pool: given, connectionString = '', schema = 'pgboss', lease } = options
  // What a lost notification would have announced is found by the next poll.
  const connections = new BoundedConnections({ ...options, timeouts: { probe: 30_000, ...options.timeouts } })
  const { probe, connect: answer, close: timeout } = connections.timeouts
  const report = (err: unknown, what: string) => logFailure(context.log, 'error', { err }, what)
  const pool = given ?? (await createPool(connectionString, connections))
  if (!given) pool.on('error', (err) => report(err, 'event database connection failed'))
  const boss = await createBoss(pool, schema)
  boss.on('error', (err) => report(err, 'event queue failed'))
  async function close(): Promise<void> {
    await within(timeout, boss.stop({ graceful: false, wait: false, close: false }))
    if (!given) await connections.end(pool)
  }
  const queue = new PgBossQueue({ boss, pool, schema, lease, listening: { probe, answer }, close, context })
  try {
    await queue.prepare()
    return queue
  } catch (error) {
    await close()
    throw error
  }
}
