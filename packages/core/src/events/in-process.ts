/** The transport for one process: handlers run here, isolated, once `publish` has returned to the event loop. */
import { logFailure } from '../internal/failures.ts'
import { option, type OptionsSchema, Type } from '../internal/options.ts'
import type { EventHandler } from './discover-handlers.ts'
import { type DomainEvent, eventClassOf } from './event.ts'
import { createRunning } from './running.ts'
import type { EventTransport, TransportContext } from './transport.ts'
import { checkTransportOptions } from './transport-options.ts'

export interface InProcessOptions {
  /**
   * How long `close` waits for running handlers before it aborts their signal, in milliseconds.
   * @default 5000
   */
  readonly closeTimeout?: number
}

const schema: OptionsSchema<InProcessOptions> = Type.Object({ closeTimeout: option.milliseconds(0) })

/**
 * Delivers every event once to every handler of its exact type. Nothing survives the process.
 * @throws {FMOD_CORE_INVALID_OPTION} with all options that cannot be used
 */
export function inProcess(options: InProcessOptions = {}): EventTransport {
  checkTransportOptions('inProcess', schema, options)
  const { closeTimeout = 5000 } = options
  const handlersByType = new Map<string, EventHandler[]>()
  const running = createRunning()
  let context: TransportContext | undefined
  let queue: DomainEvent[] = []
  let started = false
  let scheduled: NodeJS.Immediate | undefined

  function schedule(): void {
    if (started && !scheduled && queue.length > 0) scheduled = setImmediate(drain)
  }

  function drain(): void {
    scheduled = undefined
    const events = queue
    queue = []
    for (const event of events) {
      for (const handler of handlersByType.get(eventClassOf(event)?.type ?? '') ?? []) call(handler, event)
    }
  }

  function call(handler: EventHandler, event: DomainEvent): void {
    try {
      const result = handler.handle(event, running.signal)
      if (!isThenable(result)) return succeed(handler, event)
      running.track(
        Promise.resolve(result).then(
          () => succeed(handler, event),
          (error: unknown) => fail(handler, event, error),
        ),
      )
    } catch (error) {
      fail(handler, event, error)
    }
  }

  function succeed({ name, event: { type } }: EventHandler, { eventId }: DomainEvent): void {
    context?.announce('handled', { type, eventId, handler: name })
  }

  function fail({ name, event: { type } }: EventHandler, { eventId }: DomainEvent, error: unknown): void {
    context?.announce('failed', { type, eventId, handler: name, error })
    if (!context) return
    logFailure(
      context.log,
      'error',
      { err: error, handler: name, event: type, eventId },
      'event handler failed',
    )
  }

  return {
    name: 'inProcess',
    transactional: false,
    open(given) {
      context = given
    },
    subscribe(handler) {
      const { type } = handler.event
      handlersByType.set(type, [...(handlersByType.get(type) ?? []), handler])
    },
    start() {
      started = true
      schedule()
    },
    publish(event) {
      // Before the start handlers may still be added; afterwards an event without one has nowhere to go.
      if (started && !handlersByType.has(eventClassOf(event)?.type ?? '')) return
      queue.push(event)
      schedule()
    },
    async close() {
      clearImmediate(scheduled)
      // An application that failed to boot was never ready to handle anything.
      if (started) drain()
      await running.close(closeTimeout)
    },
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
