/** Delivers due events of the outbox to the handlers of this process. */
import { describeFailure, logFailure } from '../../internal/failures.ts'
import { attempt, backOff, isUndeliverable, type RetryOptions } from '../attempt.ts'
import type { EventHandler } from '../discover-handlers.ts'
import { createRunning } from '../running.ts'
import type { TransportContext } from '../transport.ts'
import type { Delivery, FileLock, SqliteDatabase } from './database.ts'
import type { Deliveries, Finished, Outcome } from './deliveries.ts'

export interface DispatchOptions extends Required<RetryOptions> {
  readonly concurrency: number
  readonly lease: number
  readonly pollInterval: number
  readonly closeTimeout: number
}

export interface Dispatcher {
  start(): void
  /** Looks for due deliveries as soon as the running code, and with it its transaction, has ended. */
  wake(): void
  close(): Promise<void>
}

export function createDispatcher(
  database: SqliteDatabase,
  lock: FileLock,
  deliveries: Deliveries,
  handlers: ReadonlyMap<string, EventHandler>,
  context: TransportContext,
  options: DispatchOptions,
): Dispatcher {
  const running = createRunning()
  let state: 'new' | 'started' | 'closed' = 'new'
  let immediate: NodeJS.Immediate | undefined
  let poll: NodeJS.Timeout | undefined
  let due: number | undefined
  const finished: Finished[] = []
  let postponed = false
  let failing = false
  let seenVersion: unknown

  function wake(): void {
    if (state === 'started' && !immediate) immediate = setImmediate(dispatch)
  }

  function dispatch(): void {
    immediate = undefined
    if (state !== 'started') return
    exchange(options.concurrency - running.size)
  }

  /** What cannot be recorded now is kept for the next time; if the process dies first, it is delivered again. */
  function exchange(free: number): void {
    if (finished.length === 0 && free <= 0) return
    // Somebody holds a transaction open on this connection across awaits: what it wrote may yet be rolled back.
    postponed = true
    if (database.inTransaction) return
    guard(() => {
      const names = [...handlers.keys()]
      const claimed = lock.write(() => deliveries.exchange(finished, names, free, options.lease))
      finished.length = 0
      for (const delivery of claimed) running.track(deliver(delivery))
      due = lock.read(() => deliveries.nextDue(names))
      postponed = false
      failing = false
    })
  }

  async function deliver(delivery: Delivery): Promise<void> {
    const handler = handlers.get(delivery.handler) as EventHandler // claimed by its name
    const heartbeat = setInterval(
      () => guard(() => lock.write(() => deliveries.keep(delivery, options.lease))),
      options.lease / 3,
    )
    heartbeat.unref()
    const outcome = await run(handler, delivery)
    clearInterval(heartbeat)
    finished.push([delivery, outcome])
    wake()
  }

  async function run(handler: EventHandler, delivery: Delivery): Promise<Outcome> {
    const { eventId, type, attempts } = delivery
    const record = { handler: handler.name, event: type, eventId, attempts }
    // An attempt that took the process down never reported: it is counted when the next one begins.
    if (attempts > options.maxAttempts) return giveUp(record, new Error('The last attempt did not end.'))
    try {
      const payload: unknown = JSON.parse(delivery.payload)
      await attempt(context, handler, { eventId, type, payload }, running.signal, options.attemptTimeout)
      return { kind: 'done' }
    } catch (err) {
      if (isUndeliverable(err) || attempts >= options.maxAttempts) return giveUp(record, err)
      logFailure(context.log, 'warn', { err, ...record }, 'event handler failed, will be tried again')
      return { kind: 'retry', delay: backOff(attempts, options.retryDelay), error: describeFailure(err) }
    }
  }

  function giveUp(record: { handler: string; event: string; eventId: string }, err: unknown): Outcome {
    const { event: type, eventId, handler } = record
    context.announce('deadLettered', { type, eventId, handler, error: err })
    logFailure(context.log, 'error', { err, ...record }, 'event is dead-lettered')
    return { kind: 'dead', error: describeFailure(err) }
  }

  function warnOfStranded(): void {
    guard(() => {
      const count = lock.read(() => deliveries.countStranded([...handlers.keys()]))
      if (count > 0) context.log.warn({ count }, 'events wait for handlers that this process does not have')
    })
  }

  /** A database that is locked, full or closed is tried again at every poll, and told of once. */
  function guard(use: () => void): void {
    try {
      use()
    } catch (err) {
      if (!failing) logFailure(context.log, 'error', { err }, 'event outbox cannot be used')
      failing = true
    }
  }

  /** Other connections' commits show in data_version; own ones call `wake`. */
  function look(): void {
    guard(() => {
      const version = lock.read(() => database.pragma('data_version', { simple: true }))
      if (
        version !== seenVersion ||
        postponed ||
        finished.length > 0 ||
        (due !== undefined && due <= Date.now())
      )
        wake()
      seenVersion = version
    })
    poll?.refresh()
  }

  return {
    wake,
    start() {
      state = 'started'
      warnOfStranded()
      poll = setTimeout(look, options.pollInterval)
      poll.unref()
      wake()
    },
    async close() {
      state = 'closed'
      clearTimeout(poll)
      poll = undefined
      clearImmediate(immediate)
      await running.close(options.closeTimeout)
      lock.forget() // what is not recorded now is delivered again
      exchange(0)
    },
  }
}
