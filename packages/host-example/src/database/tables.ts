/** The tables of the application. The types are those that SQLite and PostgreSQL understand alike. */
import { sql, type SQL } from 'drizzle-orm'

/** Creates what is missing; run under a lock, because several instances may start at once. Times are ms since 1970. */
export const createTables: readonly SQL[] = [
  sql`create table if not exists accounts (
    name text primary key,
    password_hash text not null,
    permissions text not null,
    is_admin integer not null,
    is_demo integer not null
  )`,
  sql`create table if not exists sessions (
    id_hash text primary key,
    account text not null references accounts (name) on delete cascade,
    expires_at bigint not null
  )`,
  sql`create index if not exists sessions_by_account on sessions (account)`,
  sql`create table if not exists notes (
    id text primary key,
    owner text not null,
    title text not null,
    body text not null,
    is_shared integer not null,
    version integer not null,
    created_at bigint not null,
    updated_at bigint not null
  )`,
  sql`create index if not exists notes_by_owner on notes (owner, created_at)`,
  sql`create table if not exists mails (
    id text primary key,
    recipient text not null,
    subject text not null,
    sent_at bigint not null
  )`,
]
