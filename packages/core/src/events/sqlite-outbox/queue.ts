/** The queue in SQLite: publishes events, claims due deliveries, records outcomes, keeps dead letters. One call, one transaction. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { FileLock } from '../../internal/file-lock.ts'
import { errorCodes } from '../../misuse-errors.ts'
import type { Exchange, FinishedJob, Job, Queue, QueueContext, StoredEvent } from '../durable/queue.ts'
import type { DeadLetter, Subscription, RemovedHandler, SyncTx, Tx } from '../transport.ts'
import { createTables, requireTables, type SqliteDatabase } from './database.ts'

/** A published event on its way to one handler; its id is that of the event. */
export interface SqliteJob extends Job {
  readonly id: number
  readonly handler: string
  /**
   * When its lease ends, in ms since the epoch. A fencing token, too: a later claim has a later end, and an attempt that
   * lost its lease changes nothing any more.
   */
  heldUntil: number
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

/** Deliveries that one transaction of `unsubscribe` deletes: the event loop stands still meanwhile. */
const portion = 500

/** Milliseconds for which an event waits for the end of a transaction that it is no part of. */
const patience = 5000

export class SqliteQueue implements Queue<SqliteJob> {
  readonly #database: SqliteDatabase
  readonly #context: QueueContext
  /** Milliseconds. */
  readonly #lease: number
  readonly #lock: FileLock
  readonly #statements: ReturnType<typeof prepare>
  readonly #transaction: { immediate(work: () => unknown): unknown }
  readonly #ownTransaction: SyncTx
  /** The handlers of this process, by the type of their event. */
  readonly #handlers = new Map<string, readonly string[]>()
  #exchanges: Exchange<SqliteJob>[] = []
  #exchanging: Promise<readonly (readonly SqliteJob[])[]> | undefined
  #renewedAt = 0

  constructor(database: SqliteDatabase, lease: number, context: QueueContext) {
    if (context.migrates) createTables(database)
    else requireTables(database)
    this.#database = database
    this.#context = context
    this.#lease = lease
    this.#lock = new FileLock(database)
    this.#statements = prepare(database)
    this.#transaction = database.transaction((work: () => unknown) => work())
    this.#ownTransaction = ownTransaction(database)
  }

  subscribe(handlers: readonly Subscription[]): void {
    const { subscribe } = this.#statements
    this.#write(() => {
      for (const { handler, type, isExpected } of handlers) subscribe.run(handler, type, isExpected ? 0 : 1)
    })
    for (const { handler, type, isExpected } of handlers)
      if (!isExpected) this.#handlers.set(type, [...(this.#handlers.get(type) ?? []), handler])
  }

  /** In the caller's transaction three statements, all or none with the caller's own. */
  publish(event: StoredEvent, tx: Tx | undefined): boolean | Promise<boolean> {
    const wake = () => {
      this.#context.wake(this.#handlers.get(event.type) ?? [])
      return this.#isSubscribed(event.type)
    }
    if (tx?.kind !== 'sync')
      return this.#writeAlone(`the event ${event.type}`, () => insert(this.#ownTransaction, event)).then(wake)
    insert(tx, event)
    return wake()
  }

  /** Read on the outbox's own connection: what a transaction of the caller runs returns nothing. */
  #isSubscribed(type: string): boolean {
    if (this.#handlers.has(type)) return true
    try {
      return this.#lock.read(() => this.#statements.isSubscribed.get(type)) !== undefined
    } catch {
      return true // the file cannot be read now; the event is stored
    }
  }

  /** All exchanges of one turn are one transaction, and so one wait for the disk. */
  async exchange(exchange: Exchange<SqliteJob>): Promise<readonly SqliteJob[]> {
    const place = this.#exchanges.push(exchange) - 1
    this.#exchanging ??= Promise.resolve().then(() => this.#exchangeAll())
    return (await this.#exchanging)[place] ?? []
  }

  #exchangeAll(): Promise<readonly (readonly SqliteJob[])[]> {
    const exchanges = this.#exchanges
    this.#exchanges = []
    this.#exchanging = undefined
    return this.#writeAlone('what was handled', () => {
      const now = Date.now()
      return exchanges.map((exchange) => this.#recordAndClaim(exchange, now))
    })
  }

  #recordAndClaim({ handler, finished, limit }: Exchange<SqliteJob>, now: number): readonly SqliteJob[] {
    for (const one of finished) this.#record(one, now)
    if (limit === 0) return []
    const claimed = this.#statements.claim.all(now + this.#lease, handler, now, limit) as SqliteJob[]
    return claimed.toSorted((a, b) => a.id - b.id) // in the order of publication
  }

  #record({ job: { id, handler, heldUntil }, outcome }: FinishedJob<SqliteJob>, now: number): void {
    const { remove, removeEvent, retry, bury } = this.#statements
    if (outcome.kind === 'handled') {
      remove.run(id, handler)
      removeEvent.run(id, id)
    } else if (outcome.kind === 'retry') {
      retry.run(now + outcome.delay, outcome.error, id, handler, heldUntil)
    } else {
      bury.run(now, outcome.error, id, handler, heldUntil)
    }
  }

  /** Renews leases three times while they last. */
  beat(held: readonly SqliteJob[]): readonly string[] {
    // Not within a transaction of the application, which may be rolled back.
    if (this.#database.inTransaction) return []
    const now = Date.now()
    const age = now - this.#renewedAt
    // After the clock went back, new leases end before the old ones.
    if (held.length > 0 && (age >= this.#lease / 3 || age < 0)) {
      const until = now + this.#lease
      for (const job of this.#write(() => this.#renew(held, until))) job.heldUntil = until
      this.#renewedAt = now
    }
    const own = JSON.stringify([...this.#handlers.values()].flat()) // as SQLite reads them with `json_each`
    const due = this.#lock.read(() => this.#statements.due.all(own, now)) as { handler: string }[]
    return due.map(({ handler }) => handler)
  }

  stop(): void {
    this.#lock.forget() // the last exchange waits as long as it may: what it does not record is delivered again
  }

  async release(held: readonly SqliteJob[]): Promise<void> {
    if (held.length > 0) await this.#writeAlone('a release', () => this.#renew(held, Date.now()))
  }

  async listDead(limit: number): Promise<readonly DeadLetter[]> {
    return this.#statements.listDead.all(limit) as DeadLetter[]
  }

  async replay(id: string): Promise<boolean> {
    const [event, handler] = keyOf(id)
    const { replay } = this.#statements
    const { changes } = await this.#writeAlone('a replay', () => replay.run(Date.now(), event, handler))
    this.#context.wake([handler])
    return changes > 0
  }

  discard(id: string): Promise<boolean> {
    const [event, handler] = keyOf(id)
    return this.#writeAlone('a dead letter', () => {
      const { changes } = this.#statements.removeDead.run(event, handler)
      this.#statements.removeEvent.run(event, event)
      return changes > 0
    })
  }

  async listRemoved(own: readonly string[]): Promise<readonly RemovedHandler[]> {
    return this.#lock.read(() => this.#statements.listRemoved.all(JSON.stringify(own))) as RemovedHandler[]
  }

  async unsubscribe(handler: string): Promise<void> {
    const remove = () =>
      this.#writeAlone(`the end of the subscription ${handler}`, () => this.#deletePortion(handler))
    while ((await remove()) === portion) await turn()
  }

  #write<T>(work: () => T): T {
    return this.#lock.write(() => this.#transaction.immediate(work)) as T
  }

  /** After a transaction that is open on the connection, whoever began it: its rollback would undo the work, which `what` names. */
  async #writeAlone<T>(what: string, work: () => T): Promise<T> {
    for (const end = performance.now() + patience; this.#database.inTransaction; await sleep(1))
      if (performance.now() > end) throw new errorCodes.FMOD_CORE_TRANSACTION_OPEN(what)
    return this.#write(work)
  }

  /** Those of the jobs that this process has not lost. */
  #renew(held: readonly SqliteJob[], until: number): readonly SqliteJob[] {
    const { renew } = this.#statements
    return held.filter(({ id, handler, heldUntil }) => renew.run(until, id, handler, heldUntil).changes > 0)
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

function insert(tx: SyncTx, { eventId, type, payload, traceparent }: StoredEvent): void {
  const now = Date.now()
  tx.run(insertEvent, [eventId, type, payload, now, traceparent])
  tx.run(insertDeliveries, [now, type])
  tx.run(deleteUnhandled, [type])
}

const isHeld = 'event = ? AND handler = ? AND due_at = ? AND dead_at IS NULL'
const isDead = 'event = ? AND handler = ? AND dead_at IS NOT NULL'

function prepare(database: SqliteDatabase) {
  return {
    subscribe: database.prepare(`
      INSERT INTO event_subscription (handler, type) VALUES (?, ?)
      ON CONFLICT (handler) DO UPDATE SET type = excluded.type WHERE ?`),
    isSubscribed: database.prepare('SELECT 1 FROM event_subscription WHERE type = ?'),
    unsubscribe: database.prepare('DELETE FROM event_subscription WHERE handler = ?'),
    listRemoved: database.prepare(`
      SELECT handler, (
        SELECT count(*) FROM event_delivery d WHERE d.handler = s.handler AND dead_at IS NULL) AS waiting
      FROM event_subscription s WHERE handler NOT IN (SELECT value FROM json_each(?)) ORDER BY handler`),
    removeWaiting: database.prepare(`
      DELETE FROM event_delivery WHERE (event, handler) IN (
        SELECT event, handler FROM event_delivery WHERE handler = ? AND dead_at IS NULL LIMIT ?)
      RETURNING event`),
    claim: database.prepare(`
      UPDATE event_delivery SET due_at = ?
      WHERE (event, handler) IN (
        SELECT event, handler FROM event_delivery WHERE handler = ? AND dead_at IS NULL AND due_at <= ?
        ORDER BY due_at, event LIMIT ?)
      RETURNING event AS id, handler, attempts AS failures, due_at AS heldUntil,
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
    due: database.prepare(`
      SELECT value AS handler FROM json_each(?) WHERE EXISTS (
        SELECT 1 FROM event_delivery WHERE handler = value AND dead_at IS NULL AND due_at <= ?)`),
    listDead: database.prepare(`
      SELECT d.event || ':' || d.handler AS id, o.event_id AS eventId, o.type, d.handler, d.attempts, d.error, d.dead_at AS failedAt
      FROM event_delivery d JOIN event_outbox o ON o.id = d.event WHERE d.dead_at IS NOT NULL
      ORDER BY d.dead_at LIMIT ?`),
    replay: database.prepare(`
      UPDATE event_delivery SET dead_at = NULL, error = NULL, attempts = 0, due_at = ?
      WHERE ${isDead} AND handler IN (SELECT handler FROM event_subscription)`),
    removeDead: database.prepare(`DELETE FROM event_delivery WHERE ${isDead}`),
  }
}

/** The outbox's own transactions, with the statements of `insert` prepared once. */
function ownTransaction(database: SqliteDatabase): SyncTx {
  const prepared = new Map(
    [insertEvent, insertDeliveries, deleteUnhandled].map((sql) => [sql, database.prepare(sql)]),
  )
  return { kind: 'sync', run: (sql, params) => void prepared.get(sql)?.run(...params) }
}

/** A dead letter's id is its delivery's key. */
function keyOf(id: string): [event: number, handler: string] {
  const colon = id.indexOf(':')
  return [Number(id.slice(0, colon)), id.slice(colon + 1)]
}
