/** The durable transport for several instances: PostgreSQL is the engine, pg-boss the queue. */
import type { FastifyBaseLogger } from 'fastify'
import { logFailure } from '../../internal/failures.ts'
import { option, type OptionsSchema, Type } from '../../internal/options.ts'
import {
  BoundedConnections,
  postgresTimeouts,
  type PostgresTimeouts,
  within,
} from '../../internal/postgres.ts'
import { safeRead } from '../../internal/safe.ts'
import { FMOD_CORE_TRANSPORT_NOT_OPEN } from '../../misuse-errors.ts'
import { dispatchDefaults, type RetryOptions } from '../delivery.ts'
import type { EventHandler } from '../handlers.ts'
import { warnOfChangedHandler, warnOfRemovedHandlers } from '../subscription-warnings.ts'
import type { AsyncTx, DeadLetters, EventTransport, RemovedHandlers } from '../transport.ts'
import { checkTransportOptions, durableOptions } from '../transport-options.ts'
import { Cluster } from './cluster.ts'
import { type Boss, createBoss, createPool, exclusively, type PgPool, sharesDatabase } from './database.ts'
import { Dispatcher } from './dispatcher.ts'
import { Listener } from './listener.ts'
import { Queue } from './queue.ts'
import { addTables } from './tables.ts'

export interface PgBossCommonOptions extends RetryOptions {
  /** Schema of pg-boss's tables; letters, digits and `_`. @default 'pgboss' */
  readonly schema?: string
  /** How many deliveries of one handler run at once in this process. @default 10 */
  readonly concurrency?: number
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
  /** How long `close` waits for running handlers, in milliseconds; the database gets `timeouts.close` besides. @default 5000 */
  readonly closeTimeout?: number
  /** How long the database may take. A pool of your own keeps its own time-outs for statements. */
  readonly timeouts?: PostgresTimeouts
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
  timeouts: postgresTimeouts,
})

function isPool(value: unknown): boolean {
  return ['connect', 'query', 'on', 'end'].every((method) => typeof safeRead(value, method) === 'function')
}

/**
 * Stores events in the caller's transaction and delivers each at least once to every handler of its type, on one of
 * the instances that have it. The pool needs two connections for itself.
 * @throws {FMOD_CORE_INVALID_OPTION} with all options that cannot be used
 */
export function pgBoss(pgBossOptions: PgBossOptions): EventTransport {
  checkTransportOptions('pgBoss', optionsSchema, pgBossOptions)
  const { connectionString, pool: givenPool, schema = 'pgboss', timeouts, ...given } = pgBossOptions
  const options = { ...dispatchDefaults, pollInterval: 4000, ...given }
  // What a lost notification would have announced is found by the next poll.
  const connections = new BoundedConnections({ probe: 30_000, ...timeouts })
  const handlers = new Map<string, EventHandler>()
  /** What is open, also after an `open` that failed half-way. */
  let ownPool: PgPool | undefined
  let startedBoss: Boss | undefined
  let parts: Parts | undefined
  let listener: Listener | undefined

  function opened(): Parts {
    if (!parts) throw new FMOD_CORE_TRANSPORT_NOT_OPEN('pgBoss')
    return parts
  }

  const deadLetters: DeadLetters = {
    list: async (limit = 100) => opened().queue.listDead(limit),
    replay: async (id) => opened().queue.replay(id),
    discard: async (id) => opened().queue.discard(id),
  }
  const removedHandlers: RemovedHandlers = {
    list: async () => opened().queue.listRemoved(),
    unsubscribe: async (handler) => opened().queue.unsubscribe(handler),
  }

  return {
    name: 'pgBoss',
    transactional: 'async',
    deadLetters,
    removedHandlers,
    async open(context) {
      const { log } = context
      const pool = givenPool ?? (await createPool(connectionString ?? '', connections))
      if (!givenPool) {
        ownPool = pool
        pool.on('error', (err) => logFailure(log, 'error', { err }, 'event database connection failed'))
      }
      const boss = await createBoss(pool, schema)
      boss.on('error', (err) => logFailure(log, 'error', { err }, 'event queue failed'))
      startedBoss = boss
      const cluster = new Cluster(pool, schema, options.lease)
      const queue = new Queue({ boss, pool, schema, cluster, handlers })
      await exclusively(pool, schema, async () => {
        await boss.start()
        await queue.createDeadLetterQueue()
        await addTables(pool, schema, log)
      })
      const dispatcher = new Dispatcher({ queue, cluster, handlers, context, options })
      parts = { pool, queue, cluster, dispatcher, log }
    },
    async subscribe(handler) {
      handlers.set(handler.name, handler)
      const { pool, queue, log } = opened()
      // pg-boss makes a table per queue; two instances doing so at once run into a deadlock.
      const formerType = await exclusively(pool, schema, () => queue.subscribe(handler, options))
      if (formerType !== undefined) warnOfChangedHandler(handler, formerType, log)
    },
    async start() {
      const { pool, cluster, dispatcher, log } = opened()
      await dispatcher.start()
      const { probe, connect: answer } = connections.timeouts
      listener = new Listener({
        pool,
        channel: cluster.channel,
        probe,
        answer,
        onNotice: (payload) => dispatcher.notice(payload),
        onLost: (err) => logFailure(log, 'warn', { err }, 'event notices are lost for now, polling goes on'),
      })
      listener.start()
      await warnOfRemovedHandlers(removedHandlers, log)
    },
    async publish(event, options) {
      const { queue, dispatcher } = opened()
      if (options.tx && options.wakes) {
        const queues = await queue.enqueue(event, options)
        return { wake: () => dispatcher.announce(queues) }
      }
      dispatcher.wake(await queue.publish(event, options))
      return undefined
    },
    verify: (tx) => sharesDatabase(opened().pool, tx as AsyncTx),
    stop: () => parts?.dispatcher.stop(),
    async drain() {
      listener?.close()
      await parts?.dispatcher.drain(connections.timeouts.close)
    },
    async close() {
      const { close: timeout } = connections.timeouts
      if (startedBoss) await within(timeout, startedBoss.stop({ graceful: false, wait: false, close: false }))
      if (ownPool) await connections.end(ownPool)
    },
  }
}

/** What an open transport consists of. */
interface Parts {
  readonly pool: PgPool
  readonly queue: Queue
  readonly cluster: Cluster
  readonly dispatcher: Dispatcher
  readonly log: FastifyBaseLogger
}
