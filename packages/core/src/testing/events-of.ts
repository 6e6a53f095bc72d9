/** Records what an application published, and waits until it was handled. */
import { setTimeout as delay } from 'node:timers/promises'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { EventDiagnostic } from '../events/diagnostics.ts'

/** A record of events since `eventsOf` was called. */
export interface EventRecord extends Disposable {
  /** Types in the order of publication: `['notes.shared']`. */
  readonly published: readonly string[]
  /** `<module>.<handler>` in the order in which handlers finished. */
  readonly handled: readonly string[]
  /** Waits until `handler` has finished `times` times. @throws after `timeout` ms, with what happened instead */
  waitFor(handler: string, times?: number, timeout?: number): Promise<void>
}

/**
 * Records the events of an application for a test: `const record = eventsOf(app)`.
 * It records all applications of the process: run those of one test file one after the other. The record ends with the
 * application; one that is made when the application is ready ends when it is disposed of.
 */
export function eventsOf(app: { addHook(name: 'onClose', hook: () => Promise<void>): unknown }): EventRecord {
  const published: string[] = []
  const handled: string[] = []
  const failed: string[] = []
  const lists: { readonly [type: string]: string[] | undefined } = { published, handled, failed }
  const listener = (message: unknown) => {
    const { type, event, handler = event } = message as EventDiagnostic
    lists[type]?.push(handler)
  }
  subscribe('fastify-modular:core', listener)
  const stop = () => void unsubscribe('fastify-modular:core', listener)
  try {
    app.addHook('onClose', async () => stop())
  } catch {
    // An application that is ready takes no hooks.
  }
  return {
    published,
    handled,
    async waitFor(handler, times = 1, timeout = 5000) {
      const end = Date.now() + timeout
      while (handled.filter((name) => name === handler).length < times) {
        if (Date.now() > end) {
          throw new Error(
            `${handler} did not finish ${times} times. Handled: ${handled.join(', ')}; failed: ${failed.join(', ')}`,
          )
        }
        await delay(5)
      }
    },
    [Symbol.dispose]: stop,
  }
}
