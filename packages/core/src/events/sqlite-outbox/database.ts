/**
 * The database of the outbox: the part of better-sqlite3 that it uses, by structure, so that its types need not be
 * installed; and the tables.
 */
import { errorCodes } from '../../misuse-errors.ts'

export interface SqliteDatabase {
  readonly inTransaction: boolean
  exec(sql: string): unknown
  pragma(source: string, options?: { simple?: boolean }): unknown
  prepare(sql: string): SqliteStatement
  transaction<A extends unknown[], R>(run: (...args: A) => R): { immediate(...args: A): R }
}

interface SqliteStatement {
  run(...params: unknown[]): { changes: number }
  get(...params: unknown[]): unknown
  all(...params: unknown[]): unknown[]
}

/**
 * `due_at` is when the next attempt may begin; the lease of a running attempt keeps it in the future. `attempts` counts
 * those that failed. The index begins with the handler, so that the backlog of one does not slow another one's query.
 */
const tables = `
  CREATE TABLE IF NOT EXISTS event_subscription (
    handler TEXT NOT NULL PRIMARY KEY,
    type TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS event_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    payload TEXT NOT NULL,
    published_at INTEGER NOT NULL,
    traceparent TEXT
  );
  CREATE TABLE IF NOT EXISTS event_delivery (
    event INTEGER NOT NULL REFERENCES event_outbox (id),
    handler TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,
    dead_at INTEGER,
    error TEXT,
    PRIMARY KEY (event, handler)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS event_delivery_handler ON event_delivery (handler, due_at) WHERE dead_at IS NULL;
  CREATE INDEX IF NOT EXISTS event_delivery_dead ON event_delivery (dead_at) WHERE dead_at IS NOT NULL;
`

/** Creates the tables in one transaction, so that several processes may start at once. */
export function createTables(database: SqliteDatabase): void {
  database.transaction(() => database.exec(tables)).immediate()
}

/** @throws {FMOD_CORE_QUEUE_MISSING} the last of the tables is not there */
export function requireTables(database: SqliteDatabase): void {
  const find = database.prepare(
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'event_delivery'",
  )
  if (find.get() === undefined) throw new errorCodes.FMOD_CORE_QUEUE_MISSING('sqliteOutbox')
}
