/** What shared reads and maintenance need of SQLite. */
import type { Database, RunResult } from 'better-sqlite3'
import {
  type ExtractTablesWithRelations,
  getTableColumns,
  getTableName,
  type SQL,
  sql,
  type SQLWrapper,
} from 'drizzle-orm'
import { BetterSQLiteSession } from 'drizzle-orm/better-sqlite3/session'
import { BaseSQLiteDatabase, SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type { MaintenanceEngine, Statement, StatementResult, Steps } from '../maintenance.ts'
import type { ReadEngine } from '../reads.ts'
import type { SqliteTables } from '../sqlite-tables.ts'
import { immediate } from './write.ts'

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
    now: () => String(Date.now()),
    run: async (statement) => db.all<object>(statement),
    statement: (name) => name,
    wanted: (texts) => sql`(${keysOf(texts)}) as wanted`,
    isAnyOf: (column: SQLWrapper, texts) => sql`${column} in (${keysOf(texts)})`,
    // In the order of commits: there is one writer. The plus keeps SQLite from walking through all entries in the order
    // of their owners.
    ownerNews: (
      since,
      limit,
    ) => sql`select ${meta.value} as next, news.scope, news.owner from ${meta} left join (
        select distinct +${history.scope} as scope, +${history.owner} as owner from ${history}
        where ${history.scope} >= 2 and ${seq} > ${since} limit ${limit}
      ) as news on true where ${meta.name} = 'owned'`,
  }
}

function keysOf(texts: readonly string[]): SQL {
  return sql`select value as key from json_each(${JSON.stringify(texts)})`
}

const names = {
  values: ['scope', 'owner', 'key'],
  history: ['revision', 'scope', 'owner', 'key'],
} as const

/**
 * Copies of texts that were encrypted stay in free space of the file until it is vacuumed, even with `secure_delete`: it
 * does not overwrite what SQLite moves between pages.
 */
export function sqliteMaintenance(client: Database, tables: SqliteTables): MaintenanceEngine {
  const meta = getTableName(tables.meta)
  const history = getTableName(tables.history)
  const now = (): string => String(Date.now())

  return {
    values: getTableName(tables.values),
    history,
    meta,
    now,
    isOneOf: (table, select) =>
      `(${names[table].join(', ')}) in (${select(names[table].map((name) => `o.${name}`).join(', '))})`,
    lookUp: (condition) => `cross join ${history} o on ${condition}`,
    lockOwner: () => [],
    noteErasure: () => [
      { text: `update ${meta} set value = value + 1 where name = 'owned'`, values: [] },
      {
        text: `insert into ${history} (revision, scope, owner, key, origin, at, seq)
          select ${now()}, 2, '', '', 'erased', ${now()}, value from ${meta} where name = 'owned'
          on conflict (revision, scope, owner, key) do update set seq = excluded.seq`,
        values: [],
      },
    ],
    transact: <T>(begin: () => Steps<T>) => immediate(client, () => runSteps(client, begin()))(undefined),
  }
}

function runSteps<T>(client: Database, steps: Steps<T>): T {
  const run = ({ text, values }: Statement): StatementResult => {
    const statement = client.prepare(text)
    // By name: node:sqlite takes numbered parameters for named ones.
    const parameters = Object.fromEntries(
      values.map((value, index) => [index + 1, typeof value === 'boolean' ? Number(value) : value]),
    )
    return text.startsWith('select')
      ? { rows: statement.all(parameters) as StatementResult['rows'], changed: 0 }
      : { rows: [], changed: statement.run(parameters).changes }
  }
  let step = steps.next()
  while (!step.done) step = steps.next(step.value.map(run))
  return step.value
}
