/**
 * The queue in PostgreSQL: one pg-boss queue for each handler, and another one for dead letters. pg-boss makes the tables;
 * the statements are our own, because its fetch sorts everything that waits and keeps what is done.
 */
import type { RetryOptions, SettledOutcome } from '../delivery.ts'
import { type DomainEvent, eventTypeOf } from '../event.ts'
import type { EventHandler } from '../handlers.ts'
import type { AsyncTx, DeadLetter, PublishOptions, RemovedHandler } from '../transport.ts'
import { type Cluster, hasLostLease, isOwn, owner } from './cluster.ts'
import type { Boss, PgPool } from './database.ts'

const deadLetterQueue = 'events.dead-letters'

/** Jobs wait for their handler as long as it takes: ten years, where pg-boss would drop them after two weeks. */
const retention = { retentionMinutes: 5_256_000 }

/** A fetched job. */
export interface Job {
  readonly id: string
  readonly eventId: string
  readonly type: string
  readonly payload: unknown
  readonly traceparent: string | null
  /** Attempts that failed. */
  readonly retryCount: number
}

/** An attempt and what became of it. */
export interface FinishedJob {
  readonly job: Job
  readonly outcome: SettledOutcome
  /** Milliseconds until the next attempt, if another one follows. */
  readonly retryDelay: number
}

/** A dead letter as its job is stored; that of an earlier release has the output that pg-boss left. */
interface DeadJob {
  readonly id: string
  readonly eventId: string
  readonly type: string
  readonly handler: string
  readonly error: string | null
  readonly output: { message?: string; value?: { message?: string } } | null
  readonly attempts: number
  readonly at: string
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Jobs that one statement of `unsubscribe` deletes. */
const portion = 10_000

/** What the queue works with. */
export interface QueueParts {
  readonly boss: Boss
  readonly pool: PgPool
  readonly schema: string
  readonly cluster: Cluster
  readonly handlers: ReadonlyMap<string, EventHandler>
}

export class Queue {
  readonly #boss: Boss
  readonly #pool: PgPool
  readonly #schema: string
  readonly #cluster: Cluster
  readonly #handlers: ReadonlyMap<string, EventHandler>

  constructor({ boss, pool, schema, cluster, handlers }: QueueParts) {
    this.#boss = boss
    this.#pool = pool
    this.#schema = schema
    this.#cluster = cluster
    this.#handlers = handlers
  }

  async createDeadLetterQueue(): Promise<void> {
    await this.#boss.createQueue(deadLetterQueue, { retryLimit: 0, ...retention })
  }

  /**
   * Creates a handler's queue, or brings it up to date, and subscribes it to its event. Returns the type of the event that
   * the handler had before, if it was another one.
   */
  async subscribe(handler: EventHandler, options: Required<RetryOptions>): Promise<string | undefined> {
    const queue = queueOf(handler)
    const { type } = handler.event
    const settings = {
      // Instances of an earlier release, which may run beside this one, go by the queue.
      retryLimit: options.maxAttempts - 1,
      retryDelay: Math.max(1, Math.ceil(options.retryDelay / 1000)),
      retryBackoff: true,
      expireInSeconds: Math.ceil(options.attemptTimeout / 1000) + 1,
      deadLetter: deadLetterQueue,
      ...retention,
    }
    await this.#boss.createQueue(queue, settings)
    await this.#boss.updateQueue(queue, settings)
    await this.#boss.subscribe(type, queue)
    const { rows } = await this.#pool.query(
      `DELETE FROM ${this.#schema}.subscription WHERE name = $1 AND event <> $2 RETURNING event`,
      [queue, type],
    )
    this.#cluster.join(queue)
    return (rows as { event: string }[])[0]?.event
  }

  /**
   * Sends an event to each subscribed queue, in the caller's transaction or in one of its own, and notifies an instance
   * for each at the commit. Returns the queues that this instance is to look at itself.
   */
  async publish(event: DomainEvent, { tx, traceparent }: PublishOptions): Promise<readonly string[]> {
    const { channel, instance } = this.#cluster
    const params = [
      ...contentOf(event, traceparent),
      this.#cluster.addressees(),
      channel,
      tx ? null : instance,
    ]
    // NOTIFY makes commits of the whole database wait for each other: what this instance may do itself goes without.
    const { rows } = await this.#executor(tx).query(
      `WITH sent AS (${this.#insert})
      SELECT name AS queue, CASE WHEN addressee IS DISTINCT FROM $5
        THEN pg_notify($4, addressee || ' 0 ' || name)::text END AS notified
      FROM (SELECT name, coalesce($3::jsonb ->> name, '*') AS addressee FROM sent) AS picked`,
      params,
    )
    return (rows as { queue: string; notified: string | null }[])
      .filter(({ notified }) => notified === null)
      .map(({ queue }) => queue)
  }

  /** Sends an event to each subscribed queue in the caller's transaction and notifies nobody. Returns the queues. */
  async enqueue(event: DomainEvent, { tx, traceparent }: PublishOptions): Promise<readonly string[]> {
    const { rows } = await this.#executor(tx).query(this.#insert, contentOf(event, traceparent))
    return (rows as { name: string }[]).map(({ name }) => name)
  }

  #executor(tx: PublishOptions['tx']): Pick<AsyncTx, 'query'> {
    return tx?.kind === 'async' ? tx : { query: (sql, params) => this.#pool.query(sql, [...params]) }
  }

  get #insert(): string {
    return `
      INSERT INTO ${this.#schema}.job (
        name, data, start_after, retry_limit, retry_delay, retry_backoff, expire_in, keep_until, dead_letter, policy)
      SELECT q.name, $2::jsonb || jsonb_build_object('handler', q.name), clock_timestamp(), ${fromQueue}
      FROM ${this.#schema}.subscription s JOIN ${this.#schema}.queue q ON q.name = s.name WHERE s.event = $1
      RETURNING name`
  }

  /** Deletes what is handled, and fetches up to `limit` jobs in the order in which they fell due: one statement. */
  async exchange(handler: EventHandler, handled: readonly string[], limit: number): Promise<readonly Job[]> {
    const job = `${this.#schema}.job`
    const { rows } = await this.#pool.query(
      `WITH done AS (DELETE FROM ${job} WHERE name = $1 AND id = ANY($2::uuid[])),
      next AS (
        SELECT id FROM ${job}
        WHERE name = $1 AND state < 'active' AND start_after < now() AND id <> ALL($2::uuid[])
        ORDER BY start_after, id LIMIT $4 FOR UPDATE SKIP LOCKED),
      taken AS (
        UPDATE ${job} j SET state = 'active', started_on = now(), ${owner} = $3,
          retry_count = CASE WHEN started_on IS NULL THEN retry_count ELSE retry_count + 1 END
        FROM next WHERE j.name = $1 AND j.id = next.id
        RETURNING j.id, j.data, j.retry_count, j.start_after)
      SELECT id, ${identity}, data -> 'payload' AS payload, data ->> 'traceparent' AS traceparent,
        retry_count AS "retryCount" FROM taken ORDER BY start_after, id`,
      [queueOf(handler), handled, this.#cluster.instance, limit],
    )
    return rows as Job[]
  }

  /** Records failed attempts: the job waits for the next one, or becomes a dead letter. */
  async recordFailures(handler: EventHandler, failed: readonly FinishedJob[]): Promise<void> {
    const job = `${this.#schema}.job`
    await this.#pool.query(
      `WITH failed AS (
        SELECT * FROM unnest($2::uuid[], $3::text[], $4::integer[], $5::float8[]) AS f (id, error, attempts, delay)),
      retried AS (
        UPDATE ${job} j SET state = 'retry', start_after = now() + delay * interval '1 ms', ${owner} = NULL
        FROM failed f WHERE delay IS NOT NULL AND j.name = $1 AND j.id = f.id AND ${isOwn('$6')}),
      buried AS (
        DELETE FROM ${job} j USING failed f WHERE delay IS NULL AND j.name = $1 AND j.id = f.id AND ${isOwn('$6')}
        RETURNING CASE jsonb_typeof(data) WHEN 'object' THEN data ELSE jsonb_build_object('payload', data) END
          || jsonb_build_object('handler', name, 'error', error, 'attempts', attempts) AS data)
      INSERT INTO ${job} (name, data, retry_limit, keep_until)
      SELECT q.name, data, 0, now() + q.retention_minutes * interval '1 minute'
      FROM buried, ${this.#schema}.queue q WHERE q.name = $7`,
      [
        queueOf(handler),
        failed.map(({ job: { id } }) => id),
        failed.map(({ outcome }) => ('error' in outcome ? outcome.error.replaceAll('\0', '') : '')),
        failed.map(({ job: { retryCount } }) => retryCount + 1),
        failed.map(({ outcome, retryDelay }) => (outcome.kind === 'retry' ? retryDelay : null)),
        this.#cluster.instance,
        deadLetterQueue,
      ],
    )
  }

  /** Handlers with a subscription, or with events that wait, that this process does not have. */
  async listRemoved(): Promise<readonly RemovedHandler[]> {
    const own = [deadLetterQueue, ...[...this.#handlers.values()].map(queueOf)]
    const { rows } = await this.#pool.query(
      `SELECT name, waiting FROM (
        SELECT q.name, EXISTS (SELECT FROM ${this.#schema}.subscription s WHERE s.name = q.name) AS is_subscribed, (
          SELECT count(*)::integer FROM ${this.#schema}.job j WHERE j.name = q.name AND ${isWaiting}) AS waiting
        FROM ${this.#schema}.queue q WHERE q.name LIKE 'events.%' AND q.name <> ALL($1)) AS found
      WHERE is_subscribed OR waiting > 0 ORDER BY name`,
      [own, this.#cluster.lease],
    )
    const removed = rows as { name: string; waiting: number }[]
    return removed.map(({ name, waiting }) => ({ handler: name.slice(prefix.length), waiting }))
  }

  /** Ends the subscription of a handler in `listRemoved`, and deletes what waits for it, in portions. */
  async unsubscribe(handler: string): Promise<boolean> {
    const removed = await this.listRemoved()
    if (!removed.some((one) => one.handler === handler)) return false
    const queue = prefix + handler
    await this.#pool.query(`DELETE FROM ${this.#schema}.subscription WHERE name = $1`, [queue])
    const job = `${this.#schema}.job`
    const remove = `
      DELETE FROM ${job} WHERE name = $1 AND id IN (
        SELECT id FROM ${job} WHERE name = $1 AND ${isWaiting} LIMIT ${portion} FOR UPDATE SKIP LOCKED)
      RETURNING id`
    while ((await this.#pool.query(remove, [queue, this.#cluster.lease])).rows.length === portion);
    return true
  }

  /** The dead letters, oldest first. */
  async listDead(limit: number): Promise<readonly DeadLetter[]> {
    const { rows } = await this.#pool.query(
      `SELECT id, ${identity}, coalesce(data ->> 'handler', '') AS handler, data ->> 'error' AS error, output,
         coalesce(data -> 'attempts', to_jsonb(retry_limit + 1)) AS attempts, extract(epoch FROM created_on) * 1000 AS at
       FROM ${this.#schema}.job WHERE name = $1 AND state < 'completed' ORDER BY created_on, id LIMIT $2`,
      [deadLetterQueue, limit],
    )
    return (rows as DeadJob[]).map(({ handler, error, output, at, ...letter }) => ({
      ...letter,
      handler: this.#handlerOf(handler),
      error: error ?? output?.message ?? output?.value?.message ?? 'unknown failure',
      failedAt: Number(at),
    }))
  }

  /** Sends a dead letter to its handler again; false if there is no such dead letter, or its queue was deleted. */
  async replay(id: string): Promise<boolean> {
    if (!uuid.test(id)) return false
    const job = `${this.#schema}.job`
    const { rows } = await this.#pool.query(
      `WITH dead AS (
        SELECT id, data FROM ${job} WHERE name = $1 AND id = $2 AND state < 'completed' FOR UPDATE),
      sent AS (
        INSERT INTO ${job} (
          name, data, start_after, retry_limit, retry_delay, retry_backoff, expire_in, keep_until, dead_letter, policy)
        SELECT q.name, data - 'error' - 'attempts', clock_timestamp(), ${fromQueue}
        FROM dead JOIN ${this.#schema}.queue q ON q.name = data ->> 'handler' RETURNING name),
      gone AS (DELETE FROM ${job} WHERE name = $1 AND id = $2 AND EXISTS (SELECT FROM sent))
      SELECT pg_notify($3, '* 0 ' || name) FROM sent`,
      [deadLetterQueue, id, this.#cluster.channel],
    )
    return rows.length > 0
  }

  /** Deletes a dead letter; false if there is no such dead letter. */
  async discard(id: string): Promise<boolean> {
    if (!uuid.test(id)) return false
    const { rows } = await this.#pool.query(
      `DELETE FROM ${this.#schema}.job WHERE name = $1 AND id = $2 AND state < 'completed' RETURNING id`,
      [deadLetterQueue, id],
    )
    return rows.length > 0
  }

  /** A queue's name does not show what was encoded: a handler that this process does not have is named like its queue. */
  #handlerOf(queue: string): string {
    const known = [...this.#handlers.values()].find((handler) => queueOf(handler) === queue)
    return known?.name ?? queue.slice(prefix.length)
  }
}

/** The first two parameters of the statements that send an event: its type and what its jobs hold. */
function contentOf(event: DomainEvent, traceparent: string | undefined): unknown[] {
  const type = eventTypeOf(event)
  return [type, { eventId: event.eventId, type, payload: { ...event }, ...(traceparent && { traceparent }) }]
}

const prefix = 'events.'

/** A job that no publisher wrote may have neither. */
const identity = `coalesce(data ->> 'eventId', '') AS "eventId", coalesce(data ->> 'type', '') AS type`

/** A job of a handler that no instance has any more. This includes what its last instance held when it was killed. */
const isWaiting = `(state < 'active' OR ${hasLostLease('$2')})`

/** What a job takes from its queue, as pg-boss's own `send` does. */
const fromQueue = `q.retry_limit, q.retry_delay, q.retry_backoff, q.expire_seconds * interval '1 s',
  now() + q.retention_minutes * interval '1 minute', q.dead_letter, q.policy`

/** The queue of a handler; pg-boss allows letters, digits, `_`, `-`, `.` and `/`. */
export function queueOf({ name }: EventHandler): string {
  return prefix + name.replace(/[^\w.-]/g, (char) => `_${char.charCodeAt(0).toString(16)}`)
}
