/** The transport for one process: handlers run here, isolated, once `publish` has returned to the event loop. */
import { ServiceUnavailableException } from '../domain-exceptions.ts'
import { currentCommand } from '../internal/command.ts'
import { logFailure } from '../internal/failures.ts'
import { argumentProblems, option, type OptionsSchema, refuseOptions, Type } from '../internal/options.ts'
import { isThenable } from '../internal/safe.ts'
import { type DomainEvent, eventTypeOf } from './event.ts'
import type { Delivery, EventHandler } from './handlers.ts'
import { defaultCloseTimeout, defaultConcurrency, Slots } from './slots.ts'
import type { EventTransport, OpenTransport, PublishOptions, TransportContext } from './transport.ts'

export interface InProcessOptions {
  /**
   * How many deliveries of one handler run at once; further ones wait for their turn.
   * @default 10
   */
  readonly concurrency?: number
  /**
   * How many deliveries of one handler may wait; beyond that `publish` rejects events that it handles.
   * @default 10000
   */
  readonly maxWaiting?: number
  /**
   * How long `close` waits for running handlers before it aborts their signal, in milliseconds.
   * @default 5000
   */
  readonly closeTimeout?: number
}

const schema: OptionsSchema<InProcessOptions> = Type.Object({
  concurrency: option.positive(),
  maxWaiting: option.positive(),
  closeTimeout: option.milliseconds(0),
})

/**
 * Delivers every event once to every handler of its exact type. Nothing survives the process.
 * @throws {FMOD_CORE_INVALID_OPTION} with all options that cannot be used
 */
export function inProcess(options: InProcessOptions = {}): EventTransport {
  refuseOptions('inProcess()', argumentProblems(schema, options, 'options'))
  const {
    concurrency = defaultConcurrency,
    maxWaiting = 10_000,
    closeTimeout = defaultCloseTimeout,
  } = options
  return {
    name: 'inProcess',
    transactional: false,
    open: (context) => new InProcess(context, { concurrency, maxWaiting, closeTimeout }),
  }
}

interface Published {
  readonly event: DomainEvent
  readonly delivery: Delivery
  /** Of all handlers of its type. */
  readonly lanes: readonly Lane[]
}

const untraced: Delivery = Object.freeze({ attempt: 1 })

/** A handler and what waits for one of its slots. */
class Lane {
  readonly handler: EventHandler
  /** What was published for it and does not run yet. */
  waiting = 0
  #added: Published[] = []
  /** What was added before, in reverse: taking the last member of an array is quick, taking the first is not. */
  #first: Published[] = []

  constructor(handler: EventHandler) {
    this.handler = handler
  }

  get isWaiting(): boolean {
    return this.#first.length > 0 || this.#added.length > 0
  }

  add(one: Published): void {
    this.#added.push(one)
  }

  take(): Published | undefined {
    if (this.#first.length === 0) {
      this.#first = this.#added.toReversed()
      this.#added = []
    }
    return this.#first.pop()
  }
}

/** Keeps events until the application is ready, then calls their handlers at the next turn of the event loop. */
class InProcess implements OpenTransport {
  readonly #lanesByType = new Map<string, Lane[]>()
  readonly #context: TransportContext
  readonly #options: Required<InProcessOptions>
  readonly #slots: Slots
  #state: 'new' | 'started' | 'ended' = 'new'
  /** What was published before the start, when not all handlers are known. */
  readonly #early: [event: DomainEvent, options: PublishOptions][] = []
  /** What was published since the last turn. */
  #published: Published[] = []
  #scheduled: NodeJS.Immediate | undefined

  constructor(context: TransportContext, options: Required<InProcessOptions>) {
    this.#context = context
    this.#options = options
    this.#slots = new Slots(options.concurrency)
  }

  subscribe(handlers: readonly EventHandler[]): void {
    for (const handler of handlers) {
      const { type } = handler.event
      this.#lanesByType.set(type, [...(this.#lanesByType.get(type) ?? []), new Lane(handler)])
    }
  }

  start(): void {
    this.#state = 'started'
    for (const [event, options] of this.#early.splice(0)) this.publish(event, options)
  }

  publish(event: DomainEvent, options: PublishOptions): void {
    const { maxWaiting } = this.#options
    const isNew = this.#state === 'new'
    if (isNew && currentCommand()) return // it starts no handler, and may write more than may wait
    const lanes = this.#lanesByType.get(eventTypeOf(event)) ?? []
    const isFull = isNew
      ? this.#early.length >= maxWaiting
      : lanes.some(({ waiting }) => waiting >= maxWaiting)
    if (isFull) {
      throw new ServiceUnavailableException(
        `The event ${eventTypeOf(event)} was not published: ${maxWaiting} wait for a handler of it already.`,
      )
    }
    if (isNew) this.#early.push([event, options])
    if (isNew || lanes.length === 0) return
    for (const lane of lanes) lane.waiting++
    const { traceparent } = options
    const delivery = traceparent === undefined ? untraced : { attempt: 1, traceparent }
    this.#published.push({ event, delivery, lanes })
    this.#scheduled ??= setImmediate(() => this.#dispatch())
  }

  /** Delivers what waits, and what handlers publish meanwhile. */
  async drain(): Promise<void> {
    if (this.#state === 'new') return // an application that failed to boot was never ready to handle anything
    await this.#slots.close(this.#options.closeTimeout, () => this.#countWaiting() > 0)
    this.#state = 'ended'
  }

  /** Says how much was published too late to be handled. */
  close(): void {
    clearImmediate(this.#scheduled)
    const count = this.#countWaiting()
    if (this.#state === 'ended' && count > 0)
      this.#context.log.error({ count }, 'events were not handled before the end')
  }

  #countWaiting(): number {
    return [...this.#lanesByType.values()].flat().reduce((count, { waiting }) => count + waiting, 0)
  }

  #dispatch(): void {
    this.#scheduled = undefined
    const published = this.#published
    this.#published = []
    for (const one of published) {
      for (const lane of one.lanes) {
        if (lane.isWaiting || this.#slots.free(lane.handler.name) <= 0) lane.add(one)
        else this.#deliver(lane, one)
      }
    }
  }

  /** Begins with what waits, as far as slots are free and the application has not closed. */
  #next(lane: Lane): void {
    while (this.#slots.free(lane.handler.name) > 0) {
      const one = lane.take()
      if (!one) return
      this.#deliver(lane, one)
    }
  }

  #deliver(lane: Lane, { event, delivery }: Published): void {
    const { handler } = lane
    lane.waiting--
    try {
      const result = handler.handle(event, this.#slots.signal, delivery)
      if (!isThenable(result)) return this.#succeed(handler, event)
      const handled = Promise.resolve(result).then(
        () => this.#succeed(handler, event),
        (error: unknown) => this.#fail(handler, event, error),
      )
      this.#slots.take(handler.name, handled, () => this.#next(lane))
    } catch (error) {
      this.#fail(handler, event, error)
    }
  }

  #succeed({ name, event: { type } }: EventHandler, { eventId }: DomainEvent): void {
    this.#context.announce('handled', { event: type, eventId, handler: name })
  }

  #fail({ name, event: { type } }: EventHandler, { eventId }: DomainEvent, error: unknown): void {
    this.#context.announce('failed', { event: type, eventId, handler: name, error })
    const record = { err: error, handler: name, event: type, eventId }
    logFailure(this.#context.log, 'error', record, 'event handler failed')
  }
}
