/** Delivers the due events of a queue to the handlers of this process: slots, leases, retries, looks at the queue, the end. */
import { currentCommand } from '../../internal/command.ts'
import { logFailure } from '../../internal/failures.ts'
import { within } from '../../internal/timeout.ts'
import type { EventHandler } from '../handlers.ts'
import { Slots } from '../slots.ts'
import type { TransportContext } from '../transport.ts'
import { deliver } from './attempt.ts'
import type { DurableOptions } from './options.ts'
import type { FinishedJob, Job, Queue, QueueContext } from './queue.ts'

export interface DispatchOptions extends Required<DurableOptions> {
  /** Milliseconds between two beats. */
  readonly beatInterval: number
  /** Milliseconds that the queue may take for each of three steps when the application closes. */
  readonly queueTimeout: number
}

/** The deliveries of one handler: one exchange with the queue at a time. */
interface Lane<J extends Job> {
  readonly handler: EventHandler
  /** Jobs that run, or whose outcome is not recorded yet. */
  readonly held: Map<J['id'], J>
  finished: FinishedJob<J>[]
  isWanted: boolean
  /** An exchange failed: the next beat repeats it. */
  isMissing: boolean
  exchanging: Promise<void> | undefined
}

/** The longest fetch: a process that dies has held no more than this and what its slots hold. */
const maxFetched = 50

export class Dispatcher<J extends Job> implements QueueContext {
  readonly log: QueueContext['log']
  readonly migrates = currentCommand()?.migrates ?? true
  readonly #context: TransportContext
  readonly #options: DispatchOptions
  readonly #slots: Slots
  readonly #lanes = new Map<string, Lane<J>>()
  #queue: Queue<J> | undefined
  #state: 'new' | 'started' | 'stopped' | 'drained' = 'new'
  #turn: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  #looking = Promise.resolve()
  /** The look that follows the one under way. */
  #nextLook: Promise<void> | undefined
  /** A failure is logged once, until the queue can be used again. */
  #isFailing = false

  constructor(context: TransportContext, options: DispatchOptions) {
    this.log = context.log
    this.#context = context
    this.#options = options
    this.#slots = new Slots(options.concurrency)
  }

  get handlers(): readonly string[] {
    return [...this.#lanes.keys()]
  }

  add(handler: EventHandler): void {
    this.#lanes.set(handler.name, {
      handler,
      held: new Map(),
      finished: [],
      isWanted: false,
      isMissing: false,
      exchanging: undefined,
    })
  }

  /** Resolves when the first beat has shown what is due. */
  start(queue: Queue<J>): Promise<void> {
    this.#queue = queue
    this.#state = 'started'
    return this.look()
  }

  /** Looks for due jobs of these handlers as soon as the running code, and with it its transaction, has ended. */
  wake(handlers: Iterable<string>): void {
    for (const name of handlers) {
      const lane = this.#lanes.get(name)
      if (lane) lane.isWanted = true
    }
    if (this.#isRunning) this.#turn ??= setImmediate(() => this.#exchangeWanted())
  }

  isFree(handler: string): boolean {
    return this.#state === 'started' && this.#lanes.has(handler) && this.#slots.free(handler) > 0
  }

  /** Shows the queue that this process lives: now, or again after the beat that is under way, then at intervals. Never rejects. */
  look(): Promise<void> {
    this.#nextLook ??= this.#looking.then(() => this.#beat())
    this.#looking = this.#nextLook
    return this.#nextLook
  }

  /** Begins no further delivery; leases are renewed, and outcomes recorded, until the end. */
  stop(): void {
    if (this.#state === 'started') this.#state = 'stopped'
  }

  /** Waits for running handlers, then hands back what is not finished. */
  async drain(): Promise<void> {
    this.stop()
    const queue = this.#queue
    if (!queue || this.#state === 'drained') return
    const { closeTimeout, queueTimeout } = this.#options
    await this.#slots.close(closeTimeout)
    this.#state = 'drained'
    clearTimeout(this.#timer)
    clearImmediate(this.#turn)
    queue.stop?.()
    const lanes = [...this.#lanes.values()]
    await within(queueTimeout, Promise.all([this.#looking, ...lanes.map(({ exchanging }) => exchanging)]))
    await within(queueTimeout, Promise.all(lanes.map((lane) => this.#exchange(queue, lane))))
    const release = async () => queue.release(lanes.flatMap(({ held }) => [...held.values()]))
    await within(queueTimeout, release())
  }

  get #isRunning(): boolean {
    return this.#state === 'started' || this.#state === 'stopped'
  }

  /** Of all lanes in one turn: a queue may make one transaction of it. */
  #exchangeWanted(): void {
    this.#turn = undefined
    const queue = this.#queue
    if (!queue) return
    for (const lane of this.#lanes.values()) {
      if (!lane.isWanted || lane.exchanging) continue
      lane.isWanted = false
      lane.exchanging = this.#exchange(queue, lane).finally(() => {
        lane.exchanging = undefined
        if (lane.isWanted) this.wake([])
      })
    }
  }

  /** Records what is finished and begins with due jobs. Never rejects: what could not be recorded is recorded later. */
  async #exchange(queue: Queue<J>, lane: Lane<J>): Promise<void> {
    const { finished, handler } = lane
    const limit = this.#state === 'started' ? Math.min(this.#slots.free(handler.name), maxFetched) : 0
    if (limit <= 0 && finished.length === 0) return
    lane.finished = []
    try {
      const jobs = await queue.exchange({ handler: handler.name, finished, limit: Math.max(limit, 0) })
      lane.isMissing = false
      this.#isFailing = false
      for (const { job } of finished) lane.held.delete(job.id)
      for (const job of jobs) this.#begin(lane, job)
      for (const one of finished) this.#wakeForRetry(lane, one)
      if (jobs.length > 0 && jobs.length === limit) lane.isWanted = true
    } catch (error) {
      lane.isMissing = true
      lane.finished.unshift(...finished)
      this.#fail(error)
    }
  }

  /**
   * A job that still runs here when it is fetched again, because its lease had ended, is held again. If another process has
   * made an attempt meanwhile, the next one waits until this one and its lease have ended. A job that arrives while the
   * application closes is handed back.
   */
  #begin(lane: Lane<J>, job: J): void {
    const running = lane.held.get(job.id)
    if (running && running.failures !== job.failures) return
    lane.held.set(job.id, job)
    if (running || this.#state !== 'started') return
    const { name } = lane.handler
    this.#slots.take(name, this.#deliver(lane, job), () => this.wake([name]))
  }

  async #deliver(lane: Lane<J>, job: J): Promise<void> {
    const { handler } = lane
    const outcome = await deliver(this.#context, { handler, job, options: this.#options, slots: this.#slots })
    if (outcome.kind === 'released') return // `drain` hands back what is held
    lane.finished.push({ job: lane.held.get(job.id) ?? job, outcome })
  }

  /** A retry that is due before the next beat. */
  #wakeForRetry({ handler: { name } }: Lane<J>, { outcome }: FinishedJob<J>): void {
    if (outcome.kind !== 'retry' || outcome.delay >= this.#options.beatInterval) return
    setTimeout(() => this.wake([name]), outcome.delay + 1).unref()
  }

  async #beat(): Promise<void> {
    this.#nextLook = undefined
    clearTimeout(this.#timer)
    if (!this.#isRunning) return
    const lanes = [...this.#lanes.values()]
    try {
      const due = await this.#queue?.beat(lanes.flatMap(({ held }) => [...held.values()]))
      const missing = lanes.filter(({ isMissing }) => isMissing).map(({ handler }) => handler.name)
      if (missing.length === 0) this.#isFailing = false
      this.wake([...(due ?? []), ...missing])
    } catch (error) {
      this.#fail(error)
    }
    if (!this.#isRunning) return
    this.#timer = setTimeout(() => void this.look(), this.#options.beatInterval)
    this.#timer.unref()
  }

  /** A database that is locked, full or closed is tried again at every beat, and logged once. */
  #fail(err: unknown): void {
    if (!this.#isFailing) logFailure(this.log, 'error', { err }, 'event queue cannot be used')
    this.#isFailing = true
  }
}
