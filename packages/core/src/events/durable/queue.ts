/** The port between a durable transport and the database, or the broker, that keeps its events. */
import type { FastifyBaseLogger } from 'fastify'
import type { DeadLetter, EventTransport, Subscription, RemovedHandler, Tx } from '../transport.ts'

/** Where the events of one application are kept; `durableTransport` makes a transport of it. */
export interface QueueSource<J extends Job = Job> extends Omit<EventTransport, 'open'> {
  /** Prepares the storage. What it has opened before it fails is its own to close. */
  open(context: QueueContext): Queue<J> | Promise<Queue<J>>
}

/** What a queue may tell its transport. */
export interface QueueContext {
  readonly log: FastifyBaseLogger
  /**
   * Whether `open` makes missing tables. Where it must not, because a command of the command line opens the application, it
   * fails with an error whose `code` is `FMOD_CORE_QUEUE_MISSING`.
   */
  readonly migrates: boolean
  /** Events may be due for these handlers, by name: asks for them soon. Names of other processes' handlers are passed over. */
  wake(handlers: Iterable<string>): void
  /** Calls `beat` soon, and not only when it is due. Never rejects. */
  look(): Promise<void>
  /** Whether this process has the handler, and may begin another delivery for it. */
  isFree(handler: string): boolean
}

/** An event as a queue keeps it. */
export interface StoredEvent {
  readonly eventId: string
  readonly type: string
  /** JSON text; any text of a person is in it, with NUL and lone surrogates as escapes. */
  readonly payload: string
  /** Of the publisher; comes back with each delivery. */
  readonly traceparent: string | null
}

/** One event on its way to one handler, held by this process. */
export interface Job extends StoredEvent {
  /** Unique among the jobs of its handler. */
  readonly id: string | number
  /** Attempts that failed. */
  readonly failures: number
}

/** What became of an attempt. `delay`: milliseconds until the next one. `dead`: no other one follows. */
export type Outcome =
  | { readonly kind: 'handled' }
  | { readonly kind: 'retry'; readonly error: string; readonly delay: number }
  | { readonly kind: 'dead'; readonly error: string }

/** A job whose attempt has ended. */
export interface FinishedJob<J extends Job = Job> {
  readonly job: J
  readonly outcome: Outcome
}

/** What one call records and fetches for one handler. */
export interface Exchange<J extends Job = Job> {
  readonly handler: string
  readonly finished: readonly FinishedJob<J>[]
  /** How many due jobs are fetched at most; 0 while the application closes. */
  readonly limit: number
}

/** An open queue. It keeps each event for each handler apart, and lends jobs to processes that show that they live. */
export interface Queue<J extends Job = Job> {
  /**
   * Keeps the events of these handlers from now on, also while no process has them. A handler whose event is another one
   * than before gets only the new one; attempts with what waits of the former one fail.
   */
  subscribe(handlers: readonly Subscription[]): void | Promise<void>
  /**
   * Stores an event for each handler that is subscribed to its type, in the caller's transaction if there is one: within
   * a synchronous one before it returns. Returns whether any handler is. Calls `wake` where the event is for this process. Others are notified by
   * `tx.afterCommit` where the transaction has that.
   */
  publish(event: StoredEvent, tx: Tx | undefined): boolean | Promise<boolean>
  /**
   * Records what has ended, and fetches due jobs in the order in which they fell due. A job that this process has lost to
   * another one is changed only if it was handled: then it is done. Where it rejects, it is called again after the
   * next beat.
   */
  exchange(exchange: Exchange<J>): Promise<readonly J[]>
  /** Shows that this process lives and still runs these jobs; returns the handlers that have due jobs. */
  beat(held: readonly J[]): Iterable<string> | Promise<Iterable<string>>
  /** No further jobs are fetched, and outcomes that cannot be recorded now are never recorded. */
  stop?(): void
  /** Hands these jobs to other processes at once, without counting an attempt. */
  release(held: readonly J[]): void | Promise<void>
  /** Ends what `open` has begun. Events are published until then. */
  close?(): void | Promise<void>
  /** Oldest first, at most so many. */
  listDead(limit: number): Promise<readonly DeadLetter[]>
  /** Delivers a dead letter again, with all its attempts; false if there is none, or no subscription of its handler. */
  replay(id: string): Promise<boolean>
  /** Deletes a dead letter for good; false if there is none. */
  discard(id: string): Promise<boolean>
  /** The handlers that events are kept for, without `own`. */
  listRemoved(own: readonly string[]): Promise<readonly RemovedHandler[]>
  /** Ends the subscription of a handler that `listRemoved` has named, and deletes what waits for it. */
  unsubscribe(handler: string): Promise<void>
}
