/** A durable transport on any queue: at least once, with retries, leases and dead letters. */
import { ArgumentException } from '../../domain-exceptions.ts'
import { currentCommand, orFinding, report } from '../../internal/command.ts'
import { logFailure } from '../../internal/failures.ts'
import { safeRead } from '../../internal/safe.ts'
import { errorCodes } from '../../misuse-errors.ts'
import { mayBeUnhandled } from '../../symbols.ts'
import { type DomainEvent, eventClassOf, eventTypeOf } from '../event.ts'
import { defaultCloseTimeout, defaultConcurrency } from '../slots.ts'
import type {
  EventTransport,
  OpenTransport,
  PublishOptions,
  RemovedHandlers,
  Subscription,
  TransportContext,
} from '../transport.ts'
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
  return {
    name: source.name,
    transactional: source.transactional,
    isOn: (connection) => source.isOn?.(connection) === true,
    async open(context) {
      const dispatcher = new Dispatcher<J>(context, { ...defaults, ...given })
      const check = { kind: 'missing migration', codes: ['FMOD_CORE_QUEUE_MISSING'] } as const
      const queue = await orFinding(check, async () => source.open(dispatcher))
      return queue ? transportOn(queue, dispatcher, context) : withoutQueue(source.name)
    },
  }
}

/** Under a command, of a queue whose tables are missing: the command reports that. */
function withoutQueue(name: string): OpenTransport {
  return {
    subscribe() {},
    start() {},
    publish() {
      throw new errorCodes.FMOD_CORE_QUEUE_MISSING(name)
    },
    drain() {},
    close() {},
  }
}

function transportOn<J extends Job>(
  queue: Queue<J>,
  dispatcher: Dispatcher<J>,
  context: TransportContext,
): OpenTransport {
  const others = new Set<string>()
  /** Types of which an event was stored for nobody. */
  const warned = new Set<string>()

  function reportUnsubscribed({ eventId, type }: StoredEvent, eventClass: object | undefined): void {
    context.announce('unsubscribed', { event: type, eventId })
    if (warned.has(type) || safeRead(eventClass, mayBeUnhandled) === true) return
    warned.add(type)
    context.log.warn({ event: type }, 'an event is kept for nobody: no handler of its type has ever started')
  }

  async function reportRemoved(): Promise<void> {
    try {
      const handlers = (await removedHandlers.list()).filter(
        ({ handler, isRunning }) => !isRunning && !others.has(handler),
      )
      // A process that only publishes never has the handlers.
      const level = dispatcher.handlers.length > 0 ? 'warn' : 'info'
      if (handlers.length > 0)
        context.log[level]({ handlers }, 'events are kept for handlers that this process does not have')
    } catch (err) {
      logFailure(context.log, 'error', { err }, 'removed event handlers cannot be listed')
    }
  }

  /** A command subscribes no handler: it would take the events of the handler's former type away from the processes that serve. */
  async function reportMissing(wanted: readonly Subscription[]): Promise<void> {
    const kept = new Set((await queue.listRemoved([])).map(({ handler }) => handler))
    for (const { handler, type } of wanted)
      if (!kept.has(handler))
        report({
          kind: 'event without a subscription',
          text: `No event "${type}" is kept for ${handler} until a process with this handler has started.`,
          keys: [],
        })
  }

  const removedHandlers: RemovedHandlers = {
    list: () => queue.listRemoved(dispatcher.handlers),
    async unsubscribe(handler) {
      const removed = await removedHandlers.list()
      if (!removed.some((one) => one.handler === handler)) return false
      await queue.unsubscribe(handler)
      return true
    },
  }

  return {
    deadLetters: {
      async list(limit = 100) {
        if (!Number.isSafeInteger(limit) || limit < 1)
          throw new ArgumentException('The limit of dead letters is not a positive integer.', 'limit')
        return queue.deadLetters.list(limit)
      },
      replay: (id) => queue.deadLetters.replay(id),
      discard: (id) => queue.deadLetters.discard(id),
    },
    removedHandlers,
    async subscribe(handlers, expected) {
      const own = handlers.map(({ name, event }) => ({ handler: name, type: event.type }))
      if (currentCommand()) await reportMissing([...own, ...expected])
      else await queue.subscribe([...own, ...expected])
      for (const handler of handlers) dispatcher.add(handler)
      for (const { handler } of expected) others.add(handler)
    },
    async start() {
      await dispatcher.start(queue)
      await reportRemoved()
    },
    publish(event, { tx, traceparent }) {
      const row = stored(event, traceparent)
      const report = (isKept: boolean) => (isKept ? undefined : reportUnsubscribed(row, eventClassOf(event)))
      const isKept = queue.publish(row, tx)
      return typeof isKept === 'object' ? isKept.then(report) : report(isKept)
    },
    stop: () => dispatcher.stop(),
    drain: () => dispatcher.drain(),
    close: () => queue.close?.(),
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
