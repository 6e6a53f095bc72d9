/**
 * The instances that share the queue: each shows every few seconds that it lives, renews the leases of what it handles,
 * and hands on what a dead one has held. A notification is for one of those alive, so that an event costs the others
 * nothing.
 */
import { randomBytes } from 'node:crypto'
import type { PgPool } from './database.ts'

/** Stands for every instance that has the queue. */
const everyone = '*'

/** How often a notification is passed on by instances whose slots are full: each fetches again as soon as one is free. */
const maxHops = 2

/** That events wait in a queue. */
export interface Notice {
  readonly queue: string
  /** Whether this instance alone got it. */
  readonly isPersonal: boolean
  /** How often it was passed on. */
  readonly hops: number
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
  readonly #pool: PgPool
  readonly #schema: string
  /** How long a job belongs to an instance that does not renew it, in milliseconds. */
  readonly lease: number
  readonly #queues = new Set<string>()
  /** The instances that have a queue, this one included. */
  #instances: ReadonlyMap<string, readonly string[]> = new Map()

  constructor(pool: PgPool, schema: string, lease: number) {
    this.#pool = pool
    this.#schema = schema
    this.lease = lease
  }

  /** The channel of notifications. */
  get channel(): string {
    return `${this.#schema}_events`
  }

  /** This instance handles the events of a queue. */
  join(queue: string): void {
    this.#queues.add(queue)
  }

  /** An instance for each queue, as a notification names it; a queue without one is for everyone. */
  addressees(): Readonly<Record<string, string>> {
    const picked = [...this.#instances].map(([queue, instances]) => [queue, anyOf(instances)])
    return Object.fromEntries(picked) as Record<string, string>
  }

  /** The notification that events wait in a queue; undefined where this instance was picked to look. */
  noticeOf(queue: string): string | undefined {
    const instance = anyOf(this.#instances.get(queue) ?? []) ?? everyone
    return instance === this.instance ? undefined : `${instance} 0 ${queue}`
  }

  /** Sends notifications. */
  async notify(notices: readonly string[]): Promise<void> {
    const statement = 'SELECT pg_notify($1, notice) FROM unnest($2::text[]) AS notice'
    await this.#pool.query(statement, [this.channel, notices])
  }

  /** A notification for this instance; undefined if it is for another one, or has no name (an earlier release sent it). */
  read(payload: string): Notice | undefined {
    const [addressee, hops, queue] = payload.split(' ')
    if (queue === undefined || (addressee !== this.instance && addressee !== everyone)) return undefined
    return { queue, isPersonal: addressee === this.instance, hops: Number(hops) }
  }

  /** Notifies another instance in place of this one. */
  async passOn({ queue, hops }: Notice): Promise<void> {
    const others = (this.#instances.get(queue) ?? []).filter((instance) => instance !== this.instance)
    if (others.length === 0 || hops >= maxHops) return
    await this.notify([`${anyOf(others)} ${hops + 1} ${queue}`])
  }

  /**
   * One statement: this instance lives, its leases of `held` are renewed, jobs whose lease has ended wait again (their
   * attempt does not count), and the queues with events that are due are returned.
   */
  async beat(
    held: readonly string[],
  ): Promise<{ readonly lost: readonly string[]; readonly due: ReadonlySet<string> }> {
    const { rows } = await this.#pool.query(this.#beatStatement, [
      this.instance,
      [...this.#queues],
      held,
      this.lease,
    ])
    const [row] = rows as BeatRow[]
    const instances = new Map([...this.#queues].map((queue) => [queue, [this.instance]]))
    for (const { queues, instances: alive } of row?.others ?? []) {
      for (const queue of queues) instances.set(queue, [...(instances.get(queue) ?? []), ...alive])
    }
    this.#instances = instances
    const lost = row?.lost ?? []
    return { lost, due: new Set([...lost, ...(row?.due ?? [])]) } // what was lost is due, but was not yet when the statement began
  }

  /** Leaves: others get what this instance still holds, at once and without counting the attempt. */
  async leave(held: readonly string[]): Promise<void> {
    const others = [...this.#instances].map(([queue, instances]) => [
      queue,
      instances.filter((instance) => instance !== this.instance),
    ])
    this.#instances = new Map(others as [string, string[]][])
    await this.#pool.query(
      `WITH gone AS (DELETE FROM ${this.#schema}.fmod_worker WHERE instance = $1),
      released AS (
        UPDATE ${this.#schema}.job SET ${waitsAgain}
        WHERE name = ANY($2) AND id = ANY($3::uuid[]) AND ${isOwn('$1')} RETURNING name)
      SELECT pg_notify($4, '${everyone} 0 ' || name) FROM (SELECT DISTINCT name FROM released) AS queue`,
      [this.instance, [...this.#queues], held, this.channel],
    )
  }

  /** Rows that another instance hands on at the same moment are skipped. */
  get #beatStatement(): string {
    const job = `${this.#schema}.job`
    const worker = `${this.#schema}.fmod_worker`
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
          WHERE seen > now() - $4 * interval '1 ms' AND instance <> $1 GROUP BY queues) AS o) AS others,
        ARRAY(SELECT DISTINCT name FROM lost) AS lost,
        ARRAY(SELECT queue FROM unnest($2::text[]) AS queue WHERE now() > (
          SELECT start_after FROM ${job} w WHERE w.name = queue AND w.state < 'active'
          ORDER BY start_after LIMIT 1)) AS due`
  }
}

/** The column of a job that holds the instance that runs it; queues of pg-boss's standard policy leave it empty. */
export const owner = 'singleton_key'

/** A job that an instance runs. Whoever has lost its lease changes nothing any more. */
export const isOwn = (instance: string): string => `state = 'active' AND ${owner} = ${instance}`

/**
 * A job whose instance is gone; the lease is in milliseconds. A job without an owner was fetched by an
 * earlier release, which renews nothing: it expires after its queue's time.
 */
export const hasLostLease = (
  lease: string,
): string => `state = 'active' AND started_on < now() - ${lease} * interval '1 ms'
  AND (${owner} IS NOT NULL OR started_on < now() - expire_in)`

/** A job waits again, as if it had not been fetched: without a start the next fetch counts no attempt. */
const waitsAgain = `state = 'retry', start_after = now(), started_on = NULL, ${owner} = NULL`

function anyOf(instances: readonly string[]): string | undefined {
  return instances[Math.floor(Math.random() * instances.length)]
}
