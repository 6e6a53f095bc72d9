/** Delivers due events of the queue to the handlers of this process. */
import type { FileLock } from '../../internal/file-lock.ts'
import { logFailure } from '../../internal/failures.ts'
import { backoff, deliver, type DispatchOptions, type Outcome, Slots } from '../delivery.ts'
import type { EventHandler } from '../handlers.ts'
import type { TransportContext } from '../transport.ts'
import type { SqliteDatabase } from './database.ts'
import type { ClaimedDelivery, FinishedDelivery, Queue } from './queue.ts'

/** What the dispatcher works with. */
export interface DispatcherParts {
  readonly database: SqliteDatabase
  readonly lock: FileLock
  readonly queue: Queue
  readonly handlers: ReadonlyMap<string, EventHandler>
  readonly context: TransportContext
  readonly options: DispatchOptions
}

export class Dispatcher {
  readonly #database: SqliteDatabase
  readonly #lock: FileLock
  readonly #queue: Queue
  readonly #handlers: ReadonlyMap<string, EventHandler>
  readonly #context: TransportContext
  readonly #options: DispatchOptions
  readonly #slots: Slots
  #state: 'new' | 'started' | 'closing' | 'closed' = 'new'
  #immediate: NodeJS.Immediate | undefined
  #poll: NodeJS.Timeout | undefined
  /** Attempts that run, by `deliveryKey`. */
  readonly #held = new Map<string, ClaimedDelivery>()
  /** Attempts whose outcome is not recorded yet; if the process dies first, they are delivered again. */
  #finished: FinishedDelivery[] = []
  #nextDue: number | undefined
  #renewedAt = 0
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
    this.#slots = new Slots(options.concurrency)
  }

  start(): void {
    const { pollInterval, lease } = this.#options
    this.#state = 'started'
    this.#poll = setTimeout(() => this.#look(), Math.min(pollInterval, Math.ceil(lease / 3)))
    this.#poll.unref()
    this.wake()
  }

  /** Looks for due deliveries as soon as the running code, and with it its transaction, has ended. */
  wake(): void {
    if (this.#state === 'started' || this.#state === 'closing')
      this.#immediate ??= setImmediate(() => this.#dispatch())
  }

  stop(): void {
    if (this.#state === 'started') this.#state = 'closing' // leases are renewed, and outcomes recorded, until the end
  }

  async drain(): Promise<void> {
    if (this.#state === 'new') return
    this.stop()
    await this.#slots.close(this.#options.closeTimeout)
    this.#state = 'closed'
    clearImmediate(this.#immediate)
    clearTimeout(this.#poll)
    this.#poll = undefined
    this.#lock.forget() // waits its turn this time: outcomes that are not recorded now are delivered again
    if (this.#finished.length > 0 || this.#held.size > 0) this.#exchange(new Map(), this.#held.values())
  }

  #dispatch(): void {
    this.#immediate = undefined
    const limits = this.#freeSlots()
    if (this.#finished.length > 0 || limits.size > 0) this.#exchange(limits)
  }

  /** Handlers that may begin further deliveries, and how many. */
  #freeSlots(): ReadonlyMap<string, number> {
    if (this.#state !== 'started') return new Map()
    const slots = [...this.#handlers.keys()].map((handler) => [handler, this.#slots.free(handler)] as const)
    return new Map(slots.filter(([, free]) => free > 0))
  }

  /** Records what is finished, hands back what is released, and begins with due deliveries. */
  #exchange(limits: ReadonlyMap<string, number>, released: Iterable<ClaimedDelivery> = []): void {
    this.#isExchangeMissing = true
    // The application keeps a transaction open on this connection across awaits: its writes may still be rolled back.
    if (this.#database.inTransaction) return
    this.#guard(() => {
      this.#renew() // first: after the process stood still its leases have ended
      const { lease } = this.#options
      const claimed = this.#queue.exchange({ finished: this.#finished, released, limits, lease })
      this.#finished = []
      for (const delivery of claimed) this.#begin(delivery)
      this.#nextDue = this.#queue.nextDue(this.#freeSlots().keys())
      this.#isExchangeMissing = false
      this.#isFailing = false
    })
  }

  /**
   * What is claimed while it still runs here, because its lease had ended, is held again. Another attempt, after one that
   * another process has made meanwhile, waits for the end of this one and of its lease.
   */
  #begin(delivery: ClaimedDelivery): void {
    const running = this.#held.get(deliveryKey(delivery))
    if (running) {
      if (running.attempts === delivery.attempts) running.heldUntil = delivery.heldUntil
      return
    }
    this.#held.set(deliveryKey(delivery), delivery)
    this.#slots.take(delivery.handler, this.#deliver(delivery), () => this.wake())
  }

  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    const outcome = await this.#attempt(delivery)
    if (outcome.kind === 'released') return // `close` hands back what is held
    this.#held.delete(deliveryKey(delivery))
    const retryDelay = backoff(delivery.attempts + 1, this.#options.retryDelay)
    this.#finished.push({ delivery, outcome, retryDelay })
  }

  #attempt({ handler, eventId, type, payload, traceparent, attempts }: ClaimedDelivery): Promise<Outcome> {
    return deliver(this.#context, {
      handler: this.#handlers.get(handler) as EventHandler, // claimed by its name
      event: { eventId, type, payload: parse(payload), traceparent: traceparent ?? undefined },
      number: attempts + 1,
      maxAttempts: this.#options.maxAttempts,
      timeout: this.#options.attemptTimeout,
      slots: this.#slots,
    })
  }

  /** Renews leases, and sees the commits of other connections; own ones call `wake`. */
  #look(): void {
    this.#guard(() => {
      this.#renew()
      const version = this.#queue.dataVersion()
      const isDue = this.#nextDue !== undefined && this.#nextDue <= Date.now()
      if (version !== this.#seenVersion || this.#isExchangeMissing || this.#finished.length > 0 || isDue)
        this.wake()
      this.#seenVersion = version
    })
    this.#poll?.refresh()
  }

  /** Three times a lease. Not within a transaction of the application, which may be rolled back. */
  #renew(): void {
    const age = Date.now() - this.#renewedAt
    const isDue = age >= this.#options.lease / 3 || age < 0 // after the clock went back, new leases end before the old ones
    if (this.#held.size === 0 || !isDue || this.#database.inTransaction) return
    this.#queue.renew(this.#held.values(), this.#options.lease)
    this.#renewedAt = Date.now()
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

const deliveryKey = ({ event, handler }: ClaimedDelivery): string => `${event} ${handler}`

/** Broken JSON stays a text, which fits no event's schema: the event becomes a dead letter at once. */
function parse(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return payload
  }
}
