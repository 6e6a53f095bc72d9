/** What the SQLite store reads, prepared once. */
import type { Database } from 'better-sqlite3'
import { and, eq, getTableName, lt, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { SettingScope } from '../../setting-definition.ts'
import {
  inRowOrder,
  isAfter,
  isAfterEntry,
  isNamedRow,
  isSelected,
  newestFirst,
  oldestFirst,
} from '../read-conditions.ts'
import { textBytes } from '../row-id.ts'
import type { HistoryId, HistoryQuery, HistoryRow, RowId, StoredRow, StoreState } from '../store.ts'
import { plainHistory } from './migrations.ts'
import type { SqliteTables } from './tables.ts'

export interface SqliteReads {
  row(id: RowId): StoredRow | undefined
  shared(): { readonly revision: number; readonly rows: readonly StoredRow[] }
  user(userId: string): StoredRow[]
  revision(): number
  state(known: number): Omit<StoreState, 'epoch'>
  history(query: HistoryQuery): HistoryRow[]
  scan(after: RowId | null, limit: number): StoredRow[]
  scanHistory(after: HistoryId | null, limit: number): HistoryRow[]
  hasPlainHistory(key: string): boolean
  /** Changes whenever another connection has committed; costs a microsecond. */
  dataVersion(): unknown
}

/** Prepares the reads on an open database whose tables exist. */
export function prepareReads(
  client: Database,
  db: BetterSQLite3Database,
  { values, history, meta }: SqliteTables,
): SqliteReads {
  const dataVersion = client.prepare('pragma data_version').pluck()
  const inOrder = inRowOrder(values)
  const isRevision = eq(meta.name, 'revision')
  // Without drizzle, whose mapping costs as much as the statement, and as arrays: a bulk runs it for each of its rows.
  const row = client
    .prepare<[number, string, string], ValueRecord>(
      `select value, sealed, revision, updated_at, updated_by from ${getTableName(values)}
     where scope = ? and user_id = ? and key = ?`,
    )
    .raw()
  const user = db
    .select()
    .from(values)
    .where(and(eq(values.scope, SettingScope.User), eq(values.userId, sql.placeholder('userId'))))
    .orderBy(...inOrder)
    .prepare()
  // One statement, so that the rows and the revision are of one moment.
  const shared = db
    .select({ revision: meta.value, row: values })
    .from(meta)
    .leftJoin(values, lt(values.scope, SettingScope.User))
    .where(isRevision)
    .orderBy(...inOrder)
    .prepare()
  const revision = client
    .prepare<[], string>(`select value from ${getTableName(meta)} where name = 'revision'`)
    .pluck()
  const atOf = (written: string): string =>
    `(select at from ${getTableName(history)} where revision = ${written} limit 1)`
  const state = client
    .prepare<[number], readonly [string, number | null, number | null]>(
      `select value, ${atOf('cast(value as integer)')}, ${atOf('?')}
       from ${getTableName(meta)} where name = 'revision'`,
    )
    .raw()
  const plain = client.prepare(
    `select 1 from ${getTableName(history)} where key = ? and ${plainHistory} limit 1`,
  )

  const order = newestFirst(history)
  // As expressions, because drizzle knows no table with a hint.
  const place = {
    revision: sql<number>`${history.revision}`,
    scope: sql<SettingScope>`${history.scope}`,
    userId: sql<string>`${history.userId}`,
    key: sql<string>`${history.key}`,
  }
  const entry = db
    .select()
    .from(history)
    .where(and(eq(history.revision, sql.placeholder('revision')), isNamedRow(history)))
    .prepare()

  function entries(query: HistoryQuery): HistoryRow[] {
    return db
      .select()
      .from(history)
      .where(isSelected(history, query))
      .orderBy(...order)
      .limit(query.limit)
      .all()
  }

  /** Places first, then one entry after the other: no text is read, or sorted, that does not fit into the page. */
  function page(query: HistoryQuery, maxBytes: number): HistoryRow[] {
    // Without a key the entries stand in the table as they are wanted; its index would have to be sorted.
    const table = query.key === undefined ? sql`${history} not indexed` : history
    const places = db
      .select(place)
      .from(table)
      .where(isSelected(history, query))
      .orderBy(...order)
      .limit(query.limit)
      .all()
    const rows: HistoryRow[] = []
    let bytes = 0
    for (const each of places) {
      const row = entry.get({ ...each })
      if (!row) continue // another process has just trimmed it
      bytes += textBytes(row)
      if (rows.length > 0 && bytes > maxBytes) break
      rows.push(row)
    }
    return rows
  }

  return {
    row: (id) => {
      const record = row.get(id.scope, id.userId, id.key)
      return record && toRow(id, record)
    },
    shared: () => {
      const found = shared.all()
      return { revision: Number(found[0]?.revision ?? 0), rows: found.flatMap((each) => each.row ?? []) }
    },
    user: (userId) => user.all({ userId }),
    revision: () => Number(revision.get() ?? 0),
    state: (known) => {
      const [current, at, knownAt] = state.get(known) ?? [0, null, null]
      return { revision: Number(current), at, knownAt }
    },
    history: (query) => (query.maxBytes === undefined ? entries(query) : page(query, query.maxBytes)),
    scan: (after, limit) =>
      db
        .select()
        .from(values)
        .where(isAfter(values, after))
        .orderBy(...inOrder)
        .limit(limit)
        .all(),
    scanHistory: (after, limit) =>
      db
        .select()
        .from(history)
        .where(isAfterEntry(history, after))
        .orderBy(...oldestFirst(history))
        .limit(limit)
        .all(),
    hasPlainHistory: (key) => plain.get(key) !== undefined,
    dataVersion: () => dataVersion.get(),
  }
}

/** A row of settings_value without its name, as the driver gives it. */
type ValueRecord = readonly [
  value: string,
  sealed: number,
  revision: number,
  updatedAt: number,
  updatedBy: string | null,
]

function toRow({ scope, userId, key }: RowId, record: ValueRecord): StoredRow {
  const [value, sealed, revision, updatedAt, updatedBy] = record
  return { scope, userId, key, value, sealed: sealed === 1, revision, updatedAt, updatedBy }
}
