/** The queue in SQLite: publishes events, claims due deliveries, records outcomes, keeps dead letters. One call, one transaction. */
import { setImmediate as turn } from 'node:timers/promises'
import type { FileLock } from '../../internal/file-lock.ts'
import type { SettledOutcome } from '../delivery.ts'
import { type DomainEvent, eventTypeOf } from '../event.ts'
import type { EventHandler } from '../handlers.ts'
import type { DeadLetter, PublishOptions, RemovedHandler, SyncTx } from '../transport.ts'
import type { SqliteDatabase } from './database.ts'

/** A published event on its way to one handler, held by this process. */
export interface ClaimedDelivery {
  readonly event: number
  readonly handler: string
  /** Attempts that failed. */
  readonly attempts: number
  /**
   * When its lease ends, in ms since the epoch. A fencing token, too: a later claim has a later end, and an attempt that
   * lost its lease changes nothing any more.
   */
  heldUntil: number
  readonly eventId: string
  readonly type: string
  readonly payload: string
  readonly traceparent: string | null
}

/** An attempt and what became of it. */
export interface FinishedDelivery {
  readonly delivery: ClaimedDelivery
  readonly outcome: SettledOutcome
  /** Milliseconds until the next attempt, if another one follows. */
  readonly retryDelay: number
}

/** What one exchange records and claims. */
export interface Exchange {
  readonly finished: readonly FinishedDelivery[]
  /** Deliveries that are handed to other processes: due at once, without counting an attempt. */
  readonly released: Iterable<ClaimedDelivery>
  /** How many due deliveries of each handler are claimed at most. */
  readonly limits: ReadonlyMap<string, number>
  /** How long a claimed delivery belongs to this process, in milliseconds. */
  readonly lease: number
}

const insertEvent =
  'INSERT INTO event_outbox (event_id, type, payload, published_at, traceparent) VALUES (?, ?, ?, ?, ?)'
const insertDeliveries = `
  INSERT INTO event_delivery (event, handler, due_at)
  SELECT last_insert_rowid(), handler, ? FROM event_subscription WHERE type = ?`
/** An event without a handler has nothing to wait for. */
const deleteUnhandled = `
  DELETE FROM event_outbox WHERE id = last_insert_rowid()
  AND NOT EXISTS (SELECT 1 FROM event_subscription WHERE type = ?)`

/** Publishes within an open transaction: three statements, all or none with the caller's own. */
export function publishIn(tx: SyncTx, event: DomainEvent, { traceparent }: PublishOptions): void {
  const type = eventTypeOf(event)
  const now = Date.now()
  tx.run(insertEvent, [event.eventId, type, JSON.stringify(event), now, traceparent ?? null])
  tx.run(insertDeliveries, [now, type])
  tx.run(deleteUnhandled, [type])
}

/** Deliveries that one transaction of `unsubscribe` deletes: the event loop stands still meanwhile. */
const portion = 500

export class Queue {
  readonly #database: SqliteDatabase
  readonly #lock: FileLock
  readonly #statements: ReturnType<typeof prepare>
  readonly #publish: (event: DomainEvent, options: PublishOptions) => void
  readonly #exchange: (exchange: Exchange) => readonly ClaimedDelivery[]
  readonly #renew: (held: Iterable<ClaimedDelivery>, until: number) => readonly ClaimedDelivery[]
  readonly #discard: (event: number, handler: string) => boolean
  readonly #deleteWaiting: (handler: string) => number

  constructor(database: SqliteDatabase, lock: FileLock) {
    this.#database = database
    this.#lock = lock
    this.#statements = prepare(database)
    const own = ownTransaction(database)
    const publish = database.transaction((event: DomainEvent, options: PublishOptions) =>
      publishIn(own, event, options),
    )
    const exchange = database.transaction((given: Exchange) => this.#recordAndClaim(given))
    const renew = database.transaction((held: Iterable<ClaimedDelivery>, until: number) =>
      [...held].filter((delivery) => this.#renewOne(delivery, until)),
    )
    const discard = database.transaction((event: number, handler: string) => this.#removeDead(event, handler))
    const deleteWaiting = database.transaction((handler: string) => this.#deletePortion(handler))
    this.#publish = (event, options) => publish.immediate(event, options)
    this.#exchange = (given) => exchange.immediate(given)
    this.#renew = (held, until) => renew.immediate(held, until)
    this.#discard = (event, handler) => discard.immediate(event, handler)
    this.#deleteWaiting = (handler) => deleteWaiting.immediate(handler)
  }

  /** Subscribes a handler to its event; returns the type of the event that it had before, if it was another one. */
  subscribe({ name, event }: EventHandler): string | undefined {
    const { typeOf, subscribe } = this.#statements
    const former = typeOf.get(name) as { type: string } | undefined
    subscribe.run(name, event.type)
    return former?.type === event.type ? undefined : former?.type
  }

  /** Handlers with a subscription, or with events that wait, that are not in the list. */
  listRemoved(handlers: Iterable<string>): readonly RemovedHandler[] {
    return this.#lock.read(() => this.#statements.listRemoved.all(list(handlers))) as RemovedHandler[]
  }

  /** Ends the subscription of a handler in `listRemoved`, and deletes what waits for it, in portions. */
  async unsubscribe(handler: string, handlers: Iterable<string>): Promise<boolean> {
    if (!this.listRemoved(handlers).some((removed) => removed.handler === handler)) return false
    while (this.#lock.write(() => this.#deleteWaiting(handler)) === portion) await turn()
    return true
  }

  /** Publishes in a transaction of its own. */
  publish(event: DomainEvent, options: PublishOptions): void {
    this.#lock.write(() => this.#publish(event, options))
  }

  /**
   * Records finished attempts, then claims due deliveries: one transaction, so one wait for the disk. What it claims is
   * in the order of publication.
   */
  exchange(exchange: Exchange): readonly ClaimedDelivery[] {
    return this.#lock.write(() => this.#exchange(exchange)).toSorted((a, b) => a.event - b.event)
  }

  /** Renews leases: they end `lease` ms from now. */
  renew(held: Iterable<ClaimedDelivery>, lease: number): void {
    const until = Date.now() + lease
    const renewed = this.#lock.write(() => this.#renew(held, until))
    for (const delivery of renewed) delivery.heldUntil = until // not before the commit
  }

  /** When the next delivery of these handlers is due, in ms since the epoch. */
  nextDue(handlers: Iterable<string>): number | undefined {
    const dues = this.#lock.read(() =>
      [...handlers].map((handler) => (this.#statements.nextDue.get(handler) as { due: number | null }).due),
    )
    return dues.reduce<number | undefined>(
      (next, due) => (due === null ? next : Math.min(next ?? due, due)),
      undefined,
    )
  }

  /** A number that changes with each commit of another connection. */
  dataVersion(): unknown {
    return this.#lock.read(() => this.#database.pragma('data_version', { simple: true }))
  }

  /** The dead letters, oldest first. */
  listDead(limit: number): readonly DeadLetter[] {
    return this.#statements.listDead.all(limit) as DeadLetter[]
  }

  /** Makes a dead letter due again, with all its attempts; false if there is no such dead letter. */
  replay(id: string): boolean {
    return this.#lock.write(() => this.#statements.replay.run(Date.now(), ...keyOf(id)).changes > 0)
  }

  /** Deletes a dead letter; false if there is no such dead letter. */
  discard(id: string): boolean {
    return this.#lock.write(() => this.#discard(...keyOf(id)))
  }

  #recordAndClaim({ finished, released, limits, lease }: Exchange): readonly ClaimedDelivery[] {
    const now = Date.now()
    for (const attempt of finished) this.#record(attempt, now)
    for (const delivery of released) this.#renewOne(delivery, now)
    return [...limits].flatMap(
      ([handler, limit]) => this.#statements.claim.all(now + lease, handler, now, limit) as ClaimedDelivery[],
    )
  }

  #record({ delivery, outcome, retryDelay }: FinishedDelivery, now: number): void {
    const { event, handler, heldUntil } = delivery
    const { remove, removeEvent, retry, bury } = this.#statements
    if (outcome.kind === 'handled') {
      remove.run(event, handler)
      removeEvent.run(event, event)
    } else if (outcome.kind === 'retry') {
      retry.run(now + retryDelay, outcome.error, event, handler, heldUntil)
    } else {
      bury.run(now, outcome.error, event, handler, heldUntil)
    }
  }

  #renewOne({ event, handler, heldUntil }: ClaimedDelivery, until: number): boolean {
    return this.#statements.renew.run(until, event, handler, heldUntil).changes > 0
  }

  #removeDead(event: number, handler: string): boolean {
    const { changes } = this.#statements.removeDead.run(event, handler)
    this.#statements.removeEvent.run(event, event)
    return changes > 0
  }

  /** The last portion takes the subscription with it, so that no event comes after. */
  #deletePortion(handler: string): number {
    const { removeWaiting, removeEvent, unsubscribe } = this.#statements
    const removed = removeWaiting.all(handler, portion) as { event: number }[]
    for (const { event } of removed) removeEvent.run(event, event)
    if (removed.length < portion) unsubscribe.run(handler)
    return removed.length
  }
}

const isHeld = 'event = ? AND handler = ? AND due_at = ? AND dead_at IS NULL'
const isDead = 'event = ? AND handler = ? AND dead_at IS NOT NULL'

function prepare(database: SqliteDatabase) {
  return {
    typeOf: database.prepare('SELECT type FROM event_subscription WHERE handler = ?'),
    subscribe: database.prepare(
      'INSERT INTO event_subscription (handler, type) VALUES (?, ?) ON CONFLICT (handler) DO UPDATE SET type = excluded.type',
    ),
    unsubscribe: database.prepare('DELETE FROM event_subscription WHERE handler = ?'),
    // From handler to handler: to read all that waits would hold up the boot.
    listRemoved: database.prepare(`
      WITH RECURSIVE waiting (handler) AS (
        SELECT min(handler) FROM event_delivery WHERE dead_at IS NULL
        UNION ALL
        SELECT (SELECT min(handler) FROM event_delivery WHERE dead_at IS NULL AND handler > waiting.handler)
        FROM waiting WHERE handler IS NOT NULL)
      SELECT handler, (
        SELECT count(*) FROM event_delivery d WHERE d.handler = s.handler AND dead_at IS NULL) AS waiting
      FROM (
        SELECT handler FROM event_subscription UNION SELECT handler FROM waiting WHERE handler IS NOT NULL) s
      WHERE handler NOT IN (SELECT value FROM json_each(?)) ORDER BY handler`),
    removeWaiting: database.prepare(`
      DELETE FROM event_delivery WHERE (event, handler) IN (
        SELECT event, handler FROM event_delivery WHERE handler = ? AND dead_at IS NULL LIMIT ?)
      RETURNING event`),
    claim: database.prepare(`
      UPDATE event_delivery SET due_at = ?
      WHERE (event, handler) IN (
        SELECT event, handler FROM event_delivery WHERE handler = ? AND dead_at IS NULL AND due_at <= ?
        ORDER BY due_at, event LIMIT ?)
      RETURNING event, handler, attempts, due_at AS heldUntil,
        (SELECT event_id FROM event_outbox WHERE id = event) AS eventId,
        (SELECT type FROM event_outbox WHERE id = event) AS type,
        (SELECT payload FROM event_outbox WHERE id = event) AS payload,
        (SELECT traceparent FROM event_outbox WHERE id = event) AS traceparent`),
    renew: database.prepare(`UPDATE event_delivery SET due_at = ? WHERE ${isHeld}`),
    retry: database.prepare(
      `UPDATE event_delivery SET attempts = attempts + 1, due_at = ?, error = ? WHERE ${isHeld}`,
    ),
    bury: database.prepare(
      `UPDATE event_delivery SET attempts = attempts + 1, dead_at = ?, error = ? WHERE ${isHeld}`,
    ),
    remove: database.prepare('DELETE FROM event_delivery WHERE event = ? AND handler = ?'),
    removeEvent: database.prepare(
      'DELETE FROM event_outbox WHERE id = ? AND NOT EXISTS (SELECT 1 FROM event_delivery WHERE event = ?)',
    ),
    nextDue: database.prepare(
      'SELECT min(due_at) AS due FROM event_delivery WHERE handler = ? AND dead_at IS NULL',
    ),
    listDead: database.prepare(`
      SELECT d.event || ':' || d.handler AS id, o.event_id AS eventId, o.type, d.handler, d.attempts, d.error, d.dead_at AS failedAt
      FROM event_delivery d JOIN event_outbox o ON o.id = d.event WHERE d.dead_at IS NOT NULL
      ORDER BY d.dead_at LIMIT ?`),
    replay: database.prepare(
      `UPDATE event_delivery SET dead_at = NULL, error = NULL, attempts = 0, due_at = ? WHERE ${isDead}`,
    ),
    removeDead: database.prepare(`DELETE FROM event_delivery WHERE ${isDead}`),
  }
}

/** The outbox's own transactions, with the statements of `publishIn` prepared once. */
function ownTransaction(database: SqliteDatabase): SyncTx {
  const prepared = new Map(
    [insertEvent, insertDeliveries, deleteUnhandled].map((sql) => [sql, database.prepare(sql)]),
  )
  return { kind: 'sync', run: (sql, params) => void prepared.get(sql)?.run(...params) }
}

/** Names as SQLite reads them with `json_each`. */
function list(handlers: Iterable<string>): string {
  return JSON.stringify([...handlers])
}

/** A dead letter's id is its delivery's key. */
function keyOf(id: string): [event: number, handler: string] {
  const colon = id.indexOf(':')
  return [Number(id.slice(0, colon)), id.slice(colon + 1)]
}
