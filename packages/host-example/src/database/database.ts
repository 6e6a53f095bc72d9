/** The one port behind which this application keeps its data: the same statements run on SQLite and on PostgreSQL. */
import type { DomainEvent, Events } from '@fastify-modular/core'
import type { SQL } from 'drizzle-orm'

/** A row as the driver gives it: parsed by the store that asked. */
export type Row = Readonly<Record<string, unknown>>

export interface Database {
  /** The rows of a SELECT or of a statement with RETURNING. */
  rows(statement: SQL): Promise<readonly Row[]>
  /** Runs a statement that returns nothing. */
  run(statement: SQL): Promise<void>
  /** Runs the statements in one transaction: all of them, or none. */
  runAll(statements: readonly SQL[]): Promise<void>
  /** Ends a SELECT whose rows must stay as they are until its transaction ends. Empty where writers take turns. */
  readonly forShare: SQL
  /**
   * Runs a statement with RETURNING and publishes what it did, in one transaction: either both happened or neither.
   * `eventOf` gives the event of a row.
   */
  publishing(statement: SQL, events: Events, eventOf: (row: Row) => DomainEvent): Promise<readonly Row[]>
  close(): Promise<void>
}
