/** Writes of users in PostgreSQL: what they wait for, what they send, and who hears of them (decision 66). */
import { SettingScope } from '@fastify-modular/settings'
import { Pool } from 'pg'
import { type Test, test } from 'tap'
import { payloadOf } from '#src/store/postgres/listen.js'
import { postgresNames } from '#src/store/postgres/names.js'
import { writeStatements } from '#src/store/postgres/write-statements.js'
import { user, change, nextMillisecond, rowId, set, trimAll, until, writeAll } from '../../contract/case.ts'
import { type StoreWatch, ownerHash } from '#src/store/store.js'
import { startHeldWrite } from './held-write.js'
import { newPool, openStore, patient } from './open-store.js'

/** A store, and the statements that it sends from then on. */
async function openRecorded(t: Test, pool: Pool) {
  const recorded = new Pool({ ...pool.options, connectionString: pool.options.connectionString, max: 4 })
  recorded.on('error', () => {})
  t.teardown(() => recorded.end())
  const statements: string[] = []
  /** The statements of each connection in their order. */
  const byConnection: string[][] = []
  recorded.on('connect', (client) => {
    const own: string[] = []
    byConnection.push(own)
    const query = client.query.bind(client)
    Reflect.set(client, 'query', (...args: Parameters<typeof query>) => {
      const [statement] = args as unknown[]
      const text = typeof statement === 'string' ? statement : String(Reflect.get(Object(statement), 'text'))
      statements.push(text)
      own.push(text)
      return query(...args)
    })
  })
  const store = await openStore(t, recorded, { announceWindow: 1000 })
  statements.length = 0
  return { store, statements, byConnection }
}

test('a write of a user waits for no other user and for no shared write, and they do not wait for it', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  const open = startHeldWrite(store, 'u1')
  await open.ready
  await set(store, rowId('a', 'u2'), '1')
  await set(store, 'a', '1')
  const other = await pool.connect()
  await other.query('begin')
  await other.query(`select * from settings_meta where name = 'revision' for update`)
  await set(store, rowId('a', 'u3'), '1')
  await other.query('rollback')
  other.release()
  open.finish()
  await open.written
  t.equal((await store.owned.read(user('u1'))).length, 1)
})

test('no write notifies in its transaction; those of many users are announced together', async (t) => {
  const pool = await newPool(t)
  const { store, statements, byConnection } = await openRecorded(t, pool)
  const count = (text: string): number => statements.filter((statement) => statement.startsWith(text)).length
  await Promise.all(Array.from({ length: 40 }, (_, index) => set(store, rowId('a', `u${index}`), '1')))
  await until('the announcement', () => count('select pg_notify') > 0)
  t.equal(count('commit'), 40, 'one transaction a write')
  t.ok(count('select pg_notify') < 20)
  const announced = count('select pg_notify')
  await set(store, 'a', '1')
  await until('the revision', () => count('select pg_notify') > announced)
  t.equal(count('commit'), 41)
  t.equal(count('rollback'), 0)
  for (const own of byConnection) {
    for (const [index, statement] of own.entries())
      if (statement.includes('notify')) t.notMatch(own.slice(0, index).findLast(isBoundary), /^begin/)
  }
})

function isBoundary(statement: string): boolean {
  return /^(begin|commit|rollback)/.test(statement)
}

test('an instance is notified of what others wrote, not of its own', async (t) => {
  const pool = await newPool(t)
  const [one, two] = [await openStore(t, pool), await openStore(t, pool)]
  const heard = { one: new Set<unknown>(), two: new Set<unknown>() }
  const watch = (into: Set<unknown>): StoreWatch => ({
    onHint: (hint) => void into.add(hint?.revision),
    onOwners: (hashes) => hashes?.forEach((hash) => into.add(hash)),
    onLost: (error) => t.fail(String(error)),
  })
  const stops = [await one.watch?.(watch(heard.one)), await two.watch?.(watch(heard.two))]
  await set(one, 'a', '1')
  await set(one, rowId('a', 'u1'), '1')
  await until('the news', () => heard.two.has(1) && heard.two.has(ownerHash(user('u1'))))
  await set(two, rowId('a', 'u2'), '1')
  await until('news of the other one', () => heard.one.has(ownerHash(user('u2'))))
  t.notOk(heard.one.has(1) || heard.one.has(ownerHash(user('u1'))))
  for (const stop of stops) await stop?.()
})

test('a user whose write commits after later ones is found all the same', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  const { next: start } = await store.owned.news(undefined, 10)
  const early = startHeldWrite(store, 'early')
  await early.ready
  await set(store, rowId('a', 'late'), '1')
  const first = await store.owned.news(start, 10)
  t.same(first.owners, [user('late')])
  early.finish()
  await early.written
  const second = await store.owned.news(first.next, 10)
  t.ok(second.owners.some(({ id }) => id === 'early'))
  let mark = second.next
  await until('the end of older transactions of this server', async () => {
    const { next, owners } = await store.owned.news(mark, 10)
    mark = next
    return owners.length === 0
  })
})

test('entries that were restored from a server with more transactions are not found for ever', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  await set(store, rowId('a', 'u1'), '1')
  await pool.query(`update settings_history set xid = '4611686018427387904'::xid8`)
  const { next } = await store.owned.news(undefined, 1)
  t.same((await store.owned.news(next, 10)).owners, [])
})

test('a value that two instances give a user for the first time at once has both writes in its history', async (t) => {
  const pool = await newPool(t)
  const [one, two] = [await openStore(t, pool), await openStore(t, pool)]
  const first = startHeldWrite(one, 'u1')
  await first.ready
  const second = set(two, rowId('a', 'u1'), '"second"')
  await until('the second to wait for the first', async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rowCount === 1
  })
  first.finish()
  await Promise.all([first.written, second])
  const history = await one.history({ scope: SettingScope.User, owner: 'u1', limit: 10 })
  t.same(
    history.map(({ oldValue, newValue }) => [oldValue, newValue]),
    [
      ['"late"', '"second"'],
      [null, '"late"'],
    ],
  )
})

test('versions rise though the clock of the server has gone back, also over a removal', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  const early = (await set(store, rowId('a', 'u1'), '1')).changes[0]?.revision ?? 0
  await pool.query('update settings_value set revision = revision + 1000000000')
  const versions: number[] = []
  for (const value of ['2', null, '3', null, '4'])
    versions.push((await set(store, rowId('a', 'u1'), value)).changes[0]?.revision ?? 0)
  const first = early + 1_000_000_001
  t.same(versions, [first, first + 1, first + 2, first + 3, first + 4])
})

test('trimming goes on though the clock of the server has gone back', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  await set(store, rowId('a', 'u1'), '0')
  await nextMillisecond(until)
  await trimAll(store, { olderThan: Date.now(), perValue: 1 })
  const day = 24 * 60 * 60 * 1000
  await pool.query(
    `update settings_meta set value = (value::bigint + ${day})::text where name in ('expired', 'written')`,
  )
  for (const value of ['1', '2', '3']) await set(store, rowId('a', 'u1'), value)
  await nextMillisecond(until)
  t.same(await trimAll(store, { perValue: 1 }), [3])
})

test('two instances that write rows of a user in any order take turns', async (t) => {
  const pool = await newPool(t)
  const [one, two] = [await openStore(t, pool), await openStore(t, pool)]
  const changes = ['a', 'b', 'c'].map((key) => change(rowId(key, 'u1'), '1'))
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      writeAll(index % 2 ? one : two, index % 3 ? changes : changes.toReversed()),
    ),
  )
  t.equal((await one.history({ scope: SettingScope.User, owner: 'u1', key: 'b', limit: 100 })).length, 40)
})

test('the names of 600 users fit into what PostgreSQL takes, and beyond all are forgotten', (t) => {
  const users = (count: number) =>
    new Set(Array.from({ length: count }, (_, index) => ownerHash(user(`user ${index}`))))
  const payload = payloadOf(users(600), 'an instance')
  t.ok(payload.length < 8000 && payload.startsWith('an instance '))
  t.equal(new Set(payload.split(' ').slice(2)).size, 600)
  t.equal(payloadOf(users(601), 'an instance'), 'an instance')
  t.end()
})

test('many writes of one user that wait for a lock leave connections to writes of others', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  await set(store, rowId('a', 'busy'), '0')
  const client = await pool.connect()
  await client.query(`begin; select from settings_value where owner = 'busy' for update`)
  const waiting = Array.from({ length: 20 }, (_, index) => set(store, rowId('a', 'busy'), String(index)))
  const settled = Promise.allSettled(waiting)
  const other = await Promise.race([set(store, rowId('a', 'other'), '1'), settled])
  t.notOk(Array.isArray(other), 'the other user is served first')
  await client.query('rollback')
  client.release()
  await settled
})

test('a write that PostgreSQL ends to resolve a deadlock is made again', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool, { timeouts: { ...patient, query: 60_000 } })
  const both = (value: string) => ['a', 'b'].map((key) => change(rowId(key, 'u'), value))
  await writeAll(store, both('1'))
  const other = await pool.connect()
  t.teardown(() => other.release())
  for (let victim = 'other'; victim === 'other';) {
    await other.query(`set deadlock_timeout = '5s'; begin`) // the write looks for the deadlock after its second
    await other.query(`select from settings_value where key = 'b' for update`)
    const written = writeAll(store, both('2'))
    await until('the write to wait', async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length === 1
    })
    // A lock of the table, because such locks are given in the order of their requests; those of rows are not.
    victim = await other.query('lock table settings_value in exclusive mode').then(
      () => 'write',
      () => 'other', // the write had looked before there was one
    )
    await other.query(`rollback; set deadlock_timeout to default`)
    await written
  }
  t.same(
    (await store.owned.read(user('u'))).map(({ value }) => value),
    ['2', '2'],
  )
})

test('on tables that were empty when it was planned, a write looks at the rows that it names and no others', async (t) => {
  const pool = await newPool(t)
  await openStore(t, pool)
  const statements = writeStatements(postgresNames({}))
  for (const name of ['findOwned', 'saveOwned', 'find', 'save'] as const) {
    const nulls = Array.from(new Set(statements[name].match(/\$\d+/g)), () => 'null').join(', ')
    const client = await pool.connect()
    await client.query(`set plan_cache_mode = force_generic_plan; prepare any_call as ${statements[name]}`)
    const { rows } = await client.query(`explain (format json) execute any_call(${nulls})`)
    client.release(true)
    const read = tablesRead(rows[0]?.['QUERY PLAN'][0].Plan)
    t.ok(read.length > 0, name)
    for (const { condition, filter } of read) {
      for (const column of ['scope', 'owner', 'key']) t.match(condition, `${column} = `, `${name}: ${column}`)
      t.equal(filter, '', name)
    }
  }
})

/** How a plan finds rows of values and history. */
function tablesRead(node: unknown): { readonly condition: string; readonly filter: string }[] {
  const member = (name: string): unknown => Reflect.get(Object(node), name)
  const children = member('Plans')
  const isRead =
    /^settings_(value|history)$/.test(String(member('Relation Name'))) &&
    /Scan/.test(String(member('Node Type')))
  const own = { condition: String(member('Index Cond') ?? ''), filter: String(member('Filter') ?? '') }
  const below = Array.isArray(children) ? children.flatMap(tablesRead) : []
  return isRead ? [own, ...below] : below
}

test('statements of writes are planned once for each connection', async (t) => {
  const { options } = await newPool(t)
  const pool = new Pool({ ...options, max: 1 })
  t.teardown(() => pool.end())
  const store = await openStore(t, pool)
  for (let write = 0; write < 10; write++) {
    await set(store, rowId('a', 'u1'), String(write))
    await set(store, 'a', String(write))
  }
  const { rows } = await pool.query(
    `select name, generic_plans + custom_plans as uses, custom_plans from pg_prepared_statements where name ~ 'Own|find$|save$'`,
  )
  t.same(
    new Set(rows.map(({ name }) => String(name).split('.').at(-1))),
    new Set(['find', 'findOwned', 'lockOwner', 'save', 'saveOwned']),
  )
  for (const { name, uses, custom_plans: planned } of rows) {
    t.equal(Number(uses), 10, name)
    if (!name.endsWith('.lockOwner')) t.equal(Number(planned), 0, name)
  }
})
