/** Deliveries of events to handlers: attempts, time-outs, backoff, and the handlers that run now. */
import { failureText, logFailure } from '../internal/failures.ts'
import { withTimeout } from '../internal/timeout.ts'
import type { DomainEvent } from './event.ts'
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
   * pgBoss makes the delays itself: whole seconds, the first one up to twice as long, up to 18 hours.
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
  readonly concurrency: number
  readonly pollInterval: number
  readonly closeTimeout: number
}

export const dispatchDefaults = {
  maxAttempts: 8,
  retryDelay: 1000,
  attemptTimeout: 60_000,
  concurrency: 10,
  closeTimeout: 5000,
} as const satisfies Partial<DispatchOptions>

const longestDelay = 3_600_000

/**
 * Delay in ms after so many attempts: exponential backoff; jitter takes up to half of it away, so that retries spread.
 * For the outbox alone: pg-boss computes its own (`retryBackoff` in pg-boss/queue.ts), and inProcess makes one attempt.
 */
export function backoff(attempts: number, retryDelay: number): number {
  const full = Math.min(retryDelay * 2 ** (attempts - 1), longestDelay)
  return Math.round(full / 2 + (full / 2) * Math.random())
}

/** An event as a database keeps it. */
export interface StoredEvent {
  readonly eventId: string
  readonly type: string
  readonly payload: unknown
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
  /** Fires when the transport closes. */
  readonly signal: AbortSignal
}

/** Why an attempt failed: another one follows, it was the last one, or no attempt could succeed. */
interface Failure {
  readonly kind: 'retry' | 'exhausted' | 'undeliverable'
  /** `failureText` of what was thrown: what a dead letter keeps. */
  readonly error: string
}

export type Outcome = { readonly kind: 'handled' } | Failure

/** A failure that no further attempt can repair. */
class UndeliverableError extends Error {}

/** Makes one attempt, announces and logs its outcome. Never rejects. */
export async function deliver(context: TransportContext, attempt: Attempt): Promise<Outcome> {
  try {
    // An attempt whose process died recorded no outcome: only the next claim shows that it was made.
    if (attempt.number > attempt.maxAttempts) throw new UndeliverableError('The last attempt did not end.')
    await runHandler(context, attempt)
    return { kind: 'handled' }
  } catch (error) {
    return reportFailure(context, attempt, error)
  }
}

/**
 * Runs the handler once. Rejects with what it throws, with a time-out error, or with `UndeliverableError` when the
 * stored event cannot be made again or is not of the handler's type.
 */
async function runHandler(
  context: TransportContext,
  { handler, event: stored, timeout, signal }: Attempt,
): Promise<void> {
  const event = revive(context, handler, stored)
  const diagnostic = { type: stored.type, eventId: stored.eventId, handler: handler.name }
  // AbortSignal.any would leave a trace on the transport's signal, which lives as long as the process.
  const ended = new AbortController()
  const abort = () => ended.abort(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    await withTimeout(invoke(handler, event, ended.signal), timeout, () => {
      const error = new Error(`The handler ${handler.name} did not finish within ${timeout} ms.`)
      ended.abort(error)
      throw error
    })
    context.announce('handled', diagnostic)
  } catch (error) {
    context.announce('failed', { ...diagnostic, error })
    throw error
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

/** Turns a synchronous throw into a rejection. */
async function invoke(handler: EventHandler, event: DomainEvent, signal: AbortSignal): Promise<void> {
  await handler.handle(event, signal)
}

function reportFailure(context: TransportContext, attempt: Attempt, err: unknown): Failure {
  const { type, eventId } = attempt.event
  const handler = attempt.handler.name
  const record = { err, handler, event: type, eventId, attempts: attempt.number }
  const kind = kindOf(attempt, err)
  if (kind === 'retry') {
    logFailure(context.log, 'warn', record, 'event handler failed, will be tried again')
  } else {
    context.announce('deadLettered', { type, eventId, handler, error: err })
    logFailure(context.log, 'error', record, 'event is dead-lettered')
  }
  return { kind, error: failureText(err) }
}

function kindOf({ number, maxAttempts }: Attempt, error: unknown): Failure['kind'] {
  if (isUndeliverable(error)) return 'undeliverable'
  return number >= maxAttempts ? 'exhausted' : 'retry'
}

/** `instanceof` for values that handlers throw: it runs a proxy's trap, which may throw. */
function isUndeliverable(error: unknown): boolean {
  try {
    return error instanceof UndeliverableError
  } catch {
    return false
  }
}

/** After the signal, handlers that obey it get this long (ms); the others cannot be stopped, and nothing waits for them. */
const grace = 100

/** The deliveries that run now, so that closing can wait for them and then abort them. */
export class InFlight {
  readonly #abort = new AbortController()
  readonly #deliveries = new Set<Promise<void>>()

  get size(): number {
    return this.#deliveries.size
  }

  /** Fires when the transport closes. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Keeps a delivery, whose promise must not reject, until it settles. */
  add(delivery: Promise<void>): void {
    this.#deliveries.add(delivery)
    void delivery.then(() => this.#deliveries.delete(delivery))
  }

  /** Waits up to `timeout` ms, then aborts the signal and gives handlers that obey it a moment to end. */
  async close(timeout: number): Promise<void> {
    await this.#settled(timeout)
    this.#abort.abort()
    await this.#settled(Math.min(timeout, grace))
  }

  async #settled(timeout: number): Promise<void> {
    await withTimeout(Promise.all(this.#deliveries), timeout, () => {})
  }
}
