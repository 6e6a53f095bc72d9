/** One attempt to deliver a stored event to its handler: time-out, outcome, delay before the next one. */
import { failureText, logFailure } from '../../internal/failures.ts'
import { withTimeout } from '../../internal/timeout.ts'
import type { DomainEvent } from '../event.ts'
import type { EventHandler } from '../handlers.ts'
import type { Slots } from '../slots.ts'
import type { TransportContext } from '../transport.ts'
import type { DurableOptions } from './options.ts'
import type { Job, Outcome } from './queue.ts'

/** One attempt to deliver a job. */
export interface Attempt {
  readonly handler: EventHandler
  readonly job: Job
  readonly options: Pick<Required<DurableOptions>, 'attemptTimeout' | 'maxAttempts' | 'retryDelay'>
  /** The slots in which it runs; they tell whether the transport is closing. */
  readonly slots: Pick<Slots, 'signal' | 'isClosing' | 'waitFor'>
}

/**
 * Makes one attempt, announces and logs its outcome. Never rejects. `released`: the handler threw while the transport was
 * closing, when what it uses may be closed already. No attempt is counted, and the event goes to another process.
 */
export async function deliver(
  context: TransportContext,
  attempt: Attempt,
): Promise<Outcome | { readonly kind: 'released' }> {
  const { handler, job, slots } = attempt
  let timeout: Error | undefined
  try {
    const event = revive(context, attempt)
    await runHandler(attempt, event, (error) => (timeout = error))
    context.announce('handled', { event: job.type, eventId: job.eventId, handler: handler.name })
    return { kind: 'handled' }
  } catch (error) {
    const isTimeout = timeout !== undefined && error === timeout
    if (!slots.signal.aborted && (isTimeout || !slots.isClosing))
      return reportFailure(context, attempt, error)
    // A handler that obeys the signal has nothing to report.
    if (!slots.signal.aborted)
      logFailure(
        context.log,
        'warn',
        recordOf(attempt, error),
        'event handler failed during the close, will be tried again',
      )
    return { kind: 'released' }
  }
}

/** Runs the handler once. Rejects with what it throws, or with the error that `onTimeout` gets. */
async function runHandler(
  { handler, job, options: { attemptTimeout }, slots }: Attempt,
  event: DomainEvent,
  onTimeout: (error: Error) => void,
): Promise<void> {
  const { signal } = slots
  // AbortSignal.any would leave a trace on the transport's signal, which lives as long as the process.
  const ended = new AbortController()
  const abort = () => ended.abort(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    const delivery = { attempt: job.failures + 1, traceparent: job.traceparent ?? undefined }
    const handled = (async () => handler.handle(event, ended.signal, delivery))() // a synchronous throw rejects
    const late = () => {
      const error = new Error(`The handler ${handler.name} did not finish within ${attemptTimeout} ms.`)
      onTimeout(error)
      ended.abort(error)
      slots.waitFor(handled)
      throw error
    }
    // After close nothing waits for a handler that does not end, so neither does the process.
    await withTimeout(handled, attemptTimeout, late, { ref: false })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/**
 * @throws the event cannot be made again, or is not the handler's: it may be one that another release knows, of which an
 * instance may take the next attempt
 */
function revive(context: TransportContext, { handler, job }: Attempt): DomainEvent {
  const { type, eventId, payload } = job
  if (type === handler.event.type) return context.revive(type, eventId, JSON.parse(payload))
  throw new Error(`The handler ${handler.name} handles ${handler.event.type}, and this event is ${type}.`)
}

function reportFailure(context: TransportContext, attempt: Attempt, err: unknown): Outcome {
  const { job, handler, options } = attempt
  const { type, eventId, failures } = job
  const diagnostic = { event: type, eventId, handler: handler.name, error: err }
  const error = failureText(err)
  context.announce('failed', diagnostic)
  if (failures + 1 < options.maxAttempts) {
    logFailure(context.log, 'warn', recordOf(attempt, err), 'event handler failed, will be tried again')
    return { kind: 'retry', error, delay: backoff(failures + 1, options.retryDelay) }
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
