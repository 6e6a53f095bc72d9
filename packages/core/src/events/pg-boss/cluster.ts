/**
 * The instances that share the queue: each shows every few seconds that it lives, renews the leases of what it handles,
 * and hands on what a dead one has held. A notification is for one of those alive, so that an event costs the others
 * nothing.
 */
import { randomBytes } from 'node:crypto'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { logFailure } from '../../internal/failures.ts'
import type { QueueContext } from '../durable/queue.ts'
import type { PgPool } from './database.ts'

const prefix = 'events.'

/** The queue of a handler. Without spaces: a notification is made of words. */
export const queueOf = (handler: string): string => prefix + encodeURIComponent(handler)

export const handlerOf = (queue: string): string => decodeURIComponent(queue.slice(prefix.length))

/** Stands for every instance that has the queue. */
const everyone = '*'

/** How often a notification is passed on by instances whose slots are full: each fetches again as soon as one is free. */
const maxHops = 2

/** Milliseconds between two statements that notify: transactions that do so commit one at a time, in the whole database. */
const noticeInterval = 20

export interface ClusterParts {
  readonly pool: PgPool
  readonly schema: string
  /** How long a job belongs to an instance that does not renew it, in milliseconds. */
  readonly lease: number
  readonly context: QueueContext
}

interface BeatRow {
  readonly others:
    | readonly { readonly queues: readonly string[]; readonly instances: readonly string[] }[]
    | null
  readonly lost: readonly string[]
  readonly due: readonly string[]
}

export class Cluster {
  /** Owns the jobs that it fetches. */
  readonly instance: string = randomBytes(9).toString('base64url')
  readonly #parts: ClusterParts
  readonly #queues = new Set<string>()
  /** The other instances that have a queue. */
  #others: ReadonlyMap<string, readonly string[]> = new Map()
  readonly #notices = new Set<string>()
  #notifying: Promise<void> | undefined

  constructor(parts: ClusterParts) {
    this.#parts = parts
  }

  /** The channel of notifications. */
  get channel(): string {
    return `${this.#parts.schema}_events`
  }

  /** This instance handles the events of a queue. */
  join(queue: string): void {
    this.#queues.add(queue)
  }

  /** An instance for each queue, as a notification names it; a queue without one is for everyone. */
  addressees(): Readonly<Record<string, string>> {
    const queues = new Set([...this.#queues, ...this.#others.keys()])
    return Object.fromEntries([...queues].map((queue) => [queue, this.#addresseeOf(queue)]))
  }

  /** This instance only where it has free slots, or is alone: then it fetches again as soon as one is free. */
  #addresseeOf(queue: string): string {
    const others = this.#others.get(queue) ?? []
    if (!this.#queues.has(queue)) return anyOf(others) ?? everyone
    const candidates = this.#isFree(queue) ? [...others, this.instance] : others
    return anyOf(candidates) ?? this.instance
  }

  /** Has what was committed to these queues delivered, here or by instances that are notified. */
  announce(queues: readonly string[]): void {
    for (const queue of queues) {
      const addressee = this.#addresseeOf(queue)
      if (addressee === this.instance) this.#wake(queue)
      else this.#notices.add(`${addressee} 0 ${queue}`)
    }
    if (this.#notices.size > 0) this.#notifying ??= this.#notify()
  }

  /** The first ones at once, then those that have come meanwhile. Never rejects. */
  async #notify(): Promise<void> {
    while (this.#notices.size > 0) {
      await turn() // those of one bulk together
      const notices = [...this.#notices]
      this.#notices.clear()
      await this.#send(notices)
      await sleep(noticeInterval, undefined, { ref: false })
    }
    this.#notifying = undefined
  }

  /** Never rejects. */
  async #send(notices: readonly string[]): Promise<void> {
    const statement = 'SELECT pg_notify($1, notice) FROM unnest($2::text[]) AS notice'
    await this.#parts.pool.query(statement, [this.channel, notices]).catch((err) => this.reportLoss(err))
  }

  /** Of notices that were not sent, or of the connection that listens for them. */
  reportLoss(err: unknown): void {
    const { log } = this.#parts.context
    logFailure(log, 'warn', { err }, 'event notices are lost for now, polling goes on')
  }

  /** Whether this instance may begin another delivery of a queue. */
  #isFree(queue: string): boolean {
    return this.#parts.context.isFree(handlerOf(queue))
  }

  #wake(queue: string): void {
    this.#parts.context.wake([handlerOf(queue)])
  }

  /** Fetches what a notification announces, or lets an instance with free slots do so. */
  receive(notice: string): void {
    const [addressee, hops, queue] = notice.split(' ')
    if (queue === undefined || (addressee !== this.instance && addressee !== everyone)) return
    if (this.#isFree(queue)) return this.#wake(queue)
    const other = anyOf(this.#others.get(queue) ?? [])
    if (addressee === everyone || other === undefined || Number(hops) >= maxHops) return
    void this.#send([`${other} ${Number(hops) + 1} ${queue}`])
  }

  /**
   * One statement: this instance lives, its leases of `held` are renewed, jobs whose lease has ended wait again (their
   * attempt does not count), and the queues with events that are due are returned.
   */
  async beat(
    held: readonly string[],
  ): Promise<{ readonly lost: readonly string[]; readonly due: ReadonlySet<string> }> {
    const params = [this.instance, [...this.#queues], held, this.#parts.lease]
    const { rows } = await this.#parts.pool.query(this.#beatStatement, params)
    const [row] = rows as BeatRow[]
    const others = new Map<string, readonly string[]>()
    for (const { queues, instances } of row?.others ?? [])
      for (const queue of queues) others.set(queue, [...(others.get(queue) ?? []), ...instances])
    this.#others = others
    const lost = row?.lost ?? []
    return { lost, due: new Set([...lost, ...(row?.due ?? [])]) } // what was lost is due, but was not yet when the statement began
  }

  /** Leaves: others get what this instance still holds, at once and without counting the attempt. */
  async leave(held: readonly string[]): Promise<void> {
    const { pool, schema } = this.#parts
    await this.#notifying
    await pool.query(
      `WITH gone AS (DELETE FROM ${schema}.fmod_worker WHERE instance = $1),
      released AS (
        UPDATE ${schema}.job SET ${waitsAgain}
        WHERE name = ANY($2) AND id = ANY($3::uuid[]) AND ${isOwn('$1')} RETURNING name)
      SELECT pg_notify($4, '${everyone} 0 ' || name) FROM (SELECT DISTINCT name FROM released) AS queue`,
      [this.instance, [...this.#queues], held, this.channel],
    )
    this.#queues.clear()
  }

  /** Rows that another instance hands on at the same moment are skipped. */
  get #beatStatement(): string {
    const job = `${this.#parts.schema}.job`
    const worker = `${this.#parts.schema}.fmod_worker`
    return `
      WITH alive AS (
        INSERT INTO ${worker} (instance, queues, seen) VALUES ($1, $2, now())
        ON CONFLICT (instance) DO UPDATE SET queues = excluded.queues, seen = excluded.seen),
      kept AS (
        UPDATE ${job} SET started_on = now() WHERE name = ANY($2) AND id = ANY($3::uuid[]) AND ${isOwn('$1')}),
      expired AS (
        SELECT name, id FROM ${job}
        WHERE name = ANY($2) AND ${hasLostLease('$4')} AND id <> ALL($3::uuid[])
        FOR UPDATE SKIP LOCKED),
      lost AS (
        UPDATE ${job} j SET ${waitsAgain} FROM expired e WHERE j.name = e.name AND j.id = e.id RETURNING j.name)
      SELECT
        (SELECT json_agg(o) FROM (
          SELECT queues, array_agg(instance) AS instances FROM ${worker}
          WHERE ${isAlive('$4')} AND instance <> $1 GROUP BY queues) AS o) AS others,
        ARRAY(SELECT DISTINCT name FROM lost) AS lost,
        ARRAY(SELECT queue FROM unnest($2::text[]) AS queue WHERE now() > (
          SELECT start_after FROM ${job} w WHERE w.name = queue AND w.state < 'active'
          ORDER BY start_after LIMIT 1)) AS due`
  }
}

/** The column of a job that holds the instance that runs it; queues of pg-boss's standard policy leave it empty. */
export const owner = 'singleton_key'

/** A job that an instance runs. An instance that lost its lease can no longer change the job. */
export const isOwn = (instance: string): string => `state = 'active' AND ${owner} = ${instance}`

/** An instance that shows that it lives; the lease is in milliseconds. */
export const isAlive = (lease: string): string => `seen > now() - ${lease} * interval '1 ms'`

/** A job whose instance is gone; the lease is in milliseconds. */
export const hasLostLease = (lease: string): string =>
  `state = 'active' AND started_on < now() - ${lease} * interval '1 ms'`

/** A job waits again, as if it had not been fetched: without a start the next fetch counts no attempt. */
const waitsAgain = `state = 'retry', start_after = now(), started_on = NULL, ${owner} = NULL`

function anyOf(instances: readonly string[]): string | undefined {
  return instances[Math.floor(Math.random() * instances.length)]
}
