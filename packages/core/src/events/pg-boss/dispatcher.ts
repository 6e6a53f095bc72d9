/** Delivers due events of the queue to the handlers of this process. */
import { logFailure } from '../../internal/failures.ts'
import { within } from '../../internal/postgres.ts'
import { deliver, type DispatchOptions, InFlight } from '../delivery.ts'
import type { EventHandler } from '../handlers.ts'
import type { TransportContext } from '../transport.ts'
import type { Job } from './database.ts'
import type { Queue } from './queue.ts'

/** What the dispatcher works with. */
export interface DispatcherParts {
  readonly queue: Queue
  readonly handlers: ReadonlyMap<string, EventHandler>
  readonly context: TransportContext
  readonly options: DispatchOptions
}

export class Dispatcher {
  readonly #queue: Queue
  readonly #handlers: ReadonlyMap<string, EventHandler>
  readonly #context: TransportContext
  readonly #options: DispatchOptions
  readonly #inFlight = new InFlight()
  /** Ids of done jobs that are not recorded yet, by handler. */
  readonly #done = new Map<EventHandler, readonly string[]>()
  #state: 'new' | 'started' | 'closing' | 'closed' = 'new'
  #poll: NodeJS.Timeout | undefined
  #round: Promise<void> | undefined
  #wantsRound = false

  constructor({ queue, handlers, context, options }: DispatcherParts) {
    this.#queue = queue
    this.#handlers = handlers
    this.#context = context
    this.#options = options
  }

  start(): void {
    this.#state = 'started'
    this.#poll = setInterval(() => this.wake(), this.#options.pollInterval)
    this.#poll.unref()
    this.wake()
  }

  /** Looks for due events now, or once more after the round that is under way. */
  wake(): void {
    if (this.#state !== 'started') return
    this.#wantsRound = true
    this.#round ??= this.#rounds().finally(() => (this.#round = undefined))
  }

  /** Waits for running handlers; for the database at most twice `databaseTimeout` milliseconds. */
  async close(databaseTimeout: number): Promise<void> {
    this.#state = 'closing'
    clearInterval(this.#poll)
    if (this.#round) await within(databaseTimeout, this.#round)
    this.#state = 'closed'
    await this.#inFlight.close(this.#options.closeTimeout)
    await within(databaseTimeout, this.#visitHandlers()) // records done jobs and fetches none
  }

  async #rounds(): Promise<void> {
    while (this.#wantsRound) {
      this.#wantsRound = false
      await this.#visitHandlers()
    }
  }

  async #visitHandlers(): Promise<void> {
    for (const handler of this.#handlers.values()) {
      try {
        await this.#recordDone(handler)
        await this.#fetchFor(handler)
      } catch (err) {
        // Without the database, done jobs are recorded later, or expire and are delivered again.
        this.#logFailure({ err, handler: handler.name })
      }
    }
  }

  /** Records the done jobs of a handler together: one round trip for all of them. */
  async #recordDone(handler: EventHandler): Promise<void> {
    const ids = this.#done.get(handler)
    if (!ids) return
    this.#done.delete(handler)
    try {
      await this.#queue.complete(handler, ids)
    } catch (error) {
      this.#done.set(handler, [...ids, ...(this.#done.get(handler) ?? [])])
      throw error
    }
  }

  async #fetchFor(handler: EventHandler): Promise<void> {
    const free = this.#options.concurrency - this.#inFlight.size
    if (free <= 0 || this.#state !== 'started') return
    const jobs = await this.#queue.fetch(handler, free)
    if (this.#isClosed()) return // the answer came too late; the jobs expire and are delivered again
    for (const job of jobs) this.#inFlight.add(this.#deliver(handler, job))
  }

  /** A method, because the state changes during an await. */
  #isClosed(): boolean {
    return this.#state === 'closed'
  }

  async #deliver(handler: EventHandler, job: Job): Promise<void> {
    const outcome = await deliver(this.#context, {
      handler,
      event: job.data,
      number: job.retryCount + 1,
      maxAttempts: job.retryLimit + 1,
      timeout: this.#options.attemptTimeout,
      signal: this.#inFlight.signal,
    })
    try {
      // Buried first, completed later: a crash between the two repeats the dead letter and does not lose it.
      if (outcome.kind === 'undeliverable') await this.#queue.bury(job, outcome.error)
      if (outcome.kind === 'handled' || outcome.kind === 'undeliverable') {
        this.#done.set(handler, [...(this.#done.get(handler) ?? []), job.id])
      } else {
        await this.#queue.fail(handler, job, outcome.error)
      }
    } catch (err) {
      this.#logFailure({ err, handler: handler.name, eventId: job.data.eventId })
    }
    this.wake()
  }

  #logFailure(record: { readonly err: unknown; readonly handler: string; readonly eventId?: string }): void {
    logFailure(this.#context.log, 'error', record, 'event queue cannot be used')
  }
}
