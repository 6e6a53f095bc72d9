/** Erasing a user in PostgreSQL beside writes that are under way. */
import { SettingScope } from '@fastify-modular/settings'
import { Pool } from 'pg'
import { type Test, test } from 'tap'
import { change, replays, rowId, set, until, writeAll, user } from '../../contract/case.ts'
import { startHeldWrite } from './held-write.js'
import { newPool, openStore } from './open-store.js'

async function isWaiting(pool: Pool, connections = 1): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rowCount === connections
}

/** A store that calls `before` ahead of the first statements of its own that match, and waits for it. */
async function openInterrupted(
  t: Test,
  pool: Pool,
  statement: RegExp,
  before: () => Promise<void>,
  times = 1,
) {
  const interrupted = new Pool({ ...pool.options, connectionString: pool.options.connectionString })
  interrupted.on('error', () => {})
  t.teardown(() => interrupted.end())
  let left = times
  interrupted.on('connect', (client) => {
    const query = client.query.bind(client)
    Reflect.set(client, 'query', async (...args: Parameters<typeof query>) => {
      const [first] = args as unknown[]
      const text = typeof first === 'string' ? first : String(Reflect.get(Object(first), 'text'))
      if (left > 0 && statement.test(text)) {
        left--
        await before()
      }
      return query(...args)
    })
  })
  return openStore(t, interrupted)
}

for (const found of ['a value', 'no value']) {
  test(`a write under way that has found ${found} is wholly before an erasure that begins meanwhile`, async (t) => {
    const pool = await newPool(t)
    const [one, two] = [await openStore(t, pool), await openStore(t, pool)]
    if (found === 'a value') await set(one, rowId('a', 'u1'), '1')
    const write = startHeldWrite(one, 'u1')
    await write.ready
    const erased = two.owned.erase(user('u1'))
    await until('the erasure to wait', () => isWaiting(pool))
    write.finish()
    await write.written
    t.match(await erased, { values: 1, isDone: true })
    t.same(await one.owned.read(user('u1')), [])
    t.same(await one.history({ scope: SettingScope.User, owner: 'u1', limit: 10 }), [])
  })
}

for (const table of ['value', 'history']) {
  test(`a write that begins while an erasure is at the ${table} table is wholly after it`, async (t) => {
    const pool = await newPool(t)
    const store = await openStore(t, pool)
    await set(store, rowId('a', 'u1'), '1')
    let written: Promise<unknown> | undefined
    let isWritten = false
    const erasing = await openInterrupted(
      t,
      pool,
      new RegExp(`^delete from .*settings_${table}"`),
      async () => {
        written = set(store, rowId('b', 'u1'), '2').then(() => (isWritten = true))
        await until('the write to wait', async () => isWritten || (await isWaiting(pool)))
      },
    )
    await erasing.owned.erase(user('u1'))
    await written
    t.match(await store.owned.read(user('u1')), [{ key: 'b', value: '2' }])
    await replays(store, user('u1'))
  })
}

test('a value that somebody overwrites while its erased writer is being removed keeps its new writer', async (t) => {
  const pool = await newPool(t)
  const [one, two] = [await openStore(t, pool), await openStore(t, pool)]
  for (const key of ['a', 'b']) await writeAll(one, [change(rowId(key, 'u2'), '1')], { actor: 'u1' })
  const write = startHeldWrite(one, 'u2')
  await write.ready
  const erased = two.owned.erase(user('u1'))
  await until('the erasure to wait', () => isWaiting(pool))
  write.finish()
  await Promise.all([write.written, erased])
  t.same(
    (await one.owned.read(user('u2'))).map(({ key, updatedBy }) => [key, updatedBy]),
    [
      ['a', 'tester'],
      ['b', null],
    ],
  )
  t.same((await two.owned.erase(user('u1'))).mentions, 0)
})

test('an erasure and a write of several rows lock them in one order, also beyond U+FFFF', async (t) => {
  const pool = await newPool(t)
  let transactions = 0
  const store = await openInterrupted(t, pool, /^begin/, async () => void transactions++, Infinity)
  // The first one comes first by code units, the second one by bytes of UTF-8.
  const changes = ['\u{1f600}', '\uff21'].map((key) => change(rowId(key, 'u2'), '1'))
  await writeAll(store, changes, { actor: 'u1' })
  const client = await pool.connect()
  await client.query(`begin; select from settings_value where key = '\uff21' for update`)
  const written = writeAll(store, changes)
  await until('the write to wait', () => isWaiting(pool))
  transactions = 0
  const erased = store.owned.erase(user('u1'))
  await until('both to wait', () => isWaiting(pool, 2))
  await client.query('commit')
  client.release()
  t.equal((await erased).mentions, 2, 'the write has replaced those of the values')
  await written
  t.equal(transactions, 1, 'neither begins again after a deadlock')
})

test('an erasure that PostgreSQL ends to resolve a deadlock begins again', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  await set(store, rowId('a', 'u1'), '1')
  await pool.query(`
    create sequence attempts;
    create function fail_once() returns trigger language plpgsql as $$ begin
      if nextval('attempts') = 1 then raise exception 'deadlock' using errcode = '40P01'; end if;
      return old;
    end $$;
    create trigger fail_once before delete on settings_history for each row execute function fail_once()`)
  t.same(await store.owned.erase(user('u1')), { values: 1, history: 1, mentions: 0, isDone: true })
})
