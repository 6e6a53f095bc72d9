/** The durable transport for one machine: events are rows of the application's own SQLite database. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { FileLock } from '../../internal/file-lock.ts'
import { isNodeSqlite, NodeSqliteConnection, type NodeSqliteDatabase } from '../../internal/node-sqlite.ts'
import { option, type OptionsSchema, Type } from '../../internal/options.ts'
import { safeRead } from '../../internal/safe.ts'
import { FMOD_CORE_TRANSACTION_OPEN, FMOD_CORE_TRANSPORT_NOT_OPEN } from '../../misuse-errors.ts'
import { dispatchDefaults, type RetryOptions } from '../delivery.ts'
import { type DomainEvent, eventTypeOf } from '../event.ts'
import type { EventHandler } from '../handlers.ts'
import { warnOfChangedHandler, warnOfRemovedHandlers } from '../subscription-warnings.ts'
import type { DeadLetters, EventTransport, PublishOptions, RemovedHandlers, SyncTx } from '../transport.ts'
import { checkTransportOptions, durableOptions } from '../transport-options.ts'
import { createTables, sharesDatabase, type SqliteDatabase } from './database.ts'
import { Dispatcher } from './dispatcher.ts'
import { publishIn, Queue } from './queue.ts'

export interface SqliteOutboxOptions extends RetryOptions {
  /**
   * An open database of better-sqlite3, or a `DatabaseSync` of `node:sqlite`. The outbox does not close it; open it with
   * `synchronous = FULL`.
   */
  readonly database: SqliteDatabase | NodeSqliteDatabase
  /**
   * How many deliveries of one handler run at once in this process.
   * @default 10
   */
  readonly concurrency?: number
  /**
   * How long a running delivery belongs to its process, in milliseconds: after a process died, another attempt begins
   * when the lease has ended; a running handler renews it.
   * @default 10000
   */
  readonly lease?: number
  /**
   * How often the database is polled for commits of other processes, in milliseconds (about 3 µs each).
   * @default 100
   */
  readonly pollInterval?: number
  /** How long `close` waits for running handlers, in milliseconds. @default 5000 */
  readonly closeTimeout?: number
}

/** Milliseconds for which an event waits for the end of a transaction that it is no part of. */
const patience = 5000

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
export function sqliteOutbox({ database: given, ...rest }: SqliteOutboxOptions): EventTransport {
  checkTransportOptions('sqliteOutbox', schema, { database: given, ...rest })
  const database = isNodeSqlite(given) ? new NodeSqliteConnection(given) : given
  const options = { ...dispatchDefaults, pollInterval: 100, ...rest }
  const handlers = new Map<string, EventHandler>()
  let parts: Parts | undefined

  function opened(): Parts {
    if (!parts) throw new FMOD_CORE_TRANSPORT_NOT_OPEN('sqliteOutbox')
    return parts
  }

  /** After a transaction that is open on the connection, whoever began it: its rollback would undo the event. */
  async function publishLater(event: DomainEvent, options: PublishOptions): Promise<void> {
    for (const end = performance.now() + patience; database.inTransaction; await sleep(1))
      if (performance.now() > end) throw new FMOD_CORE_TRANSACTION_OPEN(eventTypeOf(event))
    const { queue, dispatcher } = opened()
    queue.publish(event, options)
    dispatcher.wake()
  }

  const deadLetters: DeadLetters = {
    list: async (limit = 100) => opened().queue.listDead(limit),
    async replay(id) {
      const { queue, dispatcher } = opened()
      const isFound = queue.replay(id)
      dispatcher.wake()
      return isFound
    },
    discard: async (id) => opened().queue.discard(id),
  }
  const removedHandlers: RemovedHandlers = {
    list: async () => opened().queue.listRemoved(handlers.keys()),
    unsubscribe: async (handler) => opened().queue.unsubscribe(handler, handlers.keys()),
  }

  return {
    name: 'sqliteOutbox',
    transactional: 'sync',
    deadLetters,
    removedHandlers,
    open(context) {
      createTables(database)
      const lock = new FileLock(database)
      const queue = new Queue(database, lock)
      const dispatcher = new Dispatcher({ database, lock, queue, handlers, context, options })
      parts = { queue, dispatcher, log: context.log }
    },
    subscribe(handler) {
      handlers.set(handler.name, handler)
      const { queue, log } = opened()
      const formerType = queue.subscribe(handler)
      if (formerType !== undefined) warnOfChangedHandler(handler, formerType, log)
    },
    async start() {
      const { dispatcher, log } = opened()
      dispatcher.start()
      await warnOfRemovedHandlers(removedHandlers, log)
    },
    publish(event, options) {
      const { queue, dispatcher } = opened()
      const { tx } = options
      if (!tx && database.inTransaction) return publishLater(event, options)
      if (tx) publishIn(tx as SyncTx, event, options) // the bus passes transactions of this transport's kind only
      else queue.publish(event, options)
      dispatcher.wake()
      return undefined
    },
    verify: (tx) => sharesDatabase(database, tx as SyncTx),
    stop: () => parts?.dispatcher.stop(),
    drain: () => parts?.dispatcher.drain(),
    close() {},
  }
}

/** What an open transport consists of. */
interface Parts {
  readonly queue: Queue
  readonly dispatcher: Dispatcher
  readonly log: FastifyBaseLogger
}
