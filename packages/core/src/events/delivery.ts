/** Deliveries of events to handlers: attempts, time-outs, backoff, and the handlers that run now. */
import { setMaxListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { failureText, logFailure } from '../internal/failures.ts'
import { withTimeout } from '../internal/timeout.ts'
import type { EventHandler } from './handlers.ts'
import type { TransportContext } from './transport.ts'

export interface RetryOptions {
  /**
   * Attempts before an event becomes a dead letter.
   * @default 8
   */
  readonly maxAttempts?: number
  /**
   * Delay before the second attempt, in milliseconds; it doubles with each further one, with jitter, up to an hour.
   * @default 1000
   */
  readonly retryDelay?: number
  /**
   * How long one attempt may take, in milliseconds; then its signal fires and it counts as failed.
   * @default 60000
   */
  readonly attemptTimeout?: number
}

/** What the dispatchers of the durable transports have in common. */
export interface DispatchOptions extends Required<RetryOptions> {
  /** Slots of each handler in this process. */
  readonly concurrency: number
  /** How long a delivery belongs to its process without being renewed, in milliseconds. */
  readonly lease: number
  readonly pollInterval: number
  readonly closeTimeout: number
}

export const dispatchDefaults = {
  maxAttempts: 8,
  retryDelay: 1000,
  attemptTimeout: 60_000,
  concurrency: 10,
  lease: 10_000,
  closeTimeout: 5000,
} as const satisfies Partial<DispatchOptions>

const longestDelay = 3_600_000

/** 1 ms doubled this often exceeds the longest delay. The bound also keeps 0 at 0: 0 × Infinity is NaN. */
const mostDoublings = 22

/** Delay in ms after so many attempts: exponential backoff; jitter takes up to half of it away, so that retries spread. */
export function backoff(attempts: number, retryDelay: number): number {
  const full = Math.min(retryDelay * 2 ** Math.min(attempts - 1, mostDoublings), longestDelay)
  return Math.round(full / 2 + (full / 2) * Math.random())
}

/** An event as a database keeps it. */
interface StoredEvent {
  readonly eventId: string
  readonly type: string
  readonly payload: unknown
  readonly traceparent?: string | undefined
}

/** One attempt to deliver a stored event. */
export interface Attempt {
  readonly handler: EventHandler
  readonly event: StoredEvent
  /** The first attempt is 1. */
  readonly number: number
  readonly maxAttempts: number
  /** In milliseconds. */
  readonly timeout: number
  /** The slots in which it runs; they tell whether the transport is closing. */
  readonly slots: Pick<Slots, 'signal' | 'isClosing'>
}

/** Why an attempt failed: another one follows, it was the last one, or no attempt could succeed. */
interface Failure {
  readonly kind: 'retry' | 'exhausted' | 'undeliverable'
  /** `failureText` of what was thrown: what a dead letter keeps. */
  readonly error: string
}

/**
 * `released`: the handler threw while the transport was closing: by then publishing is refused, and what the handler uses
 * may be closed. It keeps its attempt, and the event is for another process.
 */
export type Outcome = SettledOutcome | { readonly kind: 'released' }

/** What a transport records. */
export type SettledOutcome = { readonly kind: 'handled' } | Failure

/** A failure that no further attempt can repair. */
class UndeliverableError extends Error {}

/** The attempt took too long. */
class TimeoutError extends Error {}

/** Makes one attempt, announces and logs its outcome. Never rejects. */
export async function deliver(context: TransportContext, attempt: Attempt): Promise<Outcome> {
  try {
    await runHandler(context, attempt)
    return { kind: 'handled' }
  } catch (error) {
    const { signal, isClosing } = attempt.slots
    const isOfClose = signal.aborted || (isClosing && !isA(TimeoutError, error))
    if (!isOfClose || isA(UndeliverableError, error)) return reportFailure(context, attempt, error)
    // A handler that obeys the signal has nothing to report.
    if (!signal.aborted)
      logFailure(
        context.log,
        'warn',
        recordOf(attempt, error),
        'event handler failed during the close, will be tried again',
      )
    return { kind: 'released' }
  }
}

/**
 * Runs the handler once. Rejects with what it throws, with a time-out error, or with `UndeliverableError` when the
 * stored event cannot be made again or is not of the handler's type.
 */
async function runHandler(
  context: TransportContext,
  { handler, event: stored, number, timeout, slots }: Attempt,
): Promise<void> {
  const { signal } = slots
  const event = revive(context, handler, stored)
  // AbortSignal.any would leave a trace on the transport's signal, which lives as long as the process.
  const ended = new AbortController()
  const abort = () => ended.abort(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    const delivery = { attempt: number, traceparent: stored.traceparent }
    const handled = (async () => handler.handle(event, ended.signal, delivery))() // a synchronous throw rejects
    const onTimeout = () => {
      const error = new TimeoutError(`The handler ${handler.name} did not finish within ${timeout} ms.`)
      ended.abort(error)
      throw error
    }
    // After close nothing waits for a handler that does not end, so neither does the process.
    await withTimeout(handled, timeout, onTimeout, { ref: false })
    context.announce('handled', { type: stored.type, eventId: stored.eventId, handler: handler.name })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function revive(context: TransportContext, handler: EventHandler, { type, eventId, payload }: StoredEvent) {
  if (type !== handler.event.type) {
    // Stored before the handler's event was changed.
    throw new UndeliverableError(
      `The handler ${handler.name} handles ${handler.event.type}, and this event is ${type}.`,
    )
  }
  try {
    return context.revive(type, eventId, payload)
  } catch (cause) {
    throw new UndeliverableError(failureText(cause), { cause })
  }
}

function reportFailure(context: TransportContext, attempt: Attempt, err: unknown): Failure {
  const { type, eventId } = attempt.event
  const diagnostic = { type, eventId, handler: attempt.handler.name, error: err }
  const kind = kindOf(attempt, err)
  if (kind !== 'undeliverable') context.announce('failed', diagnostic)
  if (kind === 'retry') {
    logFailure(context.log, 'warn', recordOf(attempt, err), 'event handler failed, will be tried again')
  } else {
    context.announce('deadLettered', diagnostic)
    logFailure(context.log, 'error', recordOf(attempt, err), 'event is dead-lettered')
  }
  return { kind, error: failureText(err) }
}

function recordOf({ handler, event, number }: Attempt, err: unknown) {
  return { err, handler: handler.name, event: event.type, eventId: event.eventId, attempts: number }
}

function kindOf({ number, maxAttempts }: Attempt, error: unknown): Failure['kind'] {
  if (isA(UndeliverableError, error)) return 'undeliverable'
  return number >= maxAttempts ? 'exhausted' : 'retry'
}

/** `instanceof` for values that handlers throw: it runs a proxy's trap, which may throw. */
function isA(type: new (message: string) => Error, error: unknown): boolean {
  try {
    return error instanceof type
  } catch {
    return false
  }
}

/** After the signal, handlers that obey it get this long (ms); the others cannot be stopped, and nothing waits for them. */
const grace = 100

/** The deliveries that run now. Each handler has slots of its own, so that a slow one never holds up another. */
export class Slots {
  readonly #perHandler: number
  readonly #abort = new AbortController()
  /** What the signal says; reading it there takes longer than handing an event over. */
  #isAborted = false
  #isClosing = false
  readonly #running = new Map<string, number>()
  readonly #deliveries = new Set<Promise<void>>()

  constructor(perHandler: number) {
    this.#perHandler = perHandler
    setMaxListeners(0, this.#abort.signal) // one for each delivery that runs
  }

  /** Whether `close` was called: handlers that run may end, up to its time-out. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Fires when the time-out of `close` has passed. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** How many further deliveries the handler may begin; none after the signal. */
  free(handler: string): number {
    return this.#isAborted ? 0 : this.#perHandler - (this.#running.get(handler) ?? 0)
  }

  /** Keeps a slot until the delivery settles, which must not reject; then calls `onFree`. */
  take(handler: string, delivery: Promise<void>, onFree: () => void): void {
    const count = (change: number) => this.#running.set(handler, (this.#running.get(handler) ?? 0) + change)
    const free = () => {
      count(-1)
      this.#deliveries.delete(delivery)
      onFree()
    }
    count(1)
    this.#deliveries.add(delivery)
    void delivery.then(free)
  }

  /** Waits up to `timeout` ms, then aborts the signal and gives handlers that obey it a moment to end. */
  async close(timeout: number, isWaiting = () => false): Promise<void> {
    this.#isClosing = true
    await withTimeout(this.#idle(isWaiting), timeout, () => {})
    this.#isAborted = true
    this.#abort.abort()
    await withTimeout(this.#idle(), Math.min(timeout, grace), () => {})
  }

  /** Waits also for deliveries that begin when others end, and for those that wait for their turn. */
  async #idle(isWaiting = () => false): Promise<void> {
    while (this.#deliveries.size > 0 || (isWaiting() && !this.#isAborted)) {
      await Promise.all(this.#deliveries)
      await turn()
    }
  }
}
