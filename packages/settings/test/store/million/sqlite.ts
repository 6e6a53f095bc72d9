/** What SQLite plans for each statement of the store. */
import Database from 'better-sqlite3'
import { silentLog } from '../../contract/case.ts'
import { callsOf, type Size } from './calls.js'
import { sqlite } from '../../support/stores.js'

export interface SqlitePlan {
  readonly call: string
  readonly milliseconds: number
  /** Statements that read all of a table, or of an index. */
  readonly scans: readonly string[]
}

/** The plans of all calls on a file with so many rows, which is empty before. */
export async function plansInSqlite(file: string, size: Size): Promise<readonly SqlitePlan[]> {
  const database = new Database(file)
  // Read as they run: the store prepares most of its statements when it opens.
  const ran = new Set<string>()
  const prepare = database.prepare.bind(database)
  Reflect.set(database, 'prepare', (text: string) => {
    const statement = prepare(text)
    for (const method of ['run', 'get', 'all'] as const) {
      const run = statement[method].bind(statement)
      Reflect.set(statement, method, (...values: unknown[]) => (ran.add(text), run(...values)))
    }
    return statement
  })
  const store = sqlite({ database })
  try {
    await store.open({ log: silentLog })
    fill(database, size)
    const plans: SqlitePlan[] = []
    for (const [call, run] of Object.entries(callsOf(store, size))) {
      ran.clear()
      const start = performance.now()
      await run()
      const milliseconds = performance.now() - start
      const scans = [...ran].filter((text) => isScan(text, stepsOf(prepare, text)))
      plans.push({ call, milliseconds, scans })
    }
    return plans
  } finally {
    await store.close()
    database.close()
  }
}

interface Step {
  readonly parent: number
  readonly detail: string
}

function stepsOf(prepare: Database.Database['prepare'], text: string): readonly Step[] {
  return prepare(`explain query plan ${text.replaceAll(/\?|[@$]\w+/g, "'1'")}`).all() as Step[]
}

/** A walk through an index in the order that is wanted ends with the limit; one for distinct values may not. */
function isScan(text: string, steps: readonly Step[]): boolean {
  const scan = steps.find(({ detail }) => /^SCAN (settings_(value|history)|[a-z]{1,2})\b/.test(detail))
  if (!scan) return false
  const isSorted = steps.some(
    ({ parent, detail }) => parent === scan.parent && detail.includes('TEMP B-TREE'),
  )
  return isSorted || text.includes('distinct') || !/ limit (?:\?|\$\d+)(\s*\) "name"\s.*)?\s*$/s.test(text)
}

function fill(database: Database.Database, { rows }: Size): void {
  const users = rows / 10
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${rows})`
  database.exec(`
    insert into settings_history (revision, scope, owner, key, new_value, origin, actor, at, seq) ${numbers}
    select n, iif(n % 100 = 0, 1, 2), iif(n % 100 = 0, '', 'u' || (n % ${users})), 'key.' || (n % 40),
      iif(n % 50 <> 1, '"x"', null), 'api', iif(n % 100 = 0, 'ann', null), n, n from numbers;
    insert into settings_value (scope, owner, key, value, revision, updated_at) ${numbers}
    select iif(n < 40, 1, 2), iif(n < 40, '', 'u' || (n % ${users})),
      iif(n < 40, 'key.' || n, iif(n % 10007 = 0, 'gone', 'key.' || (n / ${users}))), '"x"', n, n from numbers;
    update settings_meta set value = '${rows}' where name in ('revision', 'users')`)
}
