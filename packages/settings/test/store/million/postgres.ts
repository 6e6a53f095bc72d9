/** What PostgreSQL plans for each statement of the store, and how many pages it reads. */
import { Pool, type PoolClient } from 'pg'
import { silentLog } from '../../contract/case.ts'
import { callsOf, type Size } from './calls.js'
import { postgres } from '../../support/stores.js'

/** One statement in one way of planning it. */
export interface Plan {
  readonly call: string
  /** With the parameters of the call, or for any. */
  readonly way: 'custom' | 'generic'
  readonly text: string
  /** Tables of which all rows, or all of an index, are read. */
  readonly scanned: readonly string[]
  /** Pages of 8 KiB that were read, where the statement could be run again. */
  readonly pages: number
  readonly milliseconds: number
}

/** The plans of all calls on a database with so many rows. The URL is of an empty database. */
export async function plansInPostgres(url: string, size: Size): Promise<readonly Plan[]> {
  const pool = new Pool({ connectionString: url })
  const statements: Statement[] = []
  pool.on('connect', (client) => record(client, statements))
  const explaining = new Pool({ connectionString: url, max: 1 })
  // The server may stop before the last connection is gone.
  for (const each of [pool, explaining]) each.on('error', () => {})
  const store = postgres({ pool })
  try {
    await store.open({ log: silentLog })
    await fill(explaining, size)
    const plans: Plan[] = []
    for (const [call, run] of Object.entries(callsOf(store, size))) {
      statements.length = 0
      await run()
      for (const statement of statements.filter(({ text }) => /settings_(value|history)/.test(text)))
        plans.push(...(await explain(explaining, call, statement)))
    }
    return plans
  } finally {
    await store.close()
    await pool.end()
    await explaining.end()
  }
}

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

function record(client: PoolClient, statements: Statement[]): void {
  const query = client.query.bind(client)
  Reflect.set(client, 'query', (...args: Parameters<typeof query>) => {
    const [config, values] = args as unknown[]
    const text = typeof config === 'string' ? config : String(Reflect.get(Object(config), 'text'))
    const own: unknown = Array.isArray(values) ? values : Reflect.get(Object(config), 'values')
    statements.push({ text, values: Array.isArray(own) ? own : [] })
    return query(...args)
  })
}

async function fill(pool: Pool, { rows }: Size): Promise<void> {
  const users = rows / 10
  await pool.query(`
    insert into settings_history (revision, scope, owner, key, new_value, origin, actor, at)
    select n, case when n % 100 = 0 then 1 else 2 end, case when n % 100 = 0 then '' else 'u' || n % ${users} end,
      'key.' || n % 40, case when n % 50 <> 1 then '"x"' end, 'api', case when n % 100 = 0 then 'ann' end, n
    from generate_series(1, ${rows}) as n;
    insert into settings_value (scope, owner, key, value, revision, updated_at)
    select case when n < 40 then 1 else 2 end, case when n < 40 then '' else 'u' || n % ${users} end,
      case when n < 40 then 'key.' || n when n % 10007 = 0 then 'gone' else 'key.' || n / ${users} end, '"x"', n, n
    from generate_series(1, ${rows}) as n;
    update settings_meta set value = '${rows}' where name = 'revision'`)
  await pool.query('vacuum analyze settings_history')
  await pool.query('vacuum analyze settings_value')
}

async function explain(pool: Pool, call: string, { text, values }: Statement): Promise<Plan[]> {
  const client = await pool.connect()
  const planOf = async (statement: string, parameters: readonly unknown[] = []): Promise<unknown> =>
    (await client.query(statement, [...parameters])).rows[0]?.['QUERY PLAN'][0].Plan
  // What was inserted once cannot be inserted again.
  const how = text.includes('insert into') ? 'format json' : 'analyze, buffers, format json'
  const nulls = Array.from(new Set(text.match(/\$\d+/g)), () => 'null').join(', ')
  try {
    await client.query('begin')
    const start = performance.now()
    const custom = await planOf(`explain (${how}) ${text}`, values)
    const milliseconds = performance.now() - start
    await client.query(`set local plan_cache_mode = force_generic_plan; prepare any_call as ${text}`)
    const generic = await planOf(`explain (format json) execute any_call${nulls && `(${nulls})`}`)
    await client.query('rollback; deallocate any_call')
    return [
      { call, text, way: 'custom', ...judge(custom), milliseconds },
      { call, text, way: 'generic', ...judge(generic), milliseconds: 0 },
    ]
  } finally {
    client.release()
  }
}

/** Which tables a plan walks through, and the pages it counted. */
function judge(node: unknown): Pick<Plan, 'scanned' | 'pages'> {
  const member = (name: string): unknown => Reflect.get(Object(node), name)
  const children = member('Plans')
  const below = (Array.isArray(children) ? children : []).map(judge)
  const isScan =
    member('Node Type') === 'Seq Scan' && /^settings_(value|history)$/.test(String(member('Relation Name')))
  return {
    scanned: [
      ...(isScan ? [String(member('Relation Name'))] : []),
      ...below.flatMap(({ scanned }) => scanned),
    ],
    pages: Number(member('Shared Hit Blocks') ?? 0) + Number(member('Shared Read Blocks') ?? 0),
  }
}
