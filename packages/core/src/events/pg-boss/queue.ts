/** The queue in PostgreSQL: publishes events to one pg-boss queue for each handler, and keeps dead letters in another. */
import type { RetryOptions } from '../delivery.ts'
import { type DomainEvent, eventTypeOf } from '../event.ts'
import type { EventHandler } from '../handlers.ts'
import type { AsyncTx, DeadLetter } from '../transport.ts'
import { type Boss, inTransaction, type Job, type JobData, type PgPool, withinTx } from './database.ts'

const deadLetterQueue = 'events.dead-letters'

/**
 * Jobs wait for their handler as long as it takes: ten years, where pg-boss would drop them after two weeks. Version 10
 * reads the minutes, version 12 the seconds.
 */
const retention = { retentionMinutes: 5_256_000, retentionSeconds: 315_360_000 }

/** A dead letter as its job is stored: with the error of `bury`, or the output that `fail` left. */
interface DeadJob {
  readonly id: string
  readonly data: JobData & { readonly error?: string }
  readonly output: { message?: string; value?: { message?: string } } | null
  readonly attempts: number
  readonly at: string
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What the queue works with. */
export interface QueueParts {
  readonly boss: Boss
  readonly pool: PgPool
  readonly schema: string
  readonly handlers: ReadonlyMap<string, EventHandler>
}

export class Queue {
  readonly #boss: Boss
  readonly #pool: PgPool
  readonly #schema: string
  readonly #handlers: ReadonlyMap<string, EventHandler>

  constructor({ boss, pool, schema, handlers }: QueueParts) {
    this.#boss = boss
    this.#pool = pool
    this.#schema = schema
    this.#handlers = handlers
  }

  async createDeadLetterQueue(): Promise<void> {
    await this.#boss.createQueue(deadLetterQueue, { retryLimit: 0, ...retention })
  }

  /** Creates a handler's queue, or brings it up to date, and subscribes it to its event. */
  async subscribe(handler: EventHandler, options: Required<RetryOptions>): Promise<void> {
    const queue = queueOf(handler)
    const settings = {
      retryLimit: options.maxAttempts - 1,
      retryDelay: Math.max(1, Math.ceil(options.retryDelay / 1000)),
      retryBackoff: true, // exponential with jitter, made by pg-boss; `backoff` of delivery.ts is the outbox's
      // An attempt times out here before its job expires and another worker gets it.
      expireInSeconds: Math.ceil(options.attemptTimeout / 1000) + 1,
      deadLetter: deadLetterQueue,
      ...retention,
    }
    await this.#boss.createQueue(queue, settings)
    await this.#boss.updateQueue(queue, settings)
    await this.#boss.subscribe(handler.event.type, queue)
  }

  /** Sends an event to each subscribed queue, in the caller's transaction or in one of its own. */
  async publish(event: DomainEvent, tx?: AsyncTx): Promise<void> {
    if (tx) return this.#send(event, tx)
    return inTransaction(this.#pool, (own) => this.#send(event, own))
  }

  async #send(event: DomainEvent, tx: AsyncTx): Promise<void> {
    const type = eventTypeOf(event)
    // The notice is delivered at commit: all instances look at once, not at their next poll.
    const { rows } = await tx.query(
      `SELECT name, pg_notify($2, '') FROM ${this.#schema}.subscription WHERE event = $1 ORDER BY name`,
      [type, channelOf(this.#schema)],
    )
    for (const { name } of rows as { name: string }[]) {
      const data: JobData = { eventId: event.eventId, type, handler: name, payload: { ...event } }
      await this.#boss.send(name, data, withinTx(tx))
    }
  }

  fetch(handler: EventHandler, limit: number): Promise<readonly Job[]> {
    return this.#boss.fetch(queueOf(handler), { batchSize: limit, includeMetadata: true })
  }

  async complete(handler: EventHandler, ids: readonly string[]): Promise<void> {
    await this.#boss.complete(queueOf(handler), ids)
  }

  /** Reports a failed attempt: pg-boss retries the job, or moves it to the dead letters after the last one. */
  async fail(handler: EventHandler, job: Job, error: string): Promise<void> {
    await this.#boss.fail(queueOf(handler), job.id, { message: error })
  }

  /** Copies a job to the dead letters, whatever attempts it has left; the caller completes it. */
  async bury(job: Job, error: string): Promise<void> {
    await this.#boss.send(deadLetterQueue, { ...job.data, error }, {})
  }

  /** How many events wait for handlers that this process does not have, and those handlers. */
  async findStranded(): Promise<{ readonly count: number; readonly handlers: readonly string[] }> {
    const known = [deadLetterQueue, ...[...this.#handlers.values()].map(queueOf)]
    const { rows } = await this.#pool.query(
      `SELECT name, count(*)::integer AS count FROM ${this.#schema}.job
       WHERE name LIKE 'events.%' AND name <> ALL($1) AND state < 'active' GROUP BY name ORDER BY name`,
      [known],
    )
    const stranded = rows as { name: string; count: number }[]
    return {
      count: stranded.reduce((sum, { count }) => sum + count, 0),
      handlers: stranded.map(({ name }) => this.#handlerOf(name)),
    }
  }

  /** The dead letters, oldest first. */
  async listDead(limit: number): Promise<readonly DeadLetter[]> {
    const { rows } = await this.#pool.query(`${this.#selectDead} ORDER BY created_on, id LIMIT $2`, [
      deadLetterQueue,
      limit,
    ])
    return (rows as DeadJob[]).map(({ id, data, output, attempts, at }) => ({
      id,
      eventId: data.eventId,
      type: data.type,
      handler: this.#handlerOf(data.handler),
      attempts,
      error: data.error ?? output?.message ?? output?.value?.message ?? 'unknown failure',
      failedAt: Number(at),
    }))
  }

  /** Sends a dead letter to its handler again; false if there is no such dead letter. */
  replay(id: string): Promise<boolean> {
    return this.#removeDead(id, async ({ data }, tx) => {
      await this.#boss.send(data.handler, data, withinTx(tx))
    })
  }

  /** Deletes a dead letter; false if there is no such dead letter. */
  discard(id: string): Promise<boolean> {
    return this.#removeDead(id, async () => {})
  }

  async #removeDead(id: string, use: (job: DeadJob, tx: AsyncTx) => Promise<void>): Promise<boolean> {
    if (!uuid.test(id)) return false
    return inTransaction(this.#pool, async (tx) => {
      const { rows } = await tx.query(`${this.#selectDead} AND id = $2 FOR UPDATE`, [deadLetterQueue, id])
      const job = (rows as DeadJob[])[0]
      if (!job) return false
      await use(job, tx)
      await this.#boss.deleteJob(deadLetterQueue, id, withinTx(tx))
      return true
    })
  }

  get #selectDead(): string {
    return `
      SELECT id, data, output, retry_limit + 1 AS attempts, extract(epoch FROM created_on) * 1000 AS at
      FROM ${this.#schema}.job WHERE name = $1 AND state < 'completed'`
  }

  /** A queue's name does not show what was encoded: a handler that this process does not have is named like its queue. */
  #handlerOf(queue: string): string {
    const known = [...this.#handlers.values()].find((handler) => queueOf(handler) === queue)
    return known?.name ?? queue.slice('events.'.length)
  }
}

/** The queue of a handler; pg-boss allows letters, digits, `_`, `-`, `.` and `/`. */
function queueOf({ name }: EventHandler): string {
  return `events.${name.replace(/[^\w.-]/g, (char) => `_${char.charCodeAt(0).toString(16)}`)}`
}

/** The channel on which commits are announced. */
export function channelOf(schema: string): string {
  return `${schema}_events`
}
