/** The event bus behind `app.events`: checks published events and passes them to the transport. */
import type { FastifyBaseLogger } from 'fastify'
import { errorCodes } from '../misuse-errors.ts'
import { logFailure } from '../internal/failures.ts'
import { safeRead } from '../internal/safe.ts'
import { within } from '../internal/timeout.ts'
import { createAnnouncer, type EventCounts } from './diagnostics.ts'
import { type DomainEvent, EventClasses } from './event.ts'
import type { EventHandler } from './handlers.ts'
import { currentTraceparent, type EventTracing, traced } from './tracing.ts'
import type {
  AsyncTx,
  DeadLetters,
  EventTransport,
  Subscription,
  RemovedHandlers,
  SyncTx,
  TransportContext,
  Tx,
} from './transport.ts'

/** Publishes events (S 6.2) and counts what became of them. */
export interface Events {
  /**
   * Publishes an event; resolves when the transport has it. Handlers run later and cannot fail the publisher.
   * @throws {FMOD_CORE_INVALID_EVENT} not an event, or its payload does not fit its schema
   * @throws {FMOD_CORE_EVENTS_CLOSED} the application has closed
   * @throws {FMOD_CORE_TRANSACTION_OPEN} a transaction on the connection of `sqliteOutbox()` did not end within 5 s
   * @throws {SERVICE_UNAVAILABLE} too many events wait in this process, which `inProcess()` bounds
   */
  publish(event: DomainEvent): Promise<void>
  /**
   * As part of the caller's synchronous transaction: stored before it returns, delivered only if it commits.
   * @throws {FMOD_CORE_INVALID_TRANSACTION} at once, of both kinds: the second argument has no transaction
   * @throws {FMOD_CORE_TRANSACTION_NOT_SUPPORTED} the transport cannot take part in this kind of transaction
   */
  publish(event: DomainEvent, options: { readonly tx: SyncTx }): void
  /** As part of the caller's asynchronous transaction: delivered only if it commits. */
  publish(event: DomainEvent, options: { readonly tx: AsyncTx }): Promise<void>
  /** The kind of transaction that `publish` accepts. */
  readonly transactional: EventTransport['transactional']
  /**
   * Whether the transport was made with this connection, pool or connection string: a transaction of it is then one that
   * `publish` can take part in. False for transports without transactions.
   */
  isOn(connection: unknown): boolean
  /** Events that no further attempt is made for; null where the transport keeps none. */
  readonly deadLetters: DeadLetters | null
  /** Handlers that events are kept for, although this process does not have them; null where nothing is kept. */
  readonly removedHandlers: RemovedHandlers | null
  /** What happened in this process since it started. */
  stats(): Readonly<EventCounts>
}

/**
 * Thrown and not rejected: a synchronous transaction would commit before.
 * @throws {FMOD_CORE_INVALID_TRANSACTION} the event would be published outside of the caller's transaction
 */
function transactionOf(options: { readonly tx?: Tx }): Tx {
  const tx: unknown = safeRead(options, 'tx')
  const kind = safeRead(tx, 'kind')
  const method = kind === 'sync' ? 'run' : 'query'
  if (typeof kind !== 'string' || typeof safeRead(tx, method) !== 'function')
    throw new errorCodes.FMOD_CORE_INVALID_TRANSACTION(
      'the second argument of publish has no member tx that pgTx, sqliteTx or drizzleTx made. Pass { tx }, or no second argument',
    )
  return tx as Tx
}

/** Milliseconds that closing waits for a start that is under way. */
const longestStart = 5000

/** The bus and what the plugin needs to fill, start and stop it. */
export type EventBus = Awaited<ReturnType<typeof openEventBus>>

/** A bus over one transport, which it opens. */
export async function openEventBus(
  transport: EventTransport,
  log: FastifyBaseLogger,
  tracing?: EventTracing,
) {
  const classes = new EventClasses()
  const { announce, counts } = createAnnouncer()
  const handlerNames = new Set<string>()
  let state: 'open' | 'stopped' | 'closed' = 'open'
  let started: Promise<void> | undefined
  let drained: Promise<void> | undefined
  const revive: TransportContext['revive'] = (...stored) => classes.revive(...stored)
  const opened = await transport.open({ log, announce, revive })

  function submit(event: DomainEvent, tx: Tx | undefined): void | Promise<void> {
    const type = classes.accept(event)
    if (state === 'closed') throw new errorCodes.FMOD_CORE_EVENTS_CLOSED(type)
    if (tx && transport.transactional !== tx.kind)
      throw new errorCodes.FMOD_CORE_TRANSACTION_NOT_SUPPORTED(transport.name, tx.kind)
    const { eventId } = event
    const submitted = opened.publish(event, { tx, traceparent: currentTraceparent(tracing) })
    if (submitted instanceof Promise)
      return submitted.then(() => announce('published', { event: type, eventId }))
    announce('published', { event: type, eventId })
    return undefined
  }

  function publish(event: DomainEvent): Promise<void>
  function publish(event: DomainEvent, options: { readonly tx: SyncTx }): void
  function publish(event: DomainEvent, options: { readonly tx: AsyncTx }): Promise<void>
  function publish(event: DomainEvent, options?: { readonly tx?: Tx }): void | Promise<void> {
    const tx = options === undefined ? undefined : transactionOf(options)
    // A row written after an await would escape a synchronous transaction.
    if (tx?.kind === 'sync') return submit(event, tx)
    try {
      return Promise.resolve(submit(event, tx))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** A failure is logged: no transport keeps modules from closing. */
  async function orLog(work: () => void | Promise<void>, message: string): Promise<void> {
    try {
      await work()
    } catch (err) {
      logFailure(log, 'error', { err }, message)
    }
  }

  async function drainTransport(): Promise<void> {
    if (started) await within(longestStart, started) // it may never end
    await opened.drain()
  }

  /** Resolves when no handler runs any more, and none will. Never rejects. */
  const drain = () => (drained ??= orLog(drainTransport, 'event transport did not wait for its handlers'))

  return {
    publish,
    isOn: (connection: unknown) => transport.isOn?.(connection) === true,
    transactional: transport.transactional,
    deadLetters: opened.deadLetters ?? null,
    removedHandlers: opened.removedHandlers ?? null,
    stats: counts,
    /**
     * Adds handlers, and those of other processes that events are kept for, as far as the transport keeps any.
     * @throws {FMOD_CORE_INVALID_HANDLER} two handlers of one name: transports keep slots and queues by it
     */
    async add(handlers: readonly EventHandler[], expected: readonly Subscription[] = []): Promise<void> {
      for (const { name, event } of handlers) {
        // A module may be called `app`, like the application's own handlers.
        if (handlerNames.has(name)) throw new errorCodes.FMOD_CORE_INVALID_HANDLER(`${name} is listed twice`)
        handlerNames.add(name)
        classes.add(event)
      }
      if (handlers.length > 0 || expected.length > 0)
        await opened.subscribe(
          tracing ? handlers.map((handler) => traced(handler, tracing)) : handlers,
          expected,
        )
    },
    /** Called when the application is ready; a transport that does not start is logged. */
    start(): void {
      // Not when the application closes before it was ready.
      if (state === 'open')
        started ??= orLog(() => opened.start(), 'events are not delivered: their transport did not start')
    },
    stop(): void {
      if (started) opened.stop?.()
      state = 'stopped'
    },
    drain,
    async close(): Promise<void> {
      await drain()
      state = 'closed'
      await opened.close()
    },
  }
}
