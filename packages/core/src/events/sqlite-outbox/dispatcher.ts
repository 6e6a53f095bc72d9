/** Delivers due events of the queue to the handlers of this process. */
import type { FileLock } from '../../internal/file-lock.ts'
import { logFailure } from '../../internal/failures.ts'
import { backoff, deliver, type DispatchOptions, InFlight, type Outcome } from '../delivery.ts'
import type { EventHandler } from '../handlers.ts'
import type { TransportContext } from '../transport.ts'
import type { SqliteDatabase } from './database.ts'
import type { Delivery, FinishedDelivery, Queue } from './queue.ts'

export interface OutboxDispatchOptions extends DispatchOptions {
  readonly lease: number
}

/** What the dispatcher works with. */
export interface DispatcherParts {
  readonly database: SqliteDatabase
  readonly lock: FileLock
  readonly queue: Queue
  readonly handlers: ReadonlyMap<string, EventHandler>
  readonly context: TransportContext
  readonly options: OutboxDispatchOptions
}

export class Dispatcher {
  readonly #database: SqliteDatabase
  readonly #lock: FileLock
  readonly #queue: Queue
  readonly #handlers: ReadonlyMap<string, EventHandler>
  readonly #context: TransportContext
  readonly #options: OutboxDispatchOptions
  readonly #inFlight = new InFlight()
  #state: 'new' | 'started' | 'closed' = 'new'
  #immediate: NodeJS.Immediate | undefined
  #poll: NodeJS.Timeout | undefined
  /** Attempts whose outcome is not recorded yet; if the process dies first, they are delivered again. */
  #finished: FinishedDelivery[] = []
  #nextDue: number | undefined
  #seenVersion: unknown
  /** An exchange did not take place: the next poll repeats it. */
  #isExchangeMissing = false
  /** A failure is logged once, until the database can be used again. */
  #isFailing = false

  constructor({ database, lock, queue, handlers, context, options }: DispatcherParts) {
    this.#database = database
    this.#lock = lock
    this.#queue = queue
    this.#handlers = handlers
    this.#context = context
    this.#options = options
  }

  start(): void {
    this.#state = 'started'
    this.#warnOfStranded()
    this.#poll = setTimeout(() => this.#look(), this.#options.pollInterval)
    this.#poll.unref()
    this.wake()
  }

  /** Looks for due deliveries as soon as the running code, and with it its transaction, has ended. */
  wake(): void {
    if (this.#state === 'started') this.#immediate ??= setImmediate(() => this.#dispatch())
  }

  async close(): Promise<void> {
    this.#state = 'closed'
    clearTimeout(this.#poll)
    this.#poll = undefined
    clearImmediate(this.#immediate)
    await this.#inFlight.close(this.#options.closeTimeout)
    this.#lock.forget() // waits its turn this time: outcomes that are not recorded now are delivered again
    this.#exchange(0)
  }

  #dispatch(): void {
    this.#immediate = undefined
    if (this.#state === 'started') this.#exchange(this.#options.concurrency - this.#inFlight.size)
  }

  /** Records what is finished and begins with up to `limit` due deliveries. */
  #exchange(limit: number): void {
    if (this.#finished.length === 0 && limit <= 0) return
    this.#isExchangeMissing = true
    // The application keeps a transaction open on this connection across awaits: its writes may still be rolled back.
    if (this.#database.inTransaction) return
    this.#guard(() => {
      const handlers = [...this.#handlers.keys()]
      const { lease } = this.#options
      const claimed = this.#queue.exchange({ finished: this.#finished, handlers, limit, lease })
      this.#finished = []
      for (const delivery of claimed) this.#inFlight.add(this.#deliver(delivery))
      this.#nextDue = this.#queue.nextDue(handlers)
      this.#isExchangeMissing = false
      this.#isFailing = false
    })
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { lease, retryDelay } = this.#options
    const heartbeat = setInterval(() => this.#guard(() => this.#queue.renew(delivery, lease)), lease / 3)
    heartbeat.unref()
    const outcome = await this.#attempt(delivery)
    clearInterval(heartbeat)
    this.#finished.push({ delivery, outcome, retryDelay: backoff(delivery.attempts, retryDelay) })
    this.wake()
  }

  #attempt({ handler, eventId, type, payload, attempts }: Delivery): Promise<Outcome> {
    return deliver(this.#context, {
      handler: this.#handlers.get(handler) as EventHandler, // claimed by its name
      event: { eventId, type, payload: parse(payload) },
      number: attempts,
      maxAttempts: this.#options.maxAttempts,
      timeout: this.#options.attemptTimeout,
      signal: this.#inFlight.signal,
    })
  }

  #warnOfStranded(): void {
    this.#guard(() => {
      const count = this.#queue.countStranded(this.#handlers.keys())
      if (count > 0)
        this.#context.log.warn({ count }, 'events wait for handlers that this process does not have')
    })
  }

  /** Sees the commits of other connections; own ones call `wake`. */
  #look(): void {
    this.#guard(() => {
      const version = this.#queue.dataVersion()
      const isDue = this.#nextDue !== undefined && this.#nextDue <= Date.now()
      if (version !== this.#seenVersion || this.#isExchangeMissing || this.#finished.length > 0 || isDue)
        this.wake()
      this.#seenVersion = version
    })
    this.#poll?.refresh()
  }

  /** A database that is locked, full or closed is tried again at every poll, and logged once. */
  #guard(use: () => void): void {
    try {
      use()
    } catch (err) {
      if (!this.#isFailing) logFailure(this.#context.log, 'error', { err }, 'event outbox cannot be used')
      this.#isFailing = true
    }
  }
}

/** Broken JSON stays a text, which fits no event's schema: the event becomes a dead letter at once. */
function parse(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return payload
  }
}
