/** What maintenance needs of SQLite. */
import type { Database } from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import type { MaintenanceEngine, Statement, StatementResult, Steps } from '../maintenance.ts'
import type { SqliteTables } from '../sqlite-tables.ts'
import { immediate } from './write.ts'

const names = {
  values: ['scope', 'user_id', 'key'],
  history: ['revision', 'scope', 'user_id', 'key'],
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
    lockUser: () => [],
    noteErasure: () => [
      { text: `update ${meta} set value = value + 1 where name = 'users'`, values: [] },
      {
        text: `insert into ${history} (revision, scope, user_id, key, origin, at, seq)
          select ${now()}, 2, '', '', 'erased', ${now()}, value from ${meta} where name = 'users'
          on conflict (revision, scope, user_id, key) do update set seq = excluded.seq`,
        values: [],
      },
    ],
    transact: <T>(steps: Steps<T>) => immediate(client, () => runSteps(client, steps))(undefined),
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
