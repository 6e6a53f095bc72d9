/** A durable transport on any queue, at least once: slots, leases, retries, dead letters, looks at the queue, the end. */
import { ArgumentException } from '../../domain-exceptions.ts'
import { currentCommand, orFinding, report } from '../../internal/command.ts'
import { logFailure } from '../../internal/failures.ts'
import { safeRead } from '../../internal/safe.ts'
import { within } from '../../internal/timeout.ts'
import { errorCodes } from '../../misuse-errors.ts'
import { mayBeUnhandled } from '../../symbols.ts'
import { type DomainEvent, eventClassOf, eventTypeOf } from '../event.ts'
import type { EventHandler } from '../handlers.ts'
import { defaultCloseTimeout, defaultConcurrency, Slots } from '../slots.ts'
import type {
  DeadLetters,
  EventTransport,
  OpenTransport,
  PublishOptions,
  RemovedHandlers,
  Subscription,
  TransportContext,
} from '../transport.ts'
import { deliver } from './attempt.ts'
import type { DurableOptions } from './options.ts'
import type { FinishedJob, Job, Queue, QueueContext, QueueSource } from './queue.ts'

interface DispatchOptions extends Required<DurableOptions> {
  /** Milliseconds between two beats. */
  readonly beatInterval: number
  /** Milliseconds that the queue may take for each of three steps when the application closes. */
  readonly queueTimeout: number
}

const defaults: Omit<DispatchOptions, 'beatInterval'> = {
  maxAttempts: 8,
  retryDelay: 1000,
  attemptTimeout: 60_000,
  concurrency: defaultConcurrency,
  closeTimeout: defaultCloseTimeout,
  queueTimeout: 5000,
}

/**
 * Makes a transport of a queue. `beatInterval` is how often the queue hears that this process lives, in milliseconds: less
 * than half of the time for which it lends a job. `queueTimeout` is how long the queue may take for each of three steps when the
 * application closes (default 5000).
 */
export function durableTransport<J extends Job>(
  source: QueueSource<J>,
  given: DurableOptions & { readonly beatInterval: number; readonly queueTimeout?: number },
): EventTransport {
  return {
    name: source.name,
    transactional: source.transactional,
    isOn: (connection) => source.isOn?.(connection) === true,
    async open(context) {
      const transport = new DurableTransport<J>(source, context, { ...defaults, ...given })
      const check = { kind: 'missing migration', codes: ['FMOD_CORE_QUEUE_MISSING'] } as const
      await orFinding(check, () => transport.open())
      return transport
    },
  }
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

class DurableTransport<J extends Job> implements OpenTransport, QueueContext {
  readonly log: QueueContext['log']
  readonly migrates = currentCommand()?.migrates ?? true
  readonly deadLetters: DeadLetters = {
    list: async (limit = 100) => {
      if (!Number.isSafeInteger(limit) || limit < 1)
        throw new ArgumentException('The limit of dead letters is not a positive integer.', 'limit')
      return this.#queue.listDead(limit)
    },
    replay: async (id) => this.#queue.replay(id),
    discard: async (id) => this.#queue.discard(id),
  }
  readonly removedHandlers: RemovedHandlers = {
    list: async () => this.#queue.listRemoved([...this.#lanes.keys()]),
    unsubscribe: async (handler) => {
      const removed = await this.removedHandlers.list()
      if (!removed.some((one) => one.handler === handler)) return false
      await this.#queue.unsubscribe(handler)
      return true
    },
  }
  readonly #source: QueueSource<J>
  readonly #context: TransportContext
  readonly #options: DispatchOptions
  readonly #slots: Slots
  readonly #lanes = new Map<string, Lane<J>>()
  /** Handlers of other processes. */
  readonly #expected = new Set<string>()
  /** Types of which an event was stored for nobody. */
  readonly #warned = new Set<string>()
  #opened: Queue<J> | undefined
  #state: 'new' | 'started' | 'stopped' | 'drained' = 'new'
  #turn: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  #looking = Promise.resolve()
  /** The look that follows the one under way. */
  #nextLook: Promise<void> | undefined
  /** A failure is logged once, until the queue can be used again. */
  #isFailing = false

  constructor(source: QueueSource<J>, context: TransportContext, options: DispatchOptions) {
    this.log = context.log
    this.#source = source
    this.#context = context
    this.#options = options
    this.#slots = new Slots(options.concurrency)
  }

  /** @throws {FMOD_CORE_QUEUE_MISSING} its tables are missing, which a command reports; it opens the application without them */
  get #queue(): Queue<J> {
    if (this.#opened) return this.#opened
    throw new errorCodes.FMOD_CORE_QUEUE_MISSING(this.#source.name)
  }

  async open(): Promise<void> {
    this.#opened = await this.#source.open(this)
  }

  async subscribe(handlers: readonly EventHandler[], expected: readonly Subscription[]): Promise<void> {
    const wanted = [...handlers.map(({ name, event }) => ({ handler: name, type: event.type })), ...expected]
    if (currentCommand()) await this.#reportMissing(wanted)
    else await this.#queue.subscribe(wanted)
    for (const handler of handlers) {
      this.#lanes.set(handler.name, {
        handler,
        held: new Map(),
        finished: [],
        isWanted: false,
        isMissing: false,
        exchanging: undefined,
      })
    }
    for (const { handler } of expected) this.#expected.add(handler)
  }

  publish(event: DomainEvent, { tx, traceparent }: PublishOptions): void | Promise<void> {
    const { eventId } = event
    // An event serialises to its payload.
    const row = { eventId, type: eventTypeOf(event), payload: JSON.stringify(event) }
    const isKept = this.#queue.publish({ ...row, traceparent: traceparent ?? null }, tx)
    const warn = (kept: boolean) => (kept ? undefined : this.#warnOfNobody(event))
    return typeof isKept === 'object' ? isKept.then(warn) : warn(isKept)
  }

  #warnOfNobody(event: DomainEvent): void {
    const type = eventTypeOf(event)
    this.#context.announce('unsubscribed', { event: type, eventId: event.eventId })
    if (this.#warned.has(type) || safeRead(eventClassOf(event), mayBeUnhandled) === true) return
    this.#warned.add(type)
    this.log.warn({ event: type }, 'an event is kept for nobody: no handler of its type has ever started')
  }

  /** Resolves when the first beat has shown what is due. */
  async start(): Promise<void> {
    this.#state = 'started'
    await this.look()
    await this.#reportRemoved()
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
    if (!this.#isRunning) return
    const queue = this.#queue
    const { closeTimeout, queueTimeout } = this.#options
    await this.#slots.close(closeTimeout)
    this.#state = 'drained'
    clearTimeout(this.#timer)
    clearImmediate(this.#turn)
    queue.stop?.()
    const lanes = [...this.#lanes.values()]
    await within(queueTimeout, Promise.all([this.#looking, ...lanes.map(({ exchanging }) => exchanging)]))
    await within(queueTimeout, Promise.all(lanes.map((lane) => this.#exchange(lane))))
    const release = async () => queue.release(lanes.flatMap(({ held }) => [...held.values()]))
    await within(queueTimeout, release())
  }

  async close(): Promise<void> {
    await this.#opened?.close?.()
  }

  get #isRunning(): boolean {
    return this.#state === 'started' || this.#state === 'stopped'
  }

  /** Of all lanes in one turn: a queue may make one transaction of it. */
  #exchangeWanted(): void {
    this.#turn = undefined
    for (const lane of this.#lanes.values()) {
      if (!lane.isWanted || lane.exchanging) continue
      lane.isWanted = false
      lane.exchanging = this.#exchange(lane).finally(() => {
        lane.exchanging = undefined
        if (lane.isWanted) this.wake([])
      })
    }
  }

  /** Records what is finished and begins with due jobs. Never rejects: what could not be recorded is recorded later. */
  async #exchange(lane: Lane<J>): Promise<void> {
    const { finished, handler } = lane
    const limit = this.#state === 'started' ? Math.min(this.#slots.free(handler.name), maxFetched) : 0
    if (limit <= 0 && finished.length === 0) return
    lane.finished = []
    try {
      const jobs = await this.#queue.exchange({ handler: handler.name, finished, limit: Math.max(limit, 0) })
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
      const due = await this.#queue.beat(lanes.flatMap(({ held }) => [...held.values()]))
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

  /** A command subscribes no handler: it would take the events of the handler's former type away from the processes that serve. */
  async #reportMissing(wanted: readonly Subscription[]): Promise<void> {
    if (!this.#opened) return
    const kept = new Set((await this.#opened.listRemoved([])).map(({ handler }) => handler))
    for (const { handler, type } of wanted)
      if (!kept.has(handler))
        report({
          kind: 'event without a subscription',
          text: `No event "${type}" is kept for ${handler} until a process with this handler has started.`,
          keys: [],
        })
  }

  async #reportRemoved(): Promise<void> {
    try {
      const handlers = (await this.removedHandlers.list()).filter(
        ({ handler, isRunning }) => !isRunning && !this.#expected.has(handler),
      )
      // A process that only publishes never has the handlers.
      const level = this.#lanes.size > 0 ? 'warn' : 'info'
      if (handlers.length > 0)
        this.log[level]({ handlers }, 'events are kept for handlers that this process does not have')
    } catch (err) {
      logFailure(this.log, 'error', { err }, 'removed event handlers cannot be listed')
    }
  }
}
