/** What the statements of all engines need of PostgreSQL. */
import { type SQL, sql } from 'drizzle-orm'
import type { Pool, PoolClient } from 'pg'
import { SettingScope } from '../../setting-definition.ts'
import { isMention } from '../schema.ts'
import type { SqlEngine, SqlRow, Statement, StatementResult, Steps } from '../statements.ts'
import { sendTogether } from './connection.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresWriter } from './write.ts'

const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

export function postgresEngine(pool: Pool, names: PostgresNames, writer: PostgresWriter): SqlEngine {
  const { values, history, ownerLock } = names
  return {
    tables: names,
    now: () => now,
    async read({ text, values, name }) {
      const prepared = name === undefined ? {} : { name: names.statement(name) }
      return (await pool.query<SqlRow>({ text, values: [...values], ...prepared })).rows
    },
    wanted,
    isAnyOf: (expression, texts) => sql`${sql.raw(expression)} = any (${sql.param(texts)}::text[])`,
    // Transactions below `next` had ended when the statement began; whatever was open then is read the next time. A
    // database that was restored elsewhere has entries of transactions that are still to come: they are left out.
    ownerNews: (since, limit) => ({
      text: `select pg_snapshot_xmin(pg_current_snapshot())::text as next, news.scope, news.owner
        from (select) as always left join (
          select distinct h.scope, h.owner from ${history} h where h.scope >= 2
            and h.xid >= $1::xid8 and h.xid < pg_snapshot_xmax(pg_current_snapshot())
          limit $2
        ) as news on true`,
      values: [since, limit],
    }),
    isOneOf: (_table, select) => `ctid = any (array(${select('o.ctid')}))`,
    lookUp: (condition) =>
      `cross join lateral (select o.ctid from ${history} o where ${condition} offset 0) as o`,
    // The rows by a statement of its own: one that waits for a lock does not find what it has waited for by its ctid.
    lockOwner: (owner, limit) => [
      { text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))', values: [ownerLock(owner)] },
      ...(owner.scope === SettingScope.User ? [lockMentions(values, owner.id, limit)] : []),
    ],
    noteErasure: () => [
      {
        text: `insert into ${history} (revision, scope, owner, key, origin, at)
          values (${now}, 2, '', '', 'erased', ${now})
          on conflict (revision, scope, owner, key) do update set xid = pg_current_xact_id()`,
        values: [],
      },
    ],
    transact: (begin) => writer.underLock((client) => runSteps(client, begin())),
  }
}

/** Texts as a table. */
export function wanted(texts: readonly string[]): SQL {
  return sql`unnest(${sql.param(texts)}::text[]) as wanted (key)`
}

function lockMentions(values: string, userId: string, limit: number): Statement {
  const text = `select from ${values} where updated_by = $1 and ${isMention('updated_by')}
    order by scope, owner, key limit ${limit} for update`
  return { text, values: [userId] }
}

async function runSteps<T>(client: PoolClient, steps: Steps<T>): Promise<T> {
  let step = steps.next()
  while (!step.done) {
    const statements = step.value.map(({ text, values }) => ({ text, values: [...values] }))
    const results = await sendTogether(client, statements)
    step = steps.next(
      results.map(({ rows, rowCount }): StatementResult => ({ rows, changed: rowCount ?? 0 })),
    )
  }
  return step.value
}
