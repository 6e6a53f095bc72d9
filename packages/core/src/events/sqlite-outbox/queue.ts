/** The queue in SQLite: publishes events, claims due deliveries, records outcomes, keeps dead letters. One call, one transaction. */
import type { FileLock } from '../../internal/file-lock.ts'
import type { Outcome } from '../delivery.ts'
import { type DomainEvent, eventTypeOf } from '../event.ts'
import type { EventHandler } from '../handlers.ts'
import type { DeadLetter, SyncTx } from '../transport.ts'
import type { SqliteDatabase } from './database.ts'

/** A published event on its way to one handler. */
export interface Delivery {
  readonly event: number
  readonly handler: string
  readonly attempts: number
  readonly eventId: string
  readonly type: string
  readonly payload: string
}

/** An attempt and what became of it. */
export interface FinishedDelivery {
  readonly delivery: Delivery
  readonly outcome: Outcome
  /** Milliseconds until the next attempt, if another one follows. */
  readonly retryDelay: number
}

/** What one exchange records and claims. */
export interface Exchange {
  readonly finished: readonly FinishedDelivery[]
  /** Handlers whose due deliveries are claimed. */
  readonly handlers: Iterable<string>
  readonly limit: number
  /** How long a claimed delivery belongs to this process, in milliseconds. */
  readonly lease: number
}

const insertEvent = 'INSERT INTO event_outbox (event_id, type, payload, published_at) VALUES (?, ?, ?, ?)'
const insertDeliveries = `
  INSERT INTO event_delivery (event, handler, due_at)
  SELECT last_insert_rowid(), handler, ? FROM event_subscription WHERE type = ?`
/** An event without a handler has nothing to wait for. */
const deleteUnhandled = `
  DELETE FROM event_outbox WHERE id = last_insert_rowid()
  AND NOT EXISTS (SELECT 1 FROM event_subscription WHERE type = ?)`

/** Publishes within an open transaction: three statements, all or none with the caller's own. */
export function publishIn(tx: SyncTx, event: DomainEvent): void {
  const type = eventTypeOf(event)
  const now = Date.now()
  tx.run(insertEvent, [event.eventId, type, JSON.stringify(event), now])
  tx.run(insertDeliveries, [now, type])
  tx.run(deleteUnhandled, [type])
}

export class Queue {
  readonly #database: SqliteDatabase
  readonly #lock: FileLock
  readonly #statements: ReturnType<typeof prepare>
  readonly #publish: (event: DomainEvent) => void
  readonly #exchange: (exchange: Exchange) => readonly Delivery[]
  readonly #discard: (event: number, handler: string) => boolean

  constructor(database: SqliteDatabase, lock: FileLock) {
    this.#database = database
    this.#lock = lock
    this.#statements = prepare(database)
    const own = ownTransaction(database)
    const publish = database.transaction((event: DomainEvent) => publishIn(own, event))
    const exchange = database.transaction((given: Exchange) => this.#recordAndClaim(given))
    const discard = database.transaction((event: number, handler: string) => this.#removeDead(event, handler))
    this.#publish = (event) => publish.immediate(event)
    this.#exchange = (given) => exchange.immediate(given)
    this.#discard = (event, handler) => discard.immediate(event, handler)
  }

  subscribe({ name, event }: EventHandler): void {
    this.#statements.subscribe.run(name, event.type)
  }

  /** Publishes in a transaction of its own. */
  publish(event: DomainEvent): void {
    this.#lock.write(() => this.#publish(event))
  }

  /**
   * Records finished attempts, then claims due deliveries and counts an attempt for each: one transaction, so one wait
   * for the disk.
   */
  exchange(exchange: Exchange): readonly Delivery[] {
    return this.#lock.write(() => this.#exchange(exchange))
  }

  /** Renews the lease of a running attempt: it ends `lease` ms from now. */
  renew({ event, handler, attempts }: Delivery, lease: number): void {
    this.#lock.write(() => this.#statements.renew.run(Date.now() + lease, event, handler, attempts))
  }

  /** When the next delivery of these handlers is due, in ms since the epoch. */
  nextDue(handlers: Iterable<string>): number | undefined {
    const row = this.#lock.read(() => this.#statements.nextDue.get(list(handlers)))
    return (row as { due: number | null }).due ?? undefined
  }

  /** Deliveries that wait for handlers not in the list. */
  countStranded(handlers: Iterable<string>): number {
    const row = this.#lock.read(() => this.#statements.countStranded.get(list(handlers)))
    return (row as { count: number }).count
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

  #recordAndClaim({ finished, handlers, limit, lease }: Exchange): readonly Delivery[] {
    for (const attempt of finished) this.#record(attempt)
    if (limit <= 0) return []
    const now = Date.now()
    return this.#statements.claim.all(now + lease, now, list(handlers), limit) as Delivery[]
  }

  #record({ delivery: { event, handler, attempts }, outcome, retryDelay }: FinishedDelivery): void {
    const { remove, removeEvent, retry, bury } = this.#statements
    if (outcome.kind === 'handled') {
      remove.run(event, handler)
      removeEvent.run(event, event)
    } else if (outcome.kind === 'retry') {
      retry.run(Date.now() + retryDelay, outcome.error, event, handler, attempts)
    } else {
      bury.run(Date.now(), outcome.error, event, handler, attempts)
    }
  }

  #removeDead(event: number, handler: string): boolean {
    const { changes } = this.#statements.removeDead.run(event, handler)
    this.#statements.removeEvent.run(event, event)
    return changes > 0
  }
}

const isListed = 'handler IN (SELECT value FROM json_each(?))'
// The number of attempts is a fencing token: an attempt that lost its lease changes nothing any more.
const isHeld = 'event = ? AND handler = ? AND attempts = ?'
const isDead = 'event = ? AND handler = ? AND dead_at IS NOT NULL'

function prepare(database: SqliteDatabase) {
  return {
    subscribe: database.prepare(
      'INSERT INTO event_subscription (handler, type) VALUES (?, ?) ON CONFLICT (handler) DO UPDATE SET type = excluded.type',
    ),
    claim: database.prepare(`
      UPDATE event_delivery SET due_at = ?, attempts = attempts + 1
      WHERE (event, handler) IN (
        SELECT event, handler FROM event_delivery WHERE dead_at IS NULL AND due_at <= ? AND ${isListed} ORDER BY due_at, event LIMIT ?)
      RETURNING event, handler, attempts,
        (SELECT event_id FROM event_outbox WHERE id = event) AS eventId,
        (SELECT type FROM event_outbox WHERE id = event) AS type,
        (SELECT payload FROM event_outbox WHERE id = event) AS payload`),
    renew: database.prepare(`UPDATE event_delivery SET due_at = ? WHERE ${isHeld}`),
    retry: database.prepare(`UPDATE event_delivery SET due_at = ?, error = ? WHERE ${isHeld}`),
    bury: database.prepare(`UPDATE event_delivery SET dead_at = ?, error = ? WHERE ${isHeld}`),
    remove: database.prepare('DELETE FROM event_delivery WHERE event = ? AND handler = ?'),
    removeEvent: database.prepare(
      'DELETE FROM event_outbox WHERE id = ? AND NOT EXISTS (SELECT 1 FROM event_delivery WHERE event = ?)',
    ),
    nextDue: database.prepare(
      `SELECT min(due_at) AS due FROM event_delivery WHERE dead_at IS NULL AND ${isListed}`,
    ),
    countStranded: database.prepare(
      `SELECT count(*) AS count FROM event_delivery WHERE dead_at IS NULL AND NOT ${isListed}`,
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

/** Names as SQLite reads them in `isListed`. */
function list(handlers: Iterable<string>): string {
  return JSON.stringify([...handlers])
}

/** A dead letter's id is its delivery's key. */
function keyOf(id: string): [event: number, handler: string] {
  const colon = id.indexOf(':')
  return [Number(id.slice(0, colon)), id.slice(colon + 1)]
}
