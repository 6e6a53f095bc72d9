/** What maintenance needs of PostgreSQL. */
import type { PoolClient } from 'pg'
import type { MaintenanceEngine, StatementResult, Steps } from '../maintenance.ts'
import { sendTogether } from './connection.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresWriter } from './write.ts'

const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

export function postgresMaintenance(
  { values, history, meta, userLock }: PostgresNames,
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
    lockUser: (userId, limit) => [
      { text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))', values: [userLock(userId)] },
      {
        text: `select from ${values} where updated_by = $1 and updated_by <> user_id
          order by scope, user_id, key limit ${limit} for update`,
        values: [userId],
      },
    ],
    noteErasure: () => [
      {
        text: `insert into ${history} (revision, scope, user_id, key, origin, at)
          values (${now}, 2, '', '', 'erased', ${now})
          on conflict (revision, scope, user_id, key) do update set xid = pg_current_xact_id()`,
        values: [],
      },
    ],
    transact: (steps) => writer.underLock((client) => runSteps(client, steps)),
  }
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
