/** Fetches and handles the jobs of the handlers that this process has. */
import { describeFailure, logFailure } from '../../internal/failures.ts'
import { within } from '../../internal/postgres.ts'
import { attempt, isUndeliverable, type RetryOptions } from '../attempt.ts'
import type { EventHandler } from '../discover-handlers.ts'
import { createRunning } from '../running.ts'
import type { TransportContext } from '../transport.ts'
import type { Boss, Job } from './boss.ts'
import { deadQueue, queueOf } from './queues.ts'

export interface WorkerOptions extends Required<RetryOptions> {
  readonly concurrency: number
  readonly pollInterval: number
  readonly closeTimeout: number
}

export interface Worker {
  start(): void
  /** Looks for jobs now. */
  wake(): void
  /** Waits for running handlers; for the database at most twice `databaseTimeout` milliseconds. */
  close(databaseTimeout: number): Promise<void>
}

export function createWorker(
  boss: Boss,
  handlers: ReadonlyMap<string, EventHandler>,
  context: TransportContext,
  options: WorkerOptions,
): Worker {
  const running = createRunning()
  let state: 'new' | 'started' | 'closing' | 'closed' = 'new'
  let poll: NodeJS.Timeout | undefined
  let fetching: Promise<void> | undefined
  let again = false
  const done = new Map<string, readonly string[]>()

  function wake(): void {
    if (state !== 'started') return
    again = true
    fetching ??= fetchAll().finally(() => (fetching = undefined))
  }

  async function fetchAll(): Promise<void> {
    while (again) {
      again = false
      for (const handler of handlers.values()) await fetchFor(handler)
    }
  }

  const isClosed = (): boolean => state === 'closed'

  async function recordDone(): Promise<void> {
    for (const handler of handlers.values()) await fetchFor(handler) // nothing is fetched when closed
  }

  async function fetchFor(handler: EventHandler): Promise<void> {
    const queue = queueOf(handler.name)
    try {
      await completeDone(queue)
      const free = options.concurrency - running.size
      if (free <= 0 || state !== 'started') return
      const jobs = await boss.fetch(queue, { batchSize: free, includeMetadata: true })
      if (isClosed()) return // the answer came too late; they expire and are delivered again
      for (const job of jobs) running.track(deliver(handler, queue, job))
    } catch (err) {
      // The database is away: what is done is recorded later, or expires and is delivered again.
      context.log.error({ err, handler: handler.name }, 'event queue cannot be used')
    }
  }

  /** Records finished jobs together: one round trip however many. */
  async function completeDone(queue: string): Promise<void> {
    const ids = done.get(queue) ?? []
    if (ids.length === 0) return
    done.delete(queue)
    try {
      await boss.complete(queue, ids)
    } catch (error) {
      done.set(queue, [...ids, ...(done.get(queue) ?? [])])
      throw error
    }
  }

  async function deliver(handler: EventHandler, queue: string, job: Job): Promise<void> {
    const failure = await run(handler, job)
    try {
      if (!failure || (await isBuried(handler, queue, job, failure.error))) {
        done.set(queue, [...(done.get(queue) ?? []), job.id])
      }
    } catch (err) {
      context.log.error(
        { err, handler: handler.name, eventId: job.data.eventId },
        'event queue cannot be used',
      )
    }
    wake()
  }

  /** The failure of one attempt, or undefined. */
  async function run(handler: EventHandler, { data }: Job): Promise<{ readonly error: unknown } | undefined> {
    try {
      await attempt(context, handler, data, running.signal, options.attemptTimeout)
      return undefined
    } catch (error) {
      return { error }
    }
  }

  /** Reports a failure to the queue; true when the job is done with, because no further attempt can help. */
  async function isBuried(handler: EventHandler, queue: string, job: Job, err: unknown): Promise<boolean> {
    const { eventId, type } = job.data
    const record = { err, handler: handler.name, event: type, eventId, attempts: job.retryCount + 1 }
    const undeliverable = isUndeliverable(err)
    if (undeliverable || job.retryCount >= job.retryLimit) {
      context.announce('deadLettered', { type, eventId, handler: handler.name, error: err })
      logFailure(context.log, 'error', record, 'event is dead-lettered')
    } else {
      logFailure(context.log, 'warn', record, 'event handler failed, will be tried again')
    }
    // Sent before the job is completed: a crash between the two repeats, it does not lose.
    if (undeliverable) await boss.send(deadQueue, { ...job.data, error: describeFailure(err) }, {})
    else await boss.fail(queue, job.id, { message: describeFailure(err) })
    return undeliverable
  }

  return {
    wake,
    start() {
      state = 'started'
      poll = setInterval(wake, options.pollInterval)
      poll.unref()
      wake()
    },
    async close(databaseTimeout) {
      state = 'closing'
      clearInterval(poll)
      if (fetching) await within(databaseTimeout, fetching)
      state = 'closed'
      await running.close(options.closeTimeout)
      await within(databaseTimeout, recordDone())
    },
  }
}
