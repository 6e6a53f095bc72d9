/** The durable transport for several instances: PostgreSQL is the engine, pg-boss the queue. */
import type { FastifyBaseLogger } from 'fastify'
import { FMOD_CORE_TRANSPORT_NOT_OPEN } from '../../misuse-errors.ts'
import { option, type OptionsSchema, Type } from '../../internal/options.ts'
import {
  BoundedConnections,
  postgresTimeouts,
  type PostgresTimeouts,
  within,
} from '../../internal/postgres.ts'
import { safeRead } from '../../internal/safe.ts'
import { type RetryOptions, retryDefaults } from '../attempt.ts'
import type { EventHandler } from '../discover-handlers.ts'
import type { DomainEvent } from '../event.ts'
import type { AsyncTx, Tx } from '../transaction.ts'
import type { EventTransport } from '../transport.ts'
import { checkTransportOptions, durableOptions } from '../transport-options.ts'
import { type Boss, createBoss, createPool, type PgPool } from './boss.ts'
import { createDeadLetters } from './dead-letters.ts'
import { listen, type Listener } from './listener.ts'
import { channelOf, createDeadQueue, createHandlerQueue, findStranded, sendToSubscribers } from './queues.ts'
import { exclusively, inTransaction } from './transaction.ts'
import { sharesDatabase } from './verify.ts'
import { createWorker, type Worker } from './worker.ts'

export interface PgBossCommonOptions extends RetryOptions {
  /** Schema of pg-boss's tables; letters, digits and `_`. @default 'pgboss' */
  readonly schema?: string
  /** How many deliveries run at once in this process. @default 10 */
  readonly concurrency?: number
  /**
   * How often queues are looked at besides the notices of commits, in milliseconds: the latency of retries, and of all
   * deliveries while no notice arrives.
   * @default 1000
   */
  readonly pollInterval?: number
  /** How often pg-boss looks for jobs whose worker died, in seconds. @default 10 */
  readonly supervisionInterval?: number
  /** How long `close` waits for running handlers, in milliseconds; the database gets `timeouts.close` besides. @default 5000 */
  readonly closeTimeout?: number
  /** How long the database may take. A pool that you hand over keeps its own time-outs for statements. */
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
  supervisionInterval: Type.Number({ minimum: 1, description: '1 or more seconds' }),
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
  const options = {
    ...retryDefaults,
    concurrency: 10,
    pollInterval: 1000,
    supervisionInterval: 10,
    closeTimeout: 5000,
    ...given,
  }
  const connections = new BoundedConnections(timeouts)
  const handlers = new Map<string, EventHandler>()
  let parts: { boss: Boss; pool: PgPool; worker: Worker; schema: string } | undefined
  let listener: Listener | undefined
  let log: FastifyBaseLogger | undefined

  function opened() {
    if (!parts) throw new FMOD_CORE_TRANSPORT_NOT_OPEN('pgBoss')
    return parts
  }

  async function warnOfStranded(pool: PgPool): Promise<void> {
    try {
      const stranded = await findStranded(pool, schema, handlers.keys())
      if (stranded.count > 0) log?.warn(stranded, 'events wait for handlers that this process does not have')
    } catch (err) {
      log?.error({ err }, 'event queue cannot be used')
    }
  }

  return {
    name: 'pgBoss',
    transactional: 'async',
    deadLetters: createDeadLetters(opened, handlers),
    async open(context) {
      const pool = givenPool ?? (await createPool(connectionString ?? '', connections))
      if (!givenPool)
        pool.on('error', (err) => context.log.error({ err }, 'event database connection failed'))
      const boss = await createBoss({
        schema,
        db: { executeSql: (sql: string, params?: unknown[]) => pool.query(sql, params) },
        schedule: false,
        maintenanceIntervalSeconds: options.supervisionInterval,
        superviseIntervalSeconds: options.supervisionInterval,
      })
      boss.on('error', (err) => context.log.error({ err }, 'event queue maintenance failed'))
      await exclusively(pool, schema, async () => {
        await boss.start()
        await createDeadQueue(boss)
      })
      parts = { boss, pool, worker: createWorker(boss, handlers, context, options), schema }
      log = context.log
    },
    async subscribe(handler) {
      handlers.set(handler.name, handler)
      const { boss, pool } = opened()
      // pg-boss makes a table per queue; two instances doing so at once run into a deadlock.
      await exclusively(pool, schema, () => createHandlerQueue(boss, handler, options))
    },
    async start() {
      const { pool, worker } = opened()
      worker.start()
      const { probe, connect: answer } = connections.timeouts
      const channel = channelOf(schema)
      const onLost = (err: unknown) => log?.warn({ err }, 'event notices are lost for now, polling goes on')
      listener = listen({ pool, channel, probe, answer, onNotice: worker.wake, onLost })
      await warnOfStranded(pool)
    },
    async publish(event: DomainEvent, tx?: Tx) {
      const { boss, pool } = opened()
      if (!tx) return inTransaction(pool, (db) => sendToSubscribers(boss, db, schema, event))
      const { query } = tx as AsyncTx // the bus lets only its own kind through
      const db = {
        executeSql: async (sql: string, params: unknown[] = []) => ({
          rows: [...(await query(sql, params)).rows],
        }),
      }
      return sendToSubscribers(boss, db, schema, event)
    },
    verify: (tx) => sharesDatabase(opened().pool, tx as AsyncTx),
    async close() {
      listener?.close()
      if (!parts) return
      const { boss, pool, worker } = parts
      await worker.close(connections.timeouts.close)
      await within(connections.timeouts.close, boss.stop({ graceful: false, wait: false, close: false }))
      if (!givenPool) await connections.end(pool)
    },
  }
}
