/** Whether a transaction is on the outbox's own database file. */
import type { SyncTx } from '../transaction.ts'
import { isBusy, type SqliteDatabase } from './database.ts'

/**
 * Writes a probe in the open transaction, which the caller rolls back, and looks whether the outbox's database notices:
 * on the same connection the probe is visible, on another one of the same file the write lock is taken.
 */
export function sharesDatabase(database: SqliteDatabase, tx: SyncTx): boolean {
  const handler = `probe:${crypto.randomUUID()}`
  try {
    tx.run("INSERT INTO event_subscription (handler, type) VALUES (?, '')", [handler])
  } catch {
    return false // a database without the outbox's tables
  }
  if (database.inTransaction) {
    return database.prepare('SELECT 1 FROM event_subscription WHERE handler = ?').get(handler) !== undefined
  }
  const timeout = database.pragma('busy_timeout', { simple: true }) as number
  database.pragma('busy_timeout = 0')
  try {
    database.exec('BEGIN IMMEDIATE')
    database.exec('ROLLBACK')
    return false // nobody holds this file's write lock: the transaction is elsewhere
  } catch (error) {
    return isBusy(error)
  } finally {
    database.pragma(`busy_timeout = ${timeout}`)
  }
}
