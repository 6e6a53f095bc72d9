/** Statements for SQL databases: what differs between the engines, and the rows that are selected. */
import type { SQL } from 'drizzle-orm'
import { CasingCache } from 'drizzle-orm/casing'
import type { SettingScope } from '../setting-definition.ts'
import type { HistoryRow, Owner, StoredRow } from './store.ts'

export interface Statement {
  /** With the parameters `$1`, `$2`, … */
  readonly text: string
  readonly values: readonly unknown[]
  /** Of a statement that is kept prepared: its text is the same each time. */
  readonly name?: string
}

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>

/** What a statement found, or how many rows it changed. */
export interface StatementResult {
  readonly rows: readonly SqlRow[]
  readonly changed: number
}

/** Statements of one transaction. A generator, because one driver answers at once and the other one later. */
export type Steps<T> = Generator<readonly Statement[], T, readonly StatementResult[]>

/** Tables, ready for SQL. */
export interface TableNames {
  readonly values: string
  readonly history: string
  readonly meta: string
}

/** What differs between the engines. */
export interface SqlEngine {
  readonly tables: TableNames
  /** The time in milliseconds, as SQL. */
  readonly now: () => string
  /** Runs a statement that reads. */
  readonly read: (statement: Statement) => Promise<readonly SqlRow[]>
  /** Texts as a table `wanted` with the column `key`; they are one parameter, since there may be many. */
  readonly wanted: (texts: readonly string[]) => SQL
  /** Whether an expression has one of these texts. */
  readonly isAnyOf: (expression: string, texts: readonly string[]) => SQL
  /** Selects the mark `next` with each `scope` and `owner` that was written since a mark, or none. */
  readonly ownerNews: (since: string | null, limit: number) => Statement
  /** Whether a row is one of those that a statement selects; it gets the columns that identify a row, of the table `o`. */
  readonly isOneOf: (table: 'values' | 'history', select: (id: string) => string) => string
  /** Joins entries of history, as the table `o`, found for one row after the other. */
  readonly lookUp: (condition: string) => string
  /** Locks an owner out, and the rows that name a user as their writer, in the order in which writers lock them. */
  readonly lockOwner: (owner: Owner, limit: number) => readonly Statement[]
  /** Notes, for processes that watch, that somebody was erased: they forget all owners. */
  readonly noteErasure: () => readonly Statement[]
  /** Runs a transaction, from its beginning as often as it takes, that holds the lock of System and Application writes: these tasks take turns in all processes. */
  readonly transact: <T>(begin: () => Steps<T>) => T | Promise<T>
}

const spelling = {
  casing: new CasingCache(),
  escapeName: (name: string) => `"${name}"`,
  escapeParam: (index: number) => `$${index + 1}`,
  escapeString: (text: string) => `'${text.replaceAll("'", "''")}'`,
}

/** What drizzle has put together, ready for a driver. */
export function toStatement(query: SQL): Statement {
  const { sql: text, params: values } = query.toQuery(spelling)
  return { text, values }
}

/** What `toStoredRow` reads, of the table or alias `v`. */
export const valueColumns =
  'v.scope, v.owner, v.key, v.value, v.encrypted, v.revision, v.updated_at, v.updated_by'

/** What `toHistoryRow` reads, of the table or alias `h`. */
export const historyColumns = `h.revision, h.scope, h.owner, h.key, h.old_value, h.old_encrypted, h.new_value, h.new_encrypted,
  h.origin, h.actor, h.request_id, h.note, h.at, h.token, h.set_size`

// SQLite has numbers for flags; PostgreSQL's driver reads large numbers as texts. The columns have their types by `schema.ts`.

/** The row whose `valueColumns` were selected. */
export function toStoredRow(row: SqlRow): StoredRow {
  return {
    scope: row['scope'] as SettingScope,
    owner: row['owner'] as string,
    key: row['key'] as string,
    value: row['value'] as string,
    encrypted: Boolean(row['encrypted']),
    revision: Number(row['revision']),
    updatedAt: Number(row['updated_at']),
    updatedBy: row['updated_by'] as string | null,
  }
}

/** The row whose `historyColumns` were selected. */
export function toHistoryRow(row: SqlRow): HistoryRow {
  return {
    revision: Number(row['revision']),
    scope: row['scope'] as SettingScope,
    owner: row['owner'] as string,
    key: row['key'] as string,
    oldValue: row['old_value'] as string | null,
    oldEncrypted: Boolean(row['old_encrypted']),
    newValue: row['new_value'] as string | null,
    newEncrypted: Boolean(row['new_encrypted']),
    origin: row['origin'] as string,
    actor: row['actor'] as string | null,
    requestId: row['request_id'] as string | null,
    note: row['note'] as string | null,
    at: Number(row['at']),
    token: row['token'] as string,
    setSize: Number(row['set_size']),
  }
}
