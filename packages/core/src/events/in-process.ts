/** The transport for one process: handlers run here, isolated, once `publish` has returned to the event loop. */
import type { EventHandler } from './discover-handlers.ts'
import { type DomainEvent, eventClassOf } from './event.ts'
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
  const abort = new AbortController()
  const running = new Set<Promise<void>>()
  let queue: DomainEvent[] = []
  let scheduled: NodeJS.Immediate | undefined
  let context: TransportContext | undefined

  function schedule(): void {
    if (context && !scheduled && queue.length > 0) scheduled = setImmediate(drain)
  }

  function drain(): void {
    scheduled = undefined
    const events = queue
    queue = []
    for (const event of events) dispatch(event)
  }

  function dispatch(event: DomainEvent): void {
    for (const handler of context?.handlersOf(eventClassOf(event)?.type ?? '') ?? []) call(handler, event)
  }

  function call(handler: EventHandler, event: DomainEvent): void {
    try {
      const result = handler.handle(event, abort.signal)
      if (isThenable(result)) track(handler, event, result)
    } catch (error) {
      report(handler, event, error)
    }
  }

  function track(handler: EventHandler, event: DomainEvent, result: PromiseLike<unknown>): void {
    const settled: Promise<void> = Promise.resolve(result)
      .then(undefined, (error: unknown) => report(handler, event, error))
      .then(() => void running.delete(settled))
    running.add(settled)
  }

  function report(handler: EventHandler, event: DomainEvent, err: unknown): void {
    const { type } = handler.event
    context?.log.error(
      { err, handler: handler.name, event: type, eventId: event.eventId },
      'event handler failed',
    )
  }

  return {
    name: 'inProcess',
    transactional: false,
    start(given) {
      context = given
      schedule()
    },
    publish(event) {
      queue.push(event)
      schedule()
    },
    async close() {
      clearImmediate(scheduled)
      drain()
      await settle(running, closeTimeout)
      abort.abort()
      // Handlers that heed the signal may finish; the others cannot be stopped and are not waited for.
      await settle(running, Math.min(closeTimeout, 100))
    },
  }
}

/** Waits until nothing runs any more, or the time (ms) is over. */
async function settle(running: ReadonlySet<Promise<void>>, timeout: number): Promise<void> {
  if (running.size === 0) return
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeout)
  })
  await Promise.race([Promise.all(running), late])
  clearTimeout(timer)
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
