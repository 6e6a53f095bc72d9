/** One attempt to deliver a stored event to its handler, and what a failure means; shared by the durable transports. */
import { describeFailure } from '../internal/failures.ts'
import type { EventHandler } from './discover-handlers.ts'
import type { DomainEvent } from './event.ts'
import type { TransportContext } from './transport.ts'

export interface RetryOptions {
  /**
   * Attempts before an event is given up and becomes a dead letter.
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

export const retryDefaults = {
  maxAttempts: 8,
  retryDelay: 1000,
  attemptTimeout: 60_000,
} as const satisfies Required<RetryOptions>

const longestDelay = 3_600_000

/** Delay in ms before the attempt after `attempts`: exponential, between half and all of it, so that retries spread. */
export function backOff(attempts: number, retryDelay: number): number {
  const full = Math.min(retryDelay * 2 ** (attempts - 1), longestDelay)
  return Math.round(full / 2 + (full / 2) * Math.random())
}

/** What an attempt works on. */
export interface Attempt {
  readonly eventId: string
  readonly type: string
  readonly payload: unknown
}

/** A failure that no further attempt can mend. */
class UndeliverableError extends Error {}

/** `instanceof` for values that handlers throw: it runs a proxy's trap, which may throw. */
export function isUndeliverable(error: unknown): boolean {
  try {
    return error instanceof UndeliverableError
  } catch {
    return false
  }
}

/**
 * Runs a handler once. Rejects with what it throws, with a time-out error, or with `UndeliverableError` when the stored
 * event cannot be made again or is not of the handler's type.
 */
export async function attempt(
  context: TransportContext,
  handler: EventHandler,
  { eventId, type, payload }: Attempt,
  signal: AbortSignal,
  timeout: number,
): Promise<void> {
  if (type !== handler.event.type) throw new UndeliverableError(otherType(handler, type))
  const event = revive(context, type, eventId, payload)
  // AbortSignal.any would leave a trace on the transport's signal, which lives as long as the process.
  const ended = new AbortController()
  const abort = () => ended.abort(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  let timer: NodeJS.Timeout | undefined
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`The handler ${handler.name} did not finish within ${timeout} ms.`)
      ended.abort(error)
      reject(error)
    }, timeout)
  })
  try {
    await Promise.race([invoke(handler, event, ended.signal), timedOut])
    context.announce('handled', { type, eventId, handler: handler.name })
  } catch (error) {
    context.announce('failed', { type, eventId, handler: handler.name, error })
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/** Events that were stored before the handler's event was changed. */
function otherType({ name, event }: EventHandler, type: string): string {
  return `The handler ${name} handles ${event.type}, and this event is ${type}.`
}

/** Turns a synchronous throw into a rejection. */
async function invoke(handler: EventHandler, event: DomainEvent, signal: AbortSignal): Promise<void> {
  await handler.handle(event, signal)
}

function revive(context: TransportContext, type: string, eventId: string, payload: unknown) {
  try {
    return context.revive(type, eventId, payload)
  } catch (cause) {
    throw new UndeliverableError(describeFailure(cause), { cause })
  }
}
