/** The queue in the database: claim due deliveries, keep, finish, retry or bury them. Each call is one transaction. */
import type { DeadLetter, DeadLetters } from '../transport.ts'
import type { Delivery, SqliteDatabase } from './database.ts'

/** What became of an attempt: done, to be tried again after `delay` ms, or given up. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly delay: number; readonly error: string }
  | { readonly kind: 'dead'; readonly error: string }

/** An attempt and what became of it. */
export type Finished = readonly [Delivery, Outcome]

export interface Deliveries extends DeadLetters {
  subscribe(handler: string, type: string): void
  /**
   * Records finished attempts, then takes up to `limit` due deliveries of these handlers for `lease` ms and counts an
   * attempt for each: one transaction, so one wait for the disk.
   */
  exchange(
    finished: readonly Finished[],
    handlers: readonly string[],
    limit: number,
    lease: number,
  ): readonly Delivery[]
  /** Extends the lease of a running attempt to `lease` ms from now. */
  keep(delivery: Delivery, lease: number): void
  /** When the next delivery of these handlers is due, in ms since the epoch. */
  nextDue(handlers: readonly string[]): number | undefined
  /** Deliveries that wait for handlers not in the list. */
  countStranded(handlers: readonly string[]): number
}

const mine = 'handler IN (SELECT value FROM json_each(?))'
const deadColumns = `
  d.event || ':' || d.handler AS id, o.event_id AS eventId, o.type, d.handler, d.attempts, d.error, d.dead_at AS failedAt
  FROM event_delivery d JOIN event_outbox o ON o.id = d.event WHERE d.dead_at IS NOT NULL`

export function createDeliveries(database: SqliteDatabase): Deliveries {
  const subscribe = database.prepare(
    'INSERT INTO event_subscription (handler, type) VALUES (?, ?) ON CONFLICT (handler) DO UPDATE SET type = excluded.type',
  )
  const claim = database.prepare(`
    UPDATE event_delivery SET due_at = ?, attempts = attempts + 1
    WHERE (event, handler) IN (
      SELECT event, handler FROM event_delivery WHERE dead_at IS NULL AND due_at <= ? AND ${mine} ORDER BY due_at, event LIMIT ?)
    RETURNING event, handler, attempts,
      (SELECT event_id FROM event_outbox WHERE id = event) AS eventId,
      (SELECT type FROM event_outbox WHERE id = event) AS type,
      (SELECT payload FROM event_outbox WHERE id = event) AS payload`)
  // The number of attempts tells whose lease it is: an attempt that lost it changes nothing any more.
  const held = 'WHERE event = ? AND handler = ? AND attempts = ?'
  const keep = database.prepare(`UPDATE event_delivery SET due_at = ? ${held}`)
  const retry = database.prepare(`UPDATE event_delivery SET due_at = ?, error = ? ${held}`)
  const bury = database.prepare(`UPDATE event_delivery SET dead_at = ?, error = ? ${held}`)
  const remove = database.prepare('DELETE FROM event_delivery WHERE event = ? AND handler = ?')
  const removeEvent = database.prepare(
    'DELETE FROM event_outbox WHERE id = ? AND NOT EXISTS (SELECT 1 FROM event_delivery WHERE event = ?)',
  )
  const nextDue = database.prepare(
    `SELECT min(due_at) AS due FROM event_delivery WHERE dead_at IS NULL AND ${mine}`,
  )
  const stranded = database.prepare(
    `SELECT count(*) AS count FROM event_delivery WHERE dead_at IS NULL AND NOT ${mine}`,
  )
  const listDead = database.prepare(`SELECT ${deadColumns} ORDER BY d.dead_at LIMIT ?`)
  const dead = 'WHERE event = ? AND handler = ? AND dead_at IS NOT NULL'
  const revive = database.prepare(
    `UPDATE event_delivery SET dead_at = NULL, error = NULL, attempts = 0, due_at = ? ${dead}`,
  )
  const removeDead = database.prepare(`DELETE FROM event_delivery ${dead}`)

  function finish({ event, handler, attempts }: Delivery, outcome: Outcome): void {
    if (outcome.kind === 'done') {
      remove.run(event, handler)
      removeEvent.run(event, event)
    } else if (outcome.kind === 'retry') {
      retry.run(Date.now() + outcome.delay, outcome.error, event, handler, attempts)
    } else {
      bury.run(Date.now(), outcome.error, event, handler, attempts)
    }
  }

  const exchange = database.transaction(
    (finished: readonly Finished[], handlers: readonly string[], limit: number, lease: number) => {
      for (const [delivery, outcome] of finished) finish(delivery, outcome)
      const now = Date.now()
      return limit > 0 ? (claim.all(now + lease, now, JSON.stringify(handlers), limit) as Delivery[]) : []
    },
  )
  const discard = database.transaction((event: number, handler: string) => {
    const { changes } = removeDead.run(event, handler)
    removeEvent.run(event, event)
    return changes > 0
  })

  return {
    subscribe: (handler, type) => void subscribe.run(handler, type),
    exchange: (finished, handlers, limit, lease) => exchange.immediate(finished, handlers, limit, lease),
    keep: ({ event, handler, attempts }, lease) =>
      void keep.run(Date.now() + lease, event, handler, attempts),
    nextDue: (handlers) => (nextDue.get(JSON.stringify(handlers)) as { due: number | null }).due ?? undefined,
    countStranded: (handlers) => (stranded.get(JSON.stringify(handlers)) as { count: number }).count,
    list: async (limit = 100) => listDead.all(limit) as DeadLetter[],
    replay: async (id) => revive.run(Date.now(), ...split(id)).changes > 0,
    discard: async (id) => discard.immediate(...split(id)),
  }
}

/** A dead letter's id is its delivery's key. */
function split(id: string): [event: number, handler: string] {
  const colon = id.indexOf(':')
  return [Number(id.slice(0, colon)), id.slice(colon + 1)]
}
