/** What the reads need of SQLite. */
import type { Database, RunResult } from 'better-sqlite3'
import { type ExtractTablesWithRelations, getTableColumns, type SQL, sql, type SQLWrapper } from 'drizzle-orm'
import { BetterSQLiteSession } from 'drizzle-orm/better-sqlite3/session'
import { BaseSQLiteDatabase, SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type { ReadEngine } from '../reads.ts'
import { plainHistory, type SqliteTables } from '../sqlite-tables.ts'

type NoSchema = Record<string, never>

/** The engine on a connection of either driver: drizzle's own function for that imports better-sqlite3. */
export function sqliteReads(client: Database, tables: SqliteTables): ReadEngine {
  const dialect = new SQLiteSyncDialect()
  const session = new BetterSQLiteSession<NoSchema, ExtractTablesWithRelations<NoSchema>>(
    client,
    dialect,
    undefined,
  )
  const db = new BaseSQLiteDatabase<'sync', RunResult, NoSchema>('sync', dialect, session, undefined)
  const { history, meta } = tables
  const { seq, ...entry } = getTableColumns(history)
  const common = { db, tables, entry } as unknown as Pick<ReadEngine, 'db' | 'tables' | 'entry'>

  return {
    ...common,
    run: async (statement) => db.all<object>(statement),
    statement: (name) => name,
    wanted: (texts) => sql`(${keysOf(texts)}) as wanted`,
    isAnyOf: (column: SQLWrapper, texts) => sql`${column} in (${keysOf(texts)})`,
    plainHistory,
    // In the order of commits: there is one writer. The plus keeps SQLite from walking through all entries in the order
    // of their users.
    userNews: (since, limit) => sql`select ${meta.value} as next, news.user_id from ${meta} left join (
        select distinct +${history.userId} as user_id from ${history}
        where ${history.scope} = 2 and ${seq} > ${since} limit ${limit}
      ) as news on true where ${meta.name} = 'users'`,
  }
}

function keysOf(texts: readonly string[]): SQL {
  return sql`select value as key from json_each(${JSON.stringify(texts)})`
}
