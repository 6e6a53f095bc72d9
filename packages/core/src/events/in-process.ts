/** The transport for one process: handlers run here, isolated, once `publish` has returned to the event loop. */
import { logFailure } from '../internal/failures.ts'
import { isThenable } from '../internal/safe.ts'
import { InFlight } from './delivery.ts'
import { type DomainEvent, eventTypeOf } from './event.ts'
import type { EventHandler } from './handlers.ts'
import type { EventTransport, TransportContext } from './transport.ts'

export interface InProcessOptions {
  /**
   * How long `close` waits for running handlers before it aborts their signal, in milliseconds.
   * @default 5000
   */
  readonly closeTimeout?: number
}

/** Delivers every event once to every handler of its exact type. Nothing survives the process. */
export function inProcess({ closeTimeout = 5000 }: InProcessOptions = {}): EventTransport {
  const dispatcher = new Dispatcher()
  return {
    name: 'inProcess',
    transactional: false,
    open: (context) => dispatcher.open(context),
    subscribe: (handler) => dispatcher.subscribe(handler),
    start: () => dispatcher.start(),
    publish: (event) => dispatcher.publish(event),
    close: () => dispatcher.close(closeTimeout),
  }
}

/** Keeps events until the application is ready, then calls their handlers at the next turn of the event loop. */
class Dispatcher {
  readonly #handlersByType = new Map<string, EventHandler[]>()
  readonly #inFlight = new InFlight()
  #context: TransportContext | undefined
  #state: 'new' | 'started' = 'new'
  #queue: DomainEvent[] = []
  #scheduled: NodeJS.Immediate | undefined

  open(context: TransportContext): void {
    this.#context = context
  }

  subscribe(handler: EventHandler): void {
    const { type } = handler.event
    this.#handlersByType.set(type, [...this.#handlersOf(type), handler])
  }

  start(): void {
    this.#state = 'started'
    this.#schedule()
  }

  publish(event: DomainEvent): void {
    // Before the start handlers may still be added; afterwards an event without one has nowhere to go.
    if (this.#state === 'started' && this.#handlersOf(eventTypeOf(event)).length === 0) return
    this.#queue.push(event)
    this.#schedule()
  }

  async close(timeout: number): Promise<void> {
    clearImmediate(this.#scheduled)
    // An application that failed to boot was never ready to handle anything.
    if (this.#state === 'started') this.#dispatch()
    await this.#inFlight.close(timeout)
  }

  #handlersOf(type: string): readonly EventHandler[] {
    return this.#handlersByType.get(type) ?? []
  }

  #schedule(): void {
    if (this.#state === 'new' || this.#scheduled || this.#queue.length === 0) return
    this.#scheduled = setImmediate(() => this.#dispatch())
  }

  #dispatch(): void {
    this.#scheduled = undefined
    const events = this.#queue
    this.#queue = []
    for (const event of events) {
      for (const handler of this.#handlersOf(eventTypeOf(event))) this.#deliver(handler, event)
    }
  }

  #deliver(handler: EventHandler, event: DomainEvent): void {
    try {
      const result = handler.handle(event, this.#inFlight.signal)
      if (!isThenable(result)) return this.#succeed(handler, event)
      this.#inFlight.add(
        Promise.resolve(result).then(
          () => this.#succeed(handler, event),
          (error: unknown) => this.#fail(handler, event, error),
        ),
      )
    } catch (error) {
      this.#fail(handler, event, error)
    }
  }

  #succeed({ name, event: { type } }: EventHandler, { eventId }: DomainEvent): void {
    this.#context?.announce('handled', { type, eventId, handler: name })
  }

  #fail({ name, event: { type } }: EventHandler, { eventId }: DomainEvent, error: unknown): void {
    if (!this.#context) return
    this.#context.announce('failed', { type, eventId, handler: name, error })
    const record = { err: error, handler: name, event: type, eventId }
    logFailure(this.#context.log, 'error', record, 'event handler failed')
  }
}
