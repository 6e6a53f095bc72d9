/** The port between the event bus and what carries events to their handlers, and the transactions it can take part in. */
import type { FastifyBaseLogger } from 'fastify'
import { safeRead } from '../internal/safe.ts'
import { errorCodes } from '../misuse-errors.ts'
import type { Announce } from './diagnostics.ts'
import type { DomainEvent } from './event.ts'
import type { EventHandler } from './handlers.ts'

/** What `inProcess()` or `durableTransport` on a queue returns. Each application that opens it gets deliveries of its own. */
export interface EventTransport {
  /** Shown in messages. */
  readonly name: string
  /** The kind of transaction `publish` can take part in. */
  readonly transactional: Tx['kind'] | false
  /** Whether it was made with this connection, pool or connection string; absent where `transactional` is false. */
  isOn?(connection: unknown): boolean
  /** Prepares storage. What it has begun before it fails is its own to end. */
  open(context: TransportContext): OpenTransport | Promise<OpenTransport>
}

/**
 * Carries the events that one application publishes to its handlers.
 *
 * An event goes to each handler whose `event.type` is exactly its type, whatever other handlers do with it. Each handler
 * has ten slots in a process: one that is slow holds up no other. A handler may throw, reject or never end.
 */
export interface OpenTransport {
  /**
   * Registers handlers; called before `start`, once for those of all modules. From now on a durable transport keeps events
   * for them. What waits of the event that a handler had before fails, and is a dead letter in the end. `expected` are those
   * of other processes.
   */
  subscribe(handlers: readonly EventHandler[], expected: readonly Subscription[]): void | Promise<void>
  /**
   * Begins to deliver, and not before: what was published before is delivered now. Called after the last `onReady` of the
   * application, and never if that refuses to start; it cannot stop the boot any more. Closing waits up to 5 s for its end.
   */
  start(): void | Promise<void>
  /**
   * Takes one event, which the bus has checked. Without a transaction the promise resolves once the transport has the
   * event; within a synchronous one the event is stored before `publish` returns.
   */
  publish(event: DomainEvent, options: PublishOptions): void | Promise<void>
  /** Events that no further attempt is made for; absent where nothing is kept. */
  readonly deadLetters?: DeadLetters
  /** Handlers that events are kept for, although this process does not have them; absent where nothing is kept. */
  readonly removedHandlers?: RemovedHandlers
  /**
   * Begins no further delivery; absent where what waits would be lost. Called when the application begins to close
   * (`preClose`), while requests still end and publish.
   */
  stop?(): void
  /**
   * Waits for running handlers within bounds, then aborts their signal; afterwards no handler is called. A transport
   * without `stop` delivers what waits until then; others hand what is not finished to other processes at once. Called
   * once, before the first `onClose` of a module; events are published until `close`.
   */
  drain(): void | Promise<void>
  /** Ends what `open` has begun. Called after `drain`, and also when the application failed to start. */
  close(): void | Promise<void>
}

/** What the bus passes on with an event. */
export interface PublishOptions {
  /** The caller's transaction; only of the kind that the transport takes. */
  readonly tx?: Tx | undefined
  /** Travels with the event, and comes back with each of its deliveries. */
  readonly traceparent?: string | undefined
}

/** What the bus gives a transport. */
export interface TransportContext {
  readonly log: FastifyBaseLogger
  /**
   * Called by the transport for each attempt: `handled` or `failed`, and `deadLettered` when no other one follows; and with
   * `unsubscribed` where it keeps events and stores one for nobody. The bus announces `published`. This is what `app.events.stats()` and the diagnostics channels show.
   */
  readonly announce: Announce
  /**
   * Makes a stored event again.
   * @throws {FMOD_CORE_INVALID_EVENT} the type is unknown here, or the payload does not fit its schema
   */
  revive(type: string, eventId: string, payload: unknown): DomainEvent
}

/** One event that one handler could not handle. */
export interface DeadLetter {
  /** The argument of `replay` and `discard`. */
  readonly id: string
  readonly eventId: string
  readonly type: string
  readonly handler: string
  readonly attempts: number
  /** Name and message of what the last attempt threw, at most 500 characters; never the parameters of a query. */
  readonly error: string
  /** Milliseconds since the epoch. */
  readonly failedAt: number
}

/** Inspection of dead letters; payloads stay in the database. */
export interface DeadLetters {
  /** Oldest first. @default limit 100 @throws {ARGUMENT} the limit is not a positive integer */
  list(limit?: number): Promise<readonly DeadLetter[]>
  /** Delivers it again, with all its attempts; false if there is no such dead letter, or no subscription of its handler. */
  replay(id: string): Promise<boolean>
  /** Deletes it for good; false if there is no such dead letter. */
  discard(id: string): Promise<boolean>
}

/** A handler that events are kept for. */
export interface Subscription {
  /** `<module>.<id, or else class name>`. */
  readonly handler: string
  /** Of its event. */
  readonly type: string
  /** Another process has the handler: if it has a subscription, to whatever event, that one stays as it is. */
  readonly isExpected?: true
}

/** A handler that has a subscription, but not in this process: it was removed or renamed, or runs elsewhere. */
export interface RemovedHandler {
  /** The argument of `unsubscribe`. */
  readonly handler: string
  /** Another process has it now; absent where none has, or the transport does not know the processes. */
  readonly isRunning?: true
  /** How many events wait for it. */
  readonly waiting: number
}

/** The way to end subscriptions whose handler is gone: their events would be kept for ever. */
export interface RemovedHandlers {
  list(): Promise<readonly RemovedHandler[]>
  /**
   * Ends the subscription and deletes the events that wait for it; dead letters stay. False if there is no such
   * subscription, or if this process has the handler.
   */
  unsubscribe(handler: string): Promise<boolean>
}

/** A transaction whose statements run at once (better-sqlite3): the row is written before `run` returns. */
export interface SyncTx {
  readonly kind: 'sync'
  /** Parameters stand as `?`. */
  run(sql: string, params: readonly unknown[]): void
}

/** A transaction whose statements are awaited (PostgreSQL). */
export interface AsyncTx {
  readonly kind: 'async'
  /** Parameters stand as `$1`, `$2`, … */
  query(sql: string, params: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  /**
   * Keeps what the owner of the transaction is to call after the commit; it never throws, and tells other processes of what
   * was published. Without it the transaction itself notifies them, and PostgreSQL commits those that do so one at a time.
   * Where it is not called, because the process has died, the next poll finds the events.
   */
  afterCommit?(notify: () => void): void
}

/** The caller's open transaction. */
export type Tx = SyncTx | AsyncTx

/** The part of a better-sqlite3 database that publishing needs. */
export interface BetterSqliteLike {
  prepare(sql: string): { run(...params: unknown[]): unknown }
}

/** The part of a pg client that publishing needs. */
export interface PgClientLike {
  query(sql: string, params: unknown[]): Promise<{ readonly rows: unknown[] }>
}

/**
 * Publishes within the transaction that is open on a better-sqlite3 database.
 * @throws {FMOD_CORE_INVALID_TRANSACTION} it is not a database; or, when an event is published, no transaction is open on it
 */
export function sqliteTx(database: BetterSqliteLike): SyncTx {
  requireClient(database, 'prepare', 'sqliteTx takes a database of better-sqlite3')
  const run: SyncTx['run'] = (sql, params) => {
    requireOpen(database)
    database.prepare(sql).run(...params)
  }
  return { kind: 'sync', run }
}

/**
 * Publishes within the transaction that is open on a pg client.
 * @throws {FMOD_CORE_INVALID_TRANSACTION} it is not a client: each statement of a pool is a transaction of its own
 */
export function pgTx(client: PgClientLike): AsyncTx {
  requireClient(client, 'query', 'pgTx takes the client that began the transaction, and no pool')
  return { kind: 'async', query: (sql, params) => client.query(sql, [...params]) }
}

/** @throws {FMOD_CORE_INVALID_TRANSACTION} with this rule, where a value does not have the method, or is, or works on, a pg pool */
export function requireClient(value: unknown, method: string, rule: string): void {
  const isPool = [value, safeRead(value, '$client')].some(
    (client) => typeof safeRead(client, 'totalCount') === 'number',
  )
  if (isPool || typeof safeRead(value, method) !== 'function')
    throw new errorCodes.FMOD_CORE_INVALID_TRANSACTION(rule)
}

/** @throws {FMOD_CORE_INVALID_TRANSACTION} a SQLite database, of either driver, says that no transaction is open on it */
export function requireOpen(database: unknown): void {
  if (safeRead(database, 'inTransaction') !== false && safeRead(database, 'isTransaction') !== false) return
  throw new errorCodes.FMOD_CORE_INVALID_TRANSACTION(
    'no transaction is open on the database. Publish inside of it',
  )
}
