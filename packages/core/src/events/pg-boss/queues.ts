/** One pg-boss queue per handler, one for what could not be handled, and the SQL that fans an event out to them. */
import type { RetryOptions } from '../attempt.ts'
import type { EventHandler } from '../discover-handlers.ts'
import { type DomainEvent, eventClassOf } from '../event.ts'
import type { Boss, BossDb, PgPool, StoredEvent } from './boss.ts'

export const deadQueue = 'events.dead-letters'

/** Jobs wait for their handler as long as it takes: ten years, where pg-boss would drop them after two weeks. */
const keep = { retentionMinutes: 5_256_000 }

/** The queue of a handler; pg-boss allows letters, digits, `_`, `-`, `.` and `/`. */
export function queueOf(handler: string): string {
  return `events.${handler.replace(/[^\w.-]/g, (char) => `_${char.charCodeAt(0).toString(16)}`)}`
}

/**
 * The handler of a queue. The name of a queue does not say what was encoded, so a handler that this process does not
 * have is named as its queue is.
 */
export function handlerOf(queue: string, handlers: Iterable<string>): string {
  return [...handlers].find((handler) => queueOf(handler) === queue) ?? queue.slice('events.'.length)
}

/** How many events wait in queues of handlers that are not in the list, and those handlers. */
export async function findStranded(
  pool: PgPool,
  schema: string,
  handlers: Iterable<string>,
): Promise<{ readonly count: number; readonly handlers: readonly string[] }> {
  const known = [deadQueue, ...[...handlers].map(queueOf)]
  const { rows } = await pool.query(
    `SELECT name, count(*)::integer AS count FROM ${schema}.job
     WHERE name LIKE 'events.%' AND name <> ALL($1) AND state < 'active' GROUP BY name ORDER BY name`,
    [known],
  )
  const stranded = rows as { name: string; count: number }[]
  return {
    count: stranded.reduce((sum, { count }) => sum + count, 0),
    handlers: stranded.map(({ name }) => handlerOf(name, [])),
  }
}

/** Creates a handler's queue, or brings it up to date, and subscribes it to its event. */
export async function createHandlerQueue(
  boss: Boss,
  handler: EventHandler,
  options: Required<RetryOptions>,
): Promise<void> {
  const queue = queueOf(handler.name)
  const settings = {
    retryLimit: options.maxAttempts - 1,
    retryDelay: Math.max(1, Math.ceil(options.retryDelay / 1000)),
    retryBackoff: true,
    // An attempt is given up here before pg-boss gives it to another worker.
    expireInSeconds: Math.ceil(options.attemptTimeout / 1000) + 1,
    deadLetter: deadQueue,
    ...keep,
  }
  await boss.createQueue(queue, settings)
  await boss.updateQueue(queue, settings)
  await boss.subscribe(handler.event.type, queue)
}

export async function createDeadQueue(boss: Boss): Promise<void> {
  await boss.createQueue(deadQueue, { retryLimit: 0, ...keep })
}

/** Sends an event to each subscribed queue; part of the transaction that `db` belongs to. */
export async function sendToSubscribers(
  boss: Boss,
  db: BossDb,
  schema: string,
  event: DomainEvent,
): Promise<void> {
  const type = eventClassOf(event)?.type ?? ''
  // The notice is delivered at commit: workers of all instances look at once, not at their next poll.
  const { rows } = await db.executeSql(
    `SELECT name, pg_notify($2, '') FROM ${schema}.subscription WHERE event = $1 ORDER BY name`,
    [type, channelOf(schema)],
  )
  for (const { name } of rows as { name: string }[]) {
    const data: StoredEvent = { eventId: event.eventId, type, handler: name, payload: { ...event } }
    await boss.send(name, data, { db })
  }
}

/** The channel on which commits are announced. */
export function channelOf(schema: string): string {
  return `${schema}_events`
}
