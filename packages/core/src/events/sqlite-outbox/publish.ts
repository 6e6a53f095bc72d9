/** Writes an event and its deliveries, in the caller's transaction or in one of its own. */
import { type DomainEvent, eventClassOf } from '../event.ts'
import { fromBetterSqlite, type SyncTx } from '../transaction.ts'
import type { SqliteDatabase } from './database.ts'

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
  const type = eventClassOf(event)?.type ?? ''
  const now = Date.now()
  tx.run(insertEvent, [event.eventId, type, JSON.stringify(event), now])
  tx.run(insertDeliveries, [now, type])
  tx.run(deleteUnhandled, [type])
}

/** A function that publishes in a transaction of its own. */
export function createPublish(database: SqliteDatabase): (event: DomainEvent) => void {
  const tx = fromBetterSqlite(cached(database))
  const publish = database.transaction((event: DomainEvent) => publishIn(tx, event))
  return (event) => publish.immediate(event)
}

/** Prepares each statement once. */
function cached(database: SqliteDatabase): Pick<SqliteDatabase, 'prepare'> {
  const statements = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return {
    prepare(sql) {
      const statement = statements.get(sql) ?? database.prepare(sql)
      statements.set(sql, statement)
      return statement
    },
  }
}
