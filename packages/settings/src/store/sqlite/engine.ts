/** What the statements of all engines need of SQLite. */
import type { Database } from 'better-sqlite3'
import { type SQL, sql } from 'drizzle-orm'
import {
  type SqlEngine,
  type SqlRow,
  type Statement,
  type StatementResult,
  type Steps,
  type TableNames,
} from '../statements.ts'
import { immediate, preparing } from './write.ts'

const identity = {
  values: ['scope', 'owner', 'key'],
  history: ['revision', 'scope', 'owner', 'key'],
} as const

/**
 * Copies of texts that were encrypted stay in free space of the file until it is vacuumed, even with `secure_delete`: it
 * does not overwrite what SQLite moves between pages.
 */
export function sqliteEngine(client: Database, tables: TableNames): SqlEngine {
  const { history, meta } = tables
  const now = (): string => String(Date.now())
  const prepare = preparing(client)

  return {
    tables,
    now,
    read: async ({ text, values, name }) => {
      const statement = name === undefined ? client.prepare(text) : prepare(text)
      return statement.all(namedOf(values)) as SqlRow[]
    },
    wanted: (texts) => sql`(${keysOf(texts)}) as wanted`,
    isAnyOf: (expression, texts) => sql`${sql.raw(expression)} in (${keysOf(texts)})`,
    // In the order of commits: there is one writer. The plus keeps SQLite from walking through all entries in the order
    // of their owners.
    ownerNews: (since, limit) => ({
      text: `select m.value as next, news.scope, news.owner from ${meta} m left join (
          select distinct +h.scope as scope, +h.owner as owner from ${history} h
          where h.scope >= 2 and h.seq > $1 limit $2
        ) as news on true where m.name = 'owned'`,
      values: [since, limit],
    }),
    isOneOf: (table, select) =>
      `(${identity[table].join(', ')}) in (${select(identity[table].map((name) => `o.${name}`).join(', '))})`,
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
    transact: (begin) => immediate(client, () => runSteps(client, begin())),
  }
}

function keysOf(texts: readonly string[]): SQL {
  return sql`select value as key from json_each(${JSON.stringify(texts)})`
}

/** Parameters by name: node:sqlite takes numbered ones for named ones. */
function namedOf(values: readonly unknown[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    values.map((value, index) => [index + 1, typeof value === 'boolean' ? Number(value) : value]),
  )
}

function runSteps<T>(client: Database, steps: Steps<T>): T {
  const run = ({ text, values }: Statement): StatementResult => {
    const statement = client.prepare(text)
    return text.startsWith('select')
      ? { rows: statement.all(namedOf(values)) as SqlRow[], changed: 0 }
      : { rows: [], changed: statement.run(namedOf(values)).changes }
  }
  let step = steps.next()
  while (!step.done) step = steps.next(step.value.map(run))
  return step.value
}
