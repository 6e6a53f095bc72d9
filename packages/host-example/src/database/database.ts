/** The one port behind which this application keeps its data, and its tables: the same statements run on SQLite and on PostgreSQL. */
import type { DomainEvent, Events, EventsOptions } from '@fastify-modular/core'
import type { SettingsStore } from '@fastify-modular/settings'
import { accountsTable, type Query } from '../accounts.ts'
import { sessionTables } from '../session-store.ts'

/** A row as the driver returns it: the store that reads it parses it. */
export type Row = Awaited<ReturnType<Query>>[number]

/** A statement and its parameters. */
export type Statement = Parameters<Query>

/** The event of a row that a statement returns. */
export interface Publishing {
  readonly events: Events
  readonly eventOf: (row: Row) => DomainEvent
}

export interface Database {
  readonly query: Query
  /**
   * Runs the statements and publishes the event of each row that they return, in one transaction: all of it happened, or
   * nothing. Returns the rows.
   */
  write(statements: readonly Statement[], publishing?: Publishing): Promise<readonly Row[]>
  /** The store of settings and the transport of events on the same connections. */
  readonly settingsStore: SettingsStore
  readonly eventTransport: NonNullable<EventsOptions['transport']>
  close(): Promise<void>
}

/**
 * Creates the tables that are missing, in types that both databases have. Run it under a lock: several instances may
 * start at once. Times are ms since 1970.
 */
export const createTables: readonly string[] = [
  accountsTable,
  ...sessionTables,
  `create table if not exists notes (
    id text primary key,
    owner text not null,
    title text not null,
    body text not null,
    is_shared integer not null,
    version integer not null,
    created_at bigint not null,
    updated_at bigint not null,
    removed_at bigint -- kept for a while, so that a removal can be undone
  )`,
  'create index if not exists notes_by_owner on notes (owner, created_at)',
  'create index if not exists notes_by_removal on notes (removed_at)',
  `create table if not exists mails (
    id text primary key,
    recipient text not null,
    subject text not null,
    sent_at bigint not null
  )`,
]
