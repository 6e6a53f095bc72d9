/** The durable transport for one machine: events are rows of the application's own SQLite database. */
import { FMOD_CORE_TRANSPORT_NOT_OPEN } from '../../misuse-errors.ts'
import { type RetryOptions, retryDefaults } from '../attempt.ts'
import type { EventHandler } from '../discover-handlers.ts'
import type { DomainEvent } from '../event.ts'
import type { SyncTx, Tx } from '../transaction.ts'
import type { DeadLetters, EventTransport } from '../transport.ts'
import { createTables, FileLock, type SqliteDatabase } from './database.ts'
import { createDeliveries, type Deliveries } from './deliveries.ts'
import { createDispatcher, type Dispatcher } from './dispatcher.ts'
import { createPublish, publishIn } from './publish.ts'
import { sharesDatabase } from './verify.ts'

export interface SqliteOutboxOptions extends RetryOptions {
  /** An open better-sqlite3 database. The outbox does not close it; open it with `synchronous = FULL`. */
  readonly database: SqliteDatabase
  /**
   * How many deliveries run at once in this process.
   * @default 10
   */
  readonly concurrency?: number
  /**
   * After a process died, its running deliveries are tried again after this long, in milliseconds; a running handler
   * renews it.
   * @default 10000
   */
  readonly lease?: number
  /**
   * How often commits of other processes are looked for, in milliseconds (about 3 µs each).
   * @default 100
   */
  readonly pollInterval?: number
  /** How long `close` waits for running handlers, in milliseconds. @default 5000 */
  readonly closeTimeout?: number
}

/**
 * Stores events in the caller's transaction and delivers each at least once to every handler of its type, also after
 * the process was killed: with retries, and dead letters for what cannot be handled.
 */
export function sqliteOutbox({ database, ...given }: SqliteOutboxOptions): EventTransport {
  const options = {
    ...retryDefaults,
    concurrency: 10,
    lease: 10_000,
    pollInterval: 100,
    closeTimeout: 5000,
    ...given,
  }
  const handlers = new Map<string, EventHandler>()
  const lock = new FileLock(database)
  let publishOwn: ((event: DomainEvent) => void) | undefined
  let deliveries: Deliveries | undefined
  let dispatcher: Dispatcher | undefined

  const deadLetters: DeadLetters = {
    list: async (limit) => opened(deliveries).list(limit),
    async replay(id) {
      const found = await opened(deliveries).replay(id)
      dispatcher?.wake()
      return found
    },
    discard: async (id) => opened(deliveries).discard(id),
  }

  return {
    name: 'sqliteOutbox',
    transactional: 'sync',
    deadLetters,
    open(context) {
      createTables(database)
      publishOwn = createPublish(database)
      deliveries = createDeliveries(database)
      dispatcher = createDispatcher(database, lock, deliveries, handlers, context, options)
    },
    subscribe(handler) {
      handlers.set(handler.name, handler)
      opened(deliveries).subscribe(handler.name, handler.event.type)
    },
    start() {
      opened(dispatcher).start()
    },
    publish(event: DomainEvent, tx?: Tx) {
      if (tx) publishIn(tx as SyncTx, event) // the bus lets only its own kind through
      else lock.write(() => opened(publishOwn)(event))
      dispatcher?.wake()
    },
    verify: (tx) => sharesDatabase(database, tx as SyncTx),
    async close() {
      await dispatcher?.close()
    },
  }
}

function opened<T>(part: T | undefined): T {
  if (part === undefined) throw new FMOD_CORE_TRANSPORT_NOT_OPEN('sqliteOutbox')
  return part
}
