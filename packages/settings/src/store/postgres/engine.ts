/** What shared reads and maintenance need of PostgreSQL. */
import { getTableColumns, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { PoolClient } from 'pg'
import { SettingScope } from '../../setting-definition.ts'
import type { MaintenanceEngine, Statement, StatementResult, Steps } from '../maintenance.ts'
import type { PostgresTables } from '../postgres-tables.ts'
import type { ReadEngine } from '../reads.ts'
import { isMention } from '../schema.ts'
import { sendTogether } from './connection.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresWriter } from './write.ts'

const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

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
    now: () => now,
    run: async (query) => (await db.execute(query)).rows,
    statement,
    wanted: (texts) => sql`unnest(${sql.param(texts)}::text[]) as wanted (key)`,
    isAnyOf: (column, texts) => sql`${column} = any (${sql.param(texts)}::text[])`,
    // Transactions below `next` had ended when the statement began; whatever was open then is read the next time. A
    // database that was restored elsewhere has entries of transactions that are still to come: they are left out.
    ownerNews: (
      since,
      limit,
    ) => sql`select pg_snapshot_xmin(pg_current_snapshot())::text as next, news.scope, news.owner
      from (select) as always left join (
        select distinct ${history.scope} as scope, ${history.owner} as owner from ${history} where ${history.scope} >= 2
          and ${xid} >= ${since}::xid8 and ${xid} < pg_snapshot_xmax(pg_current_snapshot())
        limit ${limit}
      ) as news on true`,
  }
}

export function postgresMaintenance(
  { values, history, meta, ownerLock }: PostgresNames,
  writer: PostgresWriter,
): MaintenanceEngine {
  return {
    values,
    history,
    meta,
    now: () => now,
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
