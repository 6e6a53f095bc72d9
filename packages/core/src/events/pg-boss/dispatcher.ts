/** Delivers due events of the queue to the handlers of this process. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { logFailure } from '../../internal/failures.ts'
import { within } from '../../internal/postgres.ts'
import { backoff, deliver, type DispatchOptions, Slots } from '../delivery.ts'
import type { EventHandler } from '../handlers.ts'
import type { TransportContext } from '../transport.ts'
import type { Cluster } from './cluster.ts'
import { type FinishedJob, type Job, type Queue, queueOf } from './queue.ts'

/** What the dispatcher works with. */
export interface DispatcherParts {
  readonly queue: Queue
  readonly cluster: Cluster
  readonly handlers: ReadonlyMap<string, EventHandler>
  readonly context: TransportContext
  readonly options: DispatchOptions
}

/** The longest fetch: a process that dies has held no more than this and what its slots hold. */
const maxFetched = 50

/** Milliseconds between two statements that notify: transactions that do so commit one at a time, in the whole database. */
const noticeInterval = 20

export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #slots: Slots
  /** By the queue of its handler. */
  readonly #lanes = new Map<string, Lane>()
  #state: 'new' | 'started' | 'closing' | 'closed' = 'new'
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> | undefined
  #isBeatWanted = false
  readonly #notices = new Set<string>()
  #notifying: Promise<void> | undefined
  /** A failure is logged once, until the database can be used again. */
  #isFailing = false

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#slots = new Slots(parts.options.concurrency)
  }

  /** Resolves when the first beat has shown who else is alive and what is due. */
  async start(): Promise<void> {
    this.#state = 'started'
    for (const handler of this.#parts.handlers.values())
      this.#lanes.set(queueOf(handler), this.#createLane(handler))
    await this.beat()
  }

  /** Looks for due events of these queues, as far as they are this process's. */
  wake(queues: Iterable<string>): void {
    for (const queue of queues) this.#lanes.get(queue)?.wake()
  }

  /** Has what was committed to these queues delivered, here or by an instance that is notified. */
  announce(queues: readonly string[]): void {
    for (const queue of queues) {
      const notice = this.#parts.cluster.noticeOf(queue)
      if (notice === undefined) this.wake([queue])
      else if (this.#state !== 'closed') this.#notices.add(notice)
    }
    if (this.#notices.size > 0) this.#notifying ??= this.#notify()
  }

  /** Looks for the events that a notification announces, or lets an instance with free slots do so. */
  notice(payload: string): void {
    if (this.#state !== 'started') return
    if (!payload.includes(' ')) return void this.beat() // of an earlier release, or when listening begins
    const notice = this.#parts.cluster.read(payload)
    const lane = notice && this.#lanes.get(notice.queue)
    if (!lane) return
    if (lane.isFree) lane.wake()
    else if (notice.isPersonal) this.#parts.cluster.passOn(notice).catch((err: unknown) => this.#fail(err))
  }

  /**
   * Renews leases, hands on what others have lost, and looks for due events: now, or again after the look that is under
   * way, then every few seconds. Never rejects.
   */
  beat(): Promise<void> {
    this.#isBeatWanted = true
    return (this.#beating ??= this.#beatWhileWanted())
  }

  stop(): void {
    if (this.#state === 'started') this.#state = 'closing' // leases are renewed until the end
  }

  /** Waits for running handlers, and for the database at most three times `databaseTimeout` milliseconds. */
  async drain(databaseTimeout: number): Promise<void> {
    if (this.#state === 'new') return
    this.stop()
    await this.#slots.close(this.#parts.options.closeTimeout)
    this.#state = 'closed'
    clearTimeout(this.#timer)
    const lanes = [...this.#lanes.values()]
    if (this.#beating) await within(databaseTimeout, this.#beating)
    await within(databaseTimeout, Promise.all([this.#notifying, ...lanes.map((lane) => lane.end())]))
    await within(databaseTimeout, this.#parts.cluster.leave(lanes.flatMap((lane) => lane.held)))
  }

  #createLane(handler: EventHandler): Lane {
    const { queue, context, options } = this.#parts
    return new Lane({
      handler,
      queue,
      context,
      options,
      slots: this.#slots,
      isOpen: () => this.#state === 'started',
      onFailure: (err) => this.#fail(err),
    })
  }

  /** Ends in the turn in which it is no longer wanted, so that no wish is lost between the two. */
  async #beatWhileWanted(): Promise<void> {
    while (this.#isBeatWanted) {
      this.#isBeatWanted = false
      clearTimeout(this.#timer)
      await this.#beatOnce()
    }
    this.#beating = undefined
  }

  /** The first ones at once, then those that have come meanwhile. Never rejects. */
  async #notify(): Promise<void> {
    while (this.#notices.size > 0) {
      await turn() // those of one bulk together
      const notices = [...this.#notices]
      this.#notices.clear()
      await this.#parts.cluster.notify(notices).catch((err: unknown) => this.#fail(err))
      await sleep(noticeInterval, undefined, { ref: false })
    }
    this.#notifying = undefined
  }

  async #beatOnce(): Promise<void> {
    const { cluster, context, options } = this.#parts
    try {
      const { lost, due } = await cluster.beat([...this.#lanes.values()].flatMap((lane) => lane.held))
      this.#isFailing = false
      if (lost.length > 0)
        context.log.warn({ queues: lost }, 'events of a process that is gone are handed on')
      this.wake(due)
      for (const lane of this.#lanes.values()) lane.record()
    } catch (err) {
      this.#fail(err)
    }
    if (this.#state === 'closed') return
    const interval = Math.min(options.pollInterval, options.lease / 2.5)
    this.#timer = setTimeout(() => void this.beat(), interval)
    this.#timer.unref()
  }

  #fail(err: unknown): void {
    if (!this.#isFailing) logFailure(this.#parts.context.log, 'error', { err }, 'event queue cannot be used')
    this.#isFailing = true
  }
}

interface LaneParts extends Pick<DispatcherParts, 'queue' | 'context' | 'options'> {
  readonly handler: EventHandler
  readonly slots: Slots
  /** Whether further jobs may begin. */
  readonly isOpen: () => boolean
  readonly onFailure: (error: unknown) => void
}

/** The deliveries of one handler: one exchange with the database at a time. */
class Lane {
  readonly #parts: LaneParts
  /** Jobs that run, or whose outcome is not recorded yet. */
  readonly #held = new Set<string>()
  #finished: readonly FinishedJob[] = []
  #exchanging: Promise<void> | undefined
  #isWanted = false

  constructor(parts: LaneParts) {
    this.#parts = parts
  }

  get held(): readonly string[] {
    return [...this.#held]
  }

  get isFree(): boolean {
    return this.#parts.slots.free(this.#parts.handler.name) > 0
  }

  /** Records what is finished and looks for due events: now, or after the exchange that is under way. */
  wake(): void {
    this.#isWanted = true
    this.#exchanging ??= this.#exchangeWhileWanted()
  }

  /** Records what an exchange that failed has left. */
  record(): void {
    if (this.#finished.length > 0) this.wake()
  }

  /** Records what is finished. */
  async end(): Promise<void> {
    await this.#exchanging
    await this.#exchange()
  }

  async #exchangeWhileWanted(): Promise<void> {
    while (this.#isWanted) {
      await turn() // one exchange for all that ends now
      this.#isWanted = false
      await this.#exchange()
    }
    this.#exchanging = undefined
  }

  /** Never rejects: what could not be recorded is recorded after the next beat. */
  async #exchange(): Promise<void> {
    const { handler, queue, slots, isOpen, onFailure } = this.#parts
    const limit = isOpen() ? Math.min(slots.free(handler.name), maxFetched) : 0
    const finished = this.#finished
    if (limit === 0 && finished.length === 0) return
    this.#finished = []
    try {
      const failed = finished.filter(({ outcome }) => outcome.kind !== 'handled')
      if (failed.length > 0) await queue.recordFailures(handler, failed)
      const handled = finished.filter(({ outcome }) => outcome.kind === 'handled').map(({ job }) => job.id)
      const jobs = await queue.exchange(handler, handled, limit)
      for (const { job } of finished) this.#held.delete(job.id)
      for (const job of jobs) this.#begin(job)
      for (const attempt of failed) this.#wakeForRetry(attempt)
      if (jobs.length > 0 && jobs.length === limit) this.#isWanted = true
    } catch (error) {
      this.#finished = [...finished, ...this.#finished]
      onFailure(error)
    }
  }

  /** A job that comes when the transport has closed is handed back; one that still runs here, whose lease had ended, goes on. */
  #begin(job: Job): void {
    if (this.#held.has(job.id)) return
    const { handler, slots, isOpen } = this.#parts
    this.#held.add(job.id)
    if (isOpen()) slots.take(handler.name, this.#deliver(job), () => isOpen() && this.wake())
  }

  async #deliver(job: Job): Promise<void> {
    const { handler, context, options, slots } = this.#parts
    const number = job.retryCount + 1
    const outcome = await deliver(context, {
      handler,
      event: { ...job, traceparent: job.traceparent ?? undefined },
      number,
      maxAttempts: options.maxAttempts,
      timeout: options.attemptTimeout,
      slots,
    })
    if (outcome.kind === 'released') return // `close` hands back what is held
    this.#finished = [...this.#finished, { job, outcome, retryDelay: backoff(number, options.retryDelay) }]
  }

  /** A retry that is due before the next beat. */
  #wakeForRetry({ outcome, retryDelay }: FinishedJob): void {
    if (outcome.kind !== 'retry' || retryDelay >= this.#parts.options.pollInterval) return
    setTimeout(() => this.wake(), retryDelay + 1).unref()
  }
}
