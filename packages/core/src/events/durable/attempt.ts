/** One attempt to deliver a stored event to its handler: time-out, outcome, delay before the next one. */
import { failureText, logFailure } from '../../internal/failures.ts'
import { withTimeout } from '../../internal/timeout.ts'
import type { DomainEvent } from '../event.ts'
import type { EventHandler } from '../handlers.ts'
import type { Slots } from '../slots.ts'
import type { TransportContext } from '../transport.ts'
import type { Job, Outcome } from './queue.ts'

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

/** One attempt to deliver a job. */
export interface Attempt {
  readonly handler: EventHandler
  readonly job: Job
  readonly options: Required<RetryOptions>
  /** The slots in which it runs; they tell whether the transport is closing. */
  readonly slots: Pick<Slots, 'signal' | 'isClosing' | 'waitFor'>
}

/** A failure that no further attempt can repair. */
class UndeliverableError extends Error {}

/** The attempt took too long. */
class TimeoutError extends Error {}

/**
 * Makes one attempt, announces and logs its outcome. Never rejects. `released`: the handler threw while the transport was
 * closing, when what it uses may be closed already. No attempt is counted, and the event goes to another process.
 */
export async function deliver(
  context: TransportContext,
  attempt: Attempt,
): Promise<Outcome | { readonly kind: 'released' }> {
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
  { handler, job, options: { attemptTimeout }, slots }: Attempt,
): Promise<void> {
  const { signal } = slots
  const event = revive(context, handler, job)
  // AbortSignal.any would leave a trace on the transport's signal, which lives as long as the process.
  const ended = new AbortController()
  const abort = () => ended.abort(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    const delivery = { attempt: job.failures + 1, traceparent: job.traceparent ?? undefined }
    const handled = (async () => handler.handle(event, ended.signal, delivery))() // a synchronous throw rejects
    const onTimeout = () => {
      const error = new TimeoutError(
        `The handler ${handler.name} did not finish within ${attemptTimeout} ms.`,
      )
      ended.abort(error)
      slots.waitFor(handled)
      throw error
    }
    // After close nothing waits for a handler that does not end, so neither does the process.
    await withTimeout(handled, attemptTimeout, onTimeout, { ref: false })
    context.announce('handled', { type: job.type, eventId: job.eventId, handler: handler.name })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function revive(
  context: TransportContext,
  handler: EventHandler,
  { type, eventId, payload }: Job,
): DomainEvent {
  if (type !== handler.event.type) {
    // Stored before the handler's event was changed.
    throw new UndeliverableError(
      `The handler ${handler.name} handles ${handler.event.type}, and this event is ${type}.`,
    )
  }
  try {
    return context.revive(type, eventId, JSON.parse(payload))
  } catch (cause) {
    throw new UndeliverableError(failureText(cause), { cause })
  }
}

function reportFailure(context: TransportContext, attempt: Attempt, err: unknown): Outcome {
  const { job, handler, options } = attempt
  const diagnostic = { type: job.type, eventId: job.eventId, handler: handler.name, error: err }
  const error = failureText(err)
  const isUndeliverable = isA(UndeliverableError, err)
  if (!isUndeliverable) context.announce('failed', diagnostic)
  const number = job.failures + 1
  if (!isUndeliverable && number < options.maxAttempts) {
    logFailure(context.log, 'warn', recordOf(attempt, err), 'event handler failed, will be tried again')
    return { kind: 'retry', error, delay: backoff(number, options.retryDelay) }
  }
  context.announce('deadLettered', diagnostic)
  logFailure(context.log, 'error', recordOf(attempt, err), 'event is dead-lettered')
  return { kind: 'dead', error }
}

function recordOf({ handler, job: { type, eventId, failures } }: Attempt, err: unknown) {
  return { err, handler: handler.name, event: type, eventId, attempts: failures + 1 }
}

const longestDelay = 3_600_000

/** 1 ms doubled this often exceeds the longest delay. The bound also keeps 0 at 0: 0 × Infinity is NaN. */
const mostDoublings = 22

/** Delay in ms after so many attempts: exponential backoff; jitter takes up to half of it away, so that retries spread. */
function backoff(attempts: number, retryDelay: number): number {
  const full = Math.min(retryDelay * 2 ** Math.min(attempts - 1, mostDoublings), longestDelay)
  return Math.round(full / 2 + (full / 2) * Math.random())
}

/** `instanceof` for values that handlers throw: it runs a proxy's trap, which may throw. */
function isA(type: new (message: string) => Error, error: unknown): boolean {
  try {
    return error instanceof type
  } catch {
    return false
  }
}
