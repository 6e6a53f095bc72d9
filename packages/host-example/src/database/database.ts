/** The one port behind which this application keeps its data, and its tables: the same statements run on SQLite and on PostgreSQL. */
import type { DomainEvent, Events } from '@fastify-modular/core'
import { DrizzleError, DrizzleQueryError, type SQL, sql } from 'drizzle-orm'
import { accountsTable, type Query } from '../accounts.ts'
import { sessionTables } from '../session-store.ts'

/** A row as the driver returns it: the store that reads it parses it. */
export type Row = Readonly<Record<string, unknown>>

export interface Database {
  /** The rows of a SELECT or of a statement with RETURNING. */
  rows(statement: SQL): Promise<readonly Row[]>
  /** Runs a statement that returns nothing. */
  run(statement: SQL): Promise<void>
  /** Runs the statements in one transaction: all of them, or none. */
  runAll(statements: readonly SQL[]): Promise<void>
  /** For accounts and sessions, which bring their own SQL. */
  readonly query: Query
  /**
   * Runs a statement with RETURNING and publishes what it did, in one transaction: either both happened or neither.
   * `eventOf` gives the event of a row.
   */
  publishing(statement: SQL, events: Events, eventOf: (row: Row) => DomainEvent): Promise<readonly Row[]>
  close(): Promise<void>
}

/** The driver's own error: the message of drizzle's holds the parameters of the statement, which must not be logged. */
export function withoutParameters(error: unknown): unknown {
  const isDrizzles = error instanceof DrizzleQueryError || error instanceof DrizzleError
  return isDrizzles && error.cause ? error.cause : error
}

const noteColumns = sql`
  id text primary key,
  owner text not null,
  title text not null,
  body text not null,
  is_shared integer not null,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null`

/**
 * Creates the tables that are missing, in types that both databases have. Run it under a lock: several instances may
 * start at once. Times are ms since 1970.
 */
export const createTables: readonly SQL[] = [
  ...[accountsTable, ...sessionTables].map((statement) => sql.raw(statement)),
  sql`create table if not exists notes (${noteColumns})`,
  sql`create index if not exists notes_by_owner on notes (owner, created_at)`,
  // Kept for a while, so that a removal can be undone.
  sql`create table if not exists removed_notes (${noteColumns}, removed_at bigint not null)`,
  sql`create index if not exists removed_notes_by_time on removed_notes (removed_at)`,
  sql`create table if not exists mails (
    id text primary key,
    recipient text not null,
    subject text not null,
    sent_at bigint not null
  )`,
]
