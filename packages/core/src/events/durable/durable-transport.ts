/** A durable transport on any queue: at least once, with retries, leases and dead letters. */
import { ArgumentException } from '../../domain-exceptions.ts'
import { logFailure } from '../../internal/failures.ts'
import { safeRead } from '../../internal/safe.ts'
import { mayBeUnhandled } from '../../symbols.ts'
import { FMOD_CORE_TRANSPORT_NOT_OPEN } from '../../misuse-errors.ts'
import { type DomainEvent, eventClassOf, eventTypeOf } from '../event.ts'
import { defaultCloseTimeout, defaultConcurrency } from '../slots.ts'
import type { EventTransport, PublishOptions, RemovedHandlers, TransportContext } from '../transport.ts'
import { Dispatcher, type DispatchOptions } from './dispatcher.ts'
import type { DurableOptions } from './options.ts'
import type { Job, Queue, QueueSource, StoredEvent } from './queue.ts'

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
  const options = { ...defaults, ...given }
  const expected = new Set<string>()
  /** Types of which an event was stored for nobody. */
  const warned = new Set<string>()
  let parts:
    | { readonly queue: Queue<J>; readonly dispatcher: Dispatcher<J>; readonly context: TransportContext }
    | undefined

  function opened() {
    if (!parts) throw new FMOD_CORE_TRANSPORT_NOT_OPEN(source.name)
    return parts
  }

  function reportUnsubscribed({ eventId, type }: StoredEvent, eventClass: object | undefined): void {
    const { context, dispatcher } = opened()
    context.announce('unsubscribed', { event: type, eventId })
    if (warned.has(type) || safeRead(eventClass, mayBeUnhandled) === true) return
    warned.add(type)
    dispatcher.log.warn(
      { event: type },
      'an event is kept for nobody: no handler of its type has ever started',
    )
  }

  const removedHandlers: RemovedHandlers = {
    list: async () => opened().queue.listRemoved(opened().dispatcher.handlers),
    async unsubscribe(handler) {
      const removed = await removedHandlers.list()
      if (!removed.some((one) => one.handler === handler)) return false
      await opened().queue.unsubscribe(handler)
      return true
    },
  }

  return {
    name: source.name,
    transactional: source.transactional,
    isOn: (connection) => source.isOn?.(connection) === true,
    deadLetters: {
      async list(limit = 100) {
        if (!Number.isSafeInteger(limit) || limit < 1)
          throw new ArgumentException('The limit of dead letters is not a positive integer.', 'limit')
        return opened().queue.deadLetters.list(limit)
      },
      replay: async (id) => opened().queue.deadLetters.replay(id),
      discard: async (id) => opened().queue.deadLetters.discard(id),
    },
    removedHandlers,
    async open(context) {
      const dispatcher = new Dispatcher<J>(context, options)
      parts = { queue: await source.open(dispatcher), dispatcher, context }
    },
    async expect(handlers) {
      await opened().queue.expect(handlers)
      for (const { handler } of handlers) expected.add(handler)
    },
    async subscribe(handlers) {
      const { queue, dispatcher } = opened()
      await queue.subscribe(handlers.map(({ name, event }) => ({ handler: name, type: event.type })))
      for (const handler of handlers) dispatcher.add(handler)
    },
    async start() {
      const { queue, dispatcher } = opened()
      await dispatcher.start(queue)
      try {
        const handlers = (await removedHandlers.list()).filter(
          ({ handler, isRunning }) => !isRunning && !expected.has(handler),
        )
        // A process that only publishes never has the handlers.
        const level = dispatcher.handlers.length > 0 ? 'warn' : 'info'
        if (handlers.length > 0)
          dispatcher.log[level]({ handlers }, 'events are kept for handlers that this process does not have')
      } catch (err) {
        logFailure(dispatcher.log, 'error', { err }, 'removed event handlers cannot be listed')
      }
    },
    publish(event, { tx, traceparent }) {
      const row = stored(event, traceparent)
      const report = (isKept: boolean) => (isKept ? undefined : reportUnsubscribed(row, eventClassOf(event)))
      const isKept = opened().queue.publish(row, tx)
      return typeof isKept === 'object' ? isKept.then(report) : report(isKept)
    },
    stop: () => parts?.dispatcher.stop(),
    drain: () => parts?.dispatcher.drain(),
    close: () => parts?.queue.close?.(),
  }
}

/** As the queue keeps it: an event serialises to its payload. */
function stored(event: DomainEvent, traceparent: PublishOptions['traceparent']): StoredEvent {
  const { eventId } = event
  return {
    eventId,
    type: eventTypeOf(event),
    payload: JSON.stringify(event),
    traceparent: traceparent ?? null,
  }
}
