/** What the SQLite store reads, prepared once. */
import type { Database } from 'better-sqlite3'
import { and, type Column, eq, getTableColumns, getTableName, lt, type SQL, sql } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { SettingScope } from '../../setting-definition.ts'
import {
  inRowOrder,
  isAfter,
  isAfterEntry,
  isNamedRow,
  isOneOf,
  isSelected,
  newestFirst,
  oldestFirst,
} from '../read-conditions.ts'
import { noRevision, parseRevision } from '../revision.ts'
import { textBytes } from '../select-history.ts'
import type { SqlReads } from '../sql-store.ts'
import type { HistoryQuery, HistoryRow, KeyCount, NewsQuery } from '../store.ts'
import { plainHistory } from './migrations.ts'
import type { SqliteTables } from './tables.ts'

export interface SqliteReads extends SqlReads {
  /** Changes whenever another connection has committed; costs a microsecond. */
  dataVersion(): unknown
}

/** Prepares the reads on an open database whose tables exist. */
export function prepareReads(client: Database, db: BetterSQLite3Database, tables: SqliteTables): SqliteReads {
  const { values, history, meta } = tables
  const dataVersion = client.prepare('pragma data_version').pluck()
  const inOrder = inRowOrder(values)
  const entryColumns = columnsOf(history)
  const user = db
    .select()
    .from(values)
    .where(and(eq(values.scope, SettingScope.User), eq(values.userId, sql.placeholder('userId'))))
    .orderBy(...inOrder)
    .prepare()
  const row = db.select().from(values).where(isNamedRow(values)).prepare()
  const userWrites = client
    .prepare<[], string>(`select value from ${getTableName(meta)} where name = 'users'`)
    .pluck()
  const writtenUsers = client
    .prepare<[number, number], string>(
      // The plus keeps SQLite from walking through all entries in the order of their users.
      `select distinct +user_id from ${getTableName(history)} where scope = 2 and seq > ? limit ?`,
    )
    .pluck()
  const others = client.prepare<[string], KeyCount>(findOthers(getTableName(values)))
  const plain = client.prepare(
    `select 1 from ${getTableName(history)} where key = ? and ${plainHistory} limit 1`,
  )

  return {
    shared: prepareShared(db, tables),
    user: (userId, key) =>
      key === undefined ? user.all({ userId }) : row.all({ scope: SettingScope.User, userId, key }),
    news: prepareNews(client, db, tables),
    // In the order of commits: there is one writer. A mark above the count is that of another file.
    userNews: (since, limit) => {
      const next = userWrites.get() ?? '0'
      if (since === undefined) return { next, userIds: [] }
      return { next, userIds: Number(since) > Number(next) ? [''] : writtenUsers.all(Number(since), limit) }
    },
    history: prepareHistory(db, history),
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
        .select(entryColumns)
        .from(history)
        .where(isAfterEntry(history, after))
        .orderBy(...oldestFirst(history))
        .limit(limit)
        .all(),
    countOthers: (keys) => others.all(JSON.stringify(keys)),
    plainHistory: (keys) => keys.filter((key) => plain.get(key) !== undefined),
    dataVersion: () => dataVersion.get(),
  }
}

function prepareShared(db: BetterSQLite3Database, { values, meta }: SqliteTables): SqlReads['shared'] {
  // One statement, so that the rows and the revision are of one moment.
  const sharedWhere = (isWanted?: SQL) =>
    db
      .select({ revision: meta.value, row: values })
      .from(meta)
      .leftJoin(values, and(lt(values.scope, SettingScope.User), isWanted))
      .where(eq(meta.name, 'revision'))
      .orderBy(...inRowOrder(values))
  const shared = sharedWhere().prepare()
  return (ids) => {
    const found = ids ? sharedWhere(isOneOf(values, ids)).all() : shared.all()
    return {
      ...(parseRevision(found[0]?.revision) ?? noRevision),
      rows: found.flatMap(({ row }) => row ?? []),
    }
  }
}

/** Where the database stands and what changed, of one moment. */
function prepareNews(
  client: Database,
  db: BetterSQLite3Database,
  { history, meta }: SqliteTables,
): SqlReads['news'] {
  const revision = client
    .prepare<[], string>(`select value from ${getTableName(meta)} where name = 'revision'`)
    .pluck()
  const changes = db
    .select(columnsOf(history))
    .from(history)
    .where(sql`${history.scope} < 2 and ${history.revision} > ${sql.placeholder('after')}`)
    .orderBy(sql`${history.revision} desc`, history.scope, history.key)
    .limit(sql.placeholder('limit'))
    .prepare()
  const token = client
    .prepare<[number], string>(
      `select token from ${getTableName(history)} where scope < 2 and revision = ? limit 1`,
    )
    .pluck()
  return client.transaction((query: NewsQuery) => ({
    ...(parseRevision(revision.get()) ?? noRevision),
    knownToken: token.get(query.after) ?? null,
    changes: changes.all({ ...query }).toReversed(),
  }))
}

function prepareHistory(db: BetterSQLite3Database, history: SqliteTables['history']): SqlReads['history'] {
  const entryColumns = columnsOf(history)
  const { revision: version, scope, userId, key } = history
  const place = { revision: version, scope, userId, key }
  const entry = db
    .select(entryColumns)
    .from(history)
    .where(and(eq(history.revision, sql.placeholder('revision')), isNamedRow(history)))
    .prepare()

  function entries(query: HistoryQuery): HistoryRow[] {
    return db
      .select(entryColumns)
      .from(history)
      .where(isSelected(history, query, isAnyOf))
      .orderBy(...newestFirst(history, query))
      .limit(query.limit)
      .all()
  }

  /** Places first, then one entry after the other: no text is read, or sorted, that does not fit into the page. */
  function page(query: HistoryQuery, maxBytes: number): HistoryRow[] {
    const places = db
      .select(place)
      .from(history)
      .where(isSelected(history, query, isAnyOf))
      .orderBy(...newestFirst(history, query))
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

  return (query) => (query.maxBytes === undefined ? entries(query) : page(query, query.maxBytes))
}

function columnsOf(history: SqliteTables['history']) {
  const { seq: _, ...columns } = getTableColumns(history)
  return columns
}

function isAnyOf(column: Column, texts: readonly string[]): SQL {
  return sql`${column} in (select value from json_each(${JSON.stringify(texts)}))`
}

/** The keys that are stored, found by one look into the index for each; then the rows of those that are not known. */
function findOthers(values: string): string {
  return `with recursive stored (key) as (
      select min(key) from ${values}
      union all
      select (select min(key) from ${values} where key > stored.key) from stored where stored.key is not null
    )
    select key, scope, count(*) as rows from ${values}
    where key in (select key from stored where key not in (select value from json_each(?)))
    group by scope, key order by scope, key`
}
