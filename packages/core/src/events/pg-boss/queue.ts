/**
 * The queue in PostgreSQL: one pg-boss queue for each handler, and another one for dead letters. pg-boss makes the tables
 * and their partitions. The statements are our own: pg-boss's fetch sorts everything that waits and keeps what is done
 * (160 events/s where 100,000 wait; ours 16,000/s, bench/events.mjs), and its `publish` takes part in no transaction.
 */
import { listen } from '../../internal/listener.ts'
import type { Exchange, FinishedJob, Job, Queue, StoredEvent } from '../durable/queue.ts'
import type { DeadLetter, Subscription, RemovedHandler, Tx } from '../transport.ts'
import {
  Cluster,
  type ClusterParts,
  handlerOf,
  hasLostLease,
  isAlive,
  isOwn,
  owner,
  queueOf,
} from './cluster.ts'
import { addTables, type Boss, exclusively, requireTables } from './database.ts'

const deadLetterQueue = 'events.dead-letters'

/** What is stored waits as long as it takes, where pg-boss would drop it after two weeks. */
const retention = `interval '10 years'`

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Jobs that one statement of `unsubscribe` deletes. */
const portion = 10_000

export interface PgJob extends Job {
  readonly id: string
}

/** What the queue works with. */
interface PgBossQueueParts extends ClusterParts {
  readonly boss: Boss
  /** Of the connection that listens, in milliseconds: between two tests, and how long an answer may take. */
  readonly listening: { readonly probe: number; readonly answer: number }
  /** Ends the connections, as far as they are the transport's own. */
  readonly close: () => Promise<void>
}

export class PgBossQueue implements Queue<PgJob> {
  readonly #parts: PgBossQueueParts
  readonly #cluster: Cluster
  readonly #job: string
  #stopListening: (() => unknown) | undefined

  constructor(parts: PgBossQueueParts) {
    this.#parts = parts
    this.#job = `${parts.schema}.job`
    this.#cluster = new Cluster(parts)
  }

  /**
   * Creates the tables where they are missing.
   * @throws {FMOD_CORE_QUEUE_MISSING} they are, and this process does not migrate
   */
  async prepare(): Promise<void> {
    const { boss, pool, schema, context } = this.#parts
    if (!context.migrates) return requireTables(pool, schema)
    await exclusively(pool, schema, async () => {
      await boss.start()
      await boss.createQueue(deadLetterQueue)
      await addTables(pool, schema, context.log)
    })
  }

  /** One exclusive section for all: pg-boss makes a table per queue, and two instances doing so at once run into a deadlock. */
  async subscribe(handlers: readonly Subscription[]): Promise<void> {
    const { pool, schema } = this.#parts
    await exclusively(pool, schema, () => this.#subscribe(handlers))
    for (const { handler, isExpected } of handlers) if (!isExpected) this.#cluster.join(queueOf(handler))
  }

  async #subscribe(handlers: readonly Subscription[]): Promise<void> {
    const { boss, pool, schema } = this.#parts
    const queues = handlers.map(({ handler }) => queueOf(handler))
    const missing = await pool.query(
      `SELECT name FROM unnest($1::text[]) AS name WHERE NOT EXISTS (SELECT FROM ${schema}.queue q WHERE q.name = name.name)`,
      [queues],
    )
    for (const { name } of missing.rows as { name: string }[]) await boss.createQueue(name)
    await pool.query(
      `WITH given AS (
        SELECT name, event FROM unnest($1::text[], $2::text[], $3::boolean[]) AS g (name, event, is_expected)
        WHERE NOT (is_expected AND EXISTS (SELECT FROM ${schema}.subscription s WHERE s.name = g.name))),
      added AS (
        INSERT INTO ${schema}.subscription (event, name) SELECT event, name FROM given ON CONFLICT DO NOTHING)
      DELETE FROM ${schema}.subscription s USING given g WHERE s.name = g.name AND s.event <> g.event`,
      [queues, handlers.map(({ type }) => type), handlers.map(({ isExpected = false }) => isExpected)],
    )
  }

  /**
   * Sends an event to each subscribed queue, in the caller's transaction or in one of its own, and notifies an instance
   * for each at the commit, or after it.
   */
  async publish(event: StoredEvent, tx: Tx | undefined): Promise<boolean> {
    const { channel, instance } = this.#cluster
    const executor = tx?.kind === 'async' ? tx : this.#parts.pool
    if (tx?.kind === 'async' && tx.afterCommit) {
      const { rows } = await executor.query(this.#insert, contentOf(event))
      const queues = (rows as { name: string }[]).map(({ name }) => name)
      tx.afterCommit(() => this.#cluster.announce(queues))
      return queues.length > 0
    }
    // NOTIFY makes commits of the whole database wait for each other: what this instance may do itself goes without.
    const { rows } = await executor.query(
      `WITH sent AS (${this.#insert})
      SELECT name AS queue, CASE WHEN addressee IS DISTINCT FROM $5
        THEN pg_notify($4, addressee || ' 0 ' || name)::text END AS notified
      FROM (SELECT name, coalesce($3::jsonb ->> name, '*') AS addressee FROM sent) AS picked`,
      [...contentOf(event), this.#cluster.addressees(), channel, tx ? null : instance],
    )
    const sent = rows as { queue: string; notified: string | null }[]
    this.#parts.context.wake(
      sent.filter(({ notified }) => notified === null).map(({ queue }) => handlerOf(queue)),
    )
    return sent.length > 0
  }

  get #insert(): string {
    return `
      INSERT INTO ${this.#job} (name, data, start_after, keep_until)
      SELECT s.name, $2::jsonb, clock_timestamp(), now() + ${retention}
      FROM ${this.#parts.schema}.subscription s WHERE s.event = $1 RETURNING name`
  }

  /** Deletes what is handled, and fetches due jobs in the order in which they fell due: one statement. */
  async exchange({ handler, finished, limit }: Exchange<PgJob>): Promise<readonly PgJob[]> {
    const failed = finished.filter(({ outcome }) => outcome.kind !== 'handled')
    if (failed.length > 0) await this.#recordFailures(handler, failed)
    const handled = finished.filter(({ outcome }) => outcome.kind === 'handled').map(({ job }) => job.id)
    const { rows } = await this.#parts.pool.query(
      `WITH done AS (DELETE FROM ${this.#job} WHERE name = $1 AND id = ANY($2::uuid[])),
      next AS (
        SELECT id FROM ${this.#job}
        WHERE name = $1 AND state < 'active' AND start_after < now() AND id <> ALL($2::uuid[])
        ORDER BY start_after, id LIMIT $4 FOR UPDATE SKIP LOCKED),
      taken AS (
        UPDATE ${this.#job} j SET state = 'active', started_on = now(), ${owner} = $3,
          retry_count = CASE WHEN started_on IS NULL THEN retry_count ELSE retry_count + 1 END
        FROM next WHERE j.name = $1 AND j.id = next.id
        RETURNING j.id, j.data, j.retry_count, j.start_after)
      SELECT id, ${identity}, coalesce(data ->> 'payload', '') AS payload, data ->> 'traceparent' AS traceparent,
        retry_count AS failures FROM taken ORDER BY start_after, id`,
      [queueOf(handler), handled, this.#cluster.instance, limit],
    )
    return rows as PgJob[]
  }

  /** The job waits for the next attempt, or becomes a dead letter. */
  async #recordFailures(handler: string, failed: readonly FinishedJob<PgJob>[]): Promise<void> {
    await this.#parts.pool.query(
      `WITH failed AS (
        SELECT * FROM unnest($2::uuid[], $3::text[], $4::integer[], $5::float8[]) AS f (id, error, attempts, delay)),
      retried AS (
        UPDATE ${this.#job} j SET state = 'retry', start_after = now() + delay * interval '1 ms', ${owner} = NULL
        FROM failed f WHERE delay IS NOT NULL AND j.name = $1 AND j.id = f.id AND ${isOwn('$6')}),
      buried AS (
        DELETE FROM ${this.#job} j USING failed f
        WHERE delay IS NULL AND j.name = $1 AND j.id = f.id AND ${isOwn('$6')}
        RETURNING jsonb_build_object('eventId', data ->> 'eventId', 'type', data ->> 'type',
          'payload', data ->> 'payload', 'traceparent', data ->> 'traceparent',
          'queue', name, 'error', error, 'attempts', attempts) AS data)
      INSERT INTO ${this.#job} (name, data, keep_until) SELECT $7, data, now() + ${retention} FROM buried`,
      [
        queueOf(handler),
        failed.map(({ job: { id } }) => id),
        failed.map(({ outcome }) => ('error' in outcome ? outcome.error.replaceAll('\0', '') : '')),
        failed.map(({ job: { failures } }) => failures + 1),
        failed.map(({ outcome }) => (outcome.kind === 'retry' ? outcome.delay : null)),
        this.#cluster.instance,
        deadLetterQueue,
      ],
    )
  }

  async beat(held: readonly PgJob[]): Promise<readonly string[]> {
    const { lost, due } = await this.#cluster.beat(held.map(({ id }) => id))
    if (lost.length > 0)
      this.#parts.context.log.warn({ queues: lost }, 'events of a process that is gone are handed on')
    this.#stopListening ??= this.#listen()
    return [...due].map(handlerOf)
  }

  /** From the first beat on: before that, the boot needs the connections. */
  #listen(): () => unknown {
    const { pool, listening, context } = this.#parts
    return listen({
      ...listening,
      channels: [this.#cluster.channel],
      connect: () => pool.connect(),
      disconnect: (connection) => connection.release(true),
      onListening: () => void context.look(),
      onNotice: (notice) => void (notice === '' ? context.look() : this.#cluster.receive(notice)),
      onLost: (err) => this.#cluster.reportLoss(err),
    })
  }

  stop(): void {
    this.#stopListening?.()
    this.#stopListening = () => {} // a beat that is under way does not begin again
  }

  release(held: readonly PgJob[]): Promise<void> {
    return this.#cluster.leave(held.map(({ id }) => id))
  }

  close(): Promise<void> {
    return this.#parts.close()
  }

  async listRemoved(own: readonly string[]): Promise<readonly RemovedHandler[]> {
    const { pool, schema, lease } = this.#parts
    const { rows } = await pool.query(
      `SELECT name, waiting, is_running FROM (
        SELECT q.name, EXISTS (SELECT FROM ${schema}.subscription s WHERE s.name = q.name) AS is_subscribed,
          EXISTS (SELECT FROM ${schema}.fmod_worker w WHERE q.name = ANY(w.queues) AND ${isAlive('$2')}) AS is_running, (
          SELECT count(*)::integer FROM ${this.#job} j WHERE j.name = q.name AND ${isWaiting}) AS waiting
        FROM ${schema}.queue q WHERE q.name LIKE 'events.%' AND q.name <> ALL($1)) AS found
      WHERE is_subscribed OR waiting > 0 ORDER BY name`,
      [[deadLetterQueue, ...own.map(queueOf)], lease],
    )
    const removed = rows as { name: string; waiting: number; is_running: boolean }[]
    return removed.map(({ name, waiting, is_running: isRunning }) => ({
      handler: handlerOf(name),
      waiting,
      ...(isRunning && { isRunning }),
    }))
  }

  async unsubscribe(handler: string): Promise<void> {
    const { pool, schema, lease } = this.#parts
    const queue = queueOf(handler)
    await pool.query(`DELETE FROM ${schema}.subscription WHERE name = $1`, [queue])
    const remove = `
      DELETE FROM ${this.#job} WHERE name = $1 AND id IN (
        SELECT id FROM ${this.#job} WHERE name = $1 AND ${isWaiting} LIMIT ${portion} FOR UPDATE SKIP LOCKED)
      RETURNING id`
    while ((await pool.query(remove, [queue, lease])).rows.length === portion);
  }

  /** Oldest first, by the index of due jobs: a dead letter falls due when it is buried. */
  async listDead(limit: number): Promise<readonly DeadLetter[]> {
    const { rows } = await this.#parts.pool.query(
      `SELECT id, ${identity}, coalesce(data ->> 'queue', '') AS queue, coalesce(data ->> 'error', '') AS error,
         coalesce((data ->> 'attempts')::integer, 0) AS attempts,
         (extract(epoch FROM start_after) * 1000)::float8 AS "failedAt"
       FROM ${this.#job} WHERE name = $1 AND state < 'active' ORDER BY start_after, id LIMIT $2`,
      [deadLetterQueue, limit],
    )
    const dead = rows as (Omit<DeadLetter, 'handler'> & { readonly queue: string })[]
    return dead.map(({ queue, ...letter }) => ({ ...letter, handler: handlerOf(queue) }))
  }

  async replay(id: string): Promise<boolean> {
    if (!uuid.test(id)) return false
    const { pool, schema } = this.#parts
    const { rows } = await pool.query(
      `WITH dead AS (
        SELECT id, data FROM ${this.#job} WHERE name = $1 AND id = $2 AND state < 'active' FOR UPDATE),
      sent AS (
        INSERT INTO ${this.#job} (name, data, start_after, keep_until)
        SELECT s.name, data - 'queue' - 'error' - 'attempts', clock_timestamp(), now() + ${retention}
        FROM dead JOIN ${schema}.subscription s ON s.name = data ->> 'queue' RETURNING name),
      gone AS (DELETE FROM ${this.#job} WHERE name = $1 AND id = $2 AND EXISTS (SELECT FROM sent))
      SELECT pg_notify($3, '* 0 ' || name) FROM sent`,
      [deadLetterQueue, id, this.#cluster.channel],
    )
    return rows.length > 0
  }

  async discard(id: string): Promise<boolean> {
    if (!uuid.test(id)) return false
    const remove = `DELETE FROM ${this.#job} WHERE name = $1 AND id = $2 AND state < 'active' RETURNING id`
    return (await this.#parts.pool.query(remove, [deadLetterQueue, id])).rows.length > 0
  }
}

/** The first two parameters of the statements that send an event. The payload is a text in it: `jsonb` has neither NUL nor lone surrogates. */
function contentOf({ eventId, type, payload, traceparent }: StoredEvent): unknown[] {
  return [type, { eventId, type, payload, ...(traceparent !== null && { traceparent }) }]
}

/** A job that no publisher wrote may have neither. */
const identity = `coalesce(data ->> 'eventId', '') AS "eventId", coalesce(data ->> 'type', '') AS type`

/** A job of a handler that no instance has any more. This includes what its last instance held when it was killed. */
const isWaiting = `(state < 'active' OR ${hasLostLease('$2')})`
