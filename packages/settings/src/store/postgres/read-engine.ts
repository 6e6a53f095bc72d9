/** What the reads need of PostgreSQL. */
import { getTableColumns, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { ReadEngine } from '../reads.ts'
import type { PostgresNames } from './names.ts'
import { plainHistory, type PostgresTables } from '../postgres-tables.ts'

export function postgresReads(
  db: NodePgDatabase,
  tables: PostgresTables,
  { statement }: PostgresNames,
): ReadEngine {
  const { history } = tables
  const { xid, ...entry } = getTableColumns(history)
  return {
    db,
    tables,
    entry,
    run: async (query) => (await db.execute(query)).rows,
    statement,
    wanted: (texts) => sql`unnest(${sql.param(texts)}::text[]) as wanted (key)`,
    isAnyOf: (column, texts) => sql`${column} = any (${sql.param(texts)}::text[])`,
    plainHistory,
    // Transactions below `next` had ended when the statement began; whatever was open then is read the next time. A
    // database that was restored elsewhere has entries of transactions that are still to come: they are left out.
    userNews: (since, limit) => sql`select pg_snapshot_xmin(pg_current_snapshot())::text as next, news.user_id
      from (select) as always left join (
        select distinct ${history.userId} as user_id from ${history} where ${history.scope} = 2
          and ${xid} >= ${since}::xid8 and ${xid} < pg_snapshot_xmax(pg_current_snapshot())
        limit ${limit}
      ) as news on true`,
  }
}
