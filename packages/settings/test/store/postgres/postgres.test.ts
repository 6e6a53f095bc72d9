/** The options of the store, and what it does with a database that is not as it wishes. */
import type { Tx } from '@fastify-modular/core'
import { postgres, printSql } from '@fastify-modular/settings/postgres'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { Pool, types } from 'pg'
import { test } from 'tap'
import { user, change, rowId, rowOf, set, writeAll, revisionOf } from '../../contract/case.ts'
import { failureOf, is503 } from '../failures.js'
import { newPool, openStore } from './open-store.js'

test('options that cannot work are refused at once, without quoting the URL (FMOD_CORE_INVALID_OPTION)', async (t) => {
  const refused = { code: 'FMOD_CORE_INVALID_OPTION' }
  // @ts-expect-error a client is not a pool, and this is neither
  t.throws(() => postgres({ pool: { connect: async () => ({}) } }), { ...refused, message: /the package pg/ })
  for (const connectionString of [
    '',
    'nonsense',
    'mysql://u:s3cret@h/d',
    'postgres://u:s3cret@h:port/d',
    'u:s3cret@h',
  ]) {
    try {
      postgres({ connectionString })
      t.fail(`accepted ${connectionString}`)
    } catch (error) {
      t.match(error, refused)
      t.notMatch(String(error), 's3cret')
    }
  }
  const source = { connectionString: 'postgres://127.0.0.1/x' }
  for (const name of ['x"; drop table users; --', '1a', 'a.b', '', 'x'.repeat(41)]) {
    t.throws(() => postgres(source, { schema: name }), refused)
    t.throws(() => printSql({ schema: name }), refused)
    if (name !== '') t.throws(() => postgres(source, { tablePrefix: name }), refused)
  }
  const misplaced = { ...source, schema: 'tenant1' }
  t.throws(() => postgres(misplaced), refused)
  t.throws(() => postgres(source, { migrate: true } as object), refused)
  const misspelt = { tablePrefx: 'tenant1_' }
  const nearest = { ...refused, message: /options\.tablePrefx \(did you mean options\.tablePrefix\?\)/ }
  for (const create of [(options: object) => postgres(source, options), printSql])
    t.throws(() => create(misspelt), nearest)
  t.throws(() => postgres(source, { timeouts: { qeury: 5 } as object }), {
    ...refused,
    message: /options\.timeouts\.qeury \(did you mean options\.timeouts\.query\?\)/,
  })
  for (const pollInterval of [0, Number.NaN, 1e9]) t.throws(() => postgres(source, { pollInterval }), refused)
})

test('a missing table is a defect, not an outage', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  await pool.query('drop table settings_history')
  const error = await failureOf(writeAll(store, [change(rowId('a'), '"s3cret value"')]))
  t.notOk(is503(error))
  t.match(error, { code: '42P01' })
  t.equal(await rowOf(store, rowId('a')), undefined)
})

test('events whose statement failed in silence are a defect of the transport, not an outage', async (t) => {
  const store = await openStore(t, await newPool(t))
  const enqueue = async (tx: Tx): Promise<void> => {
    if (tx.kind === 'async') await tx.query('select nothing from nowhere', []).catch(() => {})
  }
  const error = await failureOf(writeAll(store, [change(rowId('a'), '1')], { enqueue }))
  t.notOk(is503(error))
  t.match(error, { message: /a statement of its events failed/ })
  t.equal(await rowOf(store, rowId('a')), undefined)
})

test('events whose statement the database refused are a defect of the transport, not an outage', async (t) => {
  const pool = await newPool(t)
  await pool.query(
    `create function refuse() returns int language plpgsql as $$ begin raise exception 's3cret'; end $$`,
  )
  const store = await openStore(t, pool)
  for (const statement of ['select refuse()', 'set local statement_timeout = 1; select pg_sleep(60)']) {
    const enqueue = async (tx: Tx): Promise<void> => {
      if (tx.kind === 'async') for (const each of statement.split('; ')) await tx.query(each, [])
    }
    const error = await failureOf(writeAll(store, [change(rowId('a'), '1')], { enqueue }))
    t.notOk(is503(error), statement)
    t.match(error, { message: /refused a statement of its events/ })
    t.notMatch(everythingOf(error), 's3cret')
  }
  t.equal(await rowOf(store, rowId('a')), undefined)
})

test('an error of the database shows no stored value', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  await pool.query('alter table settings_value add check (value <> \'"s3cret value"\')')
  const written = await failureOf(writeAll(store, [change(rowId('a'), '"s3cret value"')]))
  t.match(written, { code: '23514' })
  await pool.query(`
    create function tell() returns trigger language plpgsql as $$ begin raise exception '%', new; end $$;
    create trigger telling before insert on settings_value for each row execute function tell()`)
  const refused = await failureOf(writeAll(store, [change(rowId('b'), '"s3cret value"')]))
  t.ok(is503(refused))
  t.match(refused, { message: /P0001/ })
  await pool.query('drop table settings_value')
  const read = await failureOf(store.owned.read(user('s3cret user')))
  t.match(read, { code: '42P01' })
  for (const error of [written, refused, read]) t.notMatch(everythingOf(error), 's3cret')
})

test('a statement after the end of its transaction is refused (FMOD_SETTINGS_TRANSACTION_ENDED)', async (t) => {
  const store = await openStore(t, await newPool(t))
  const kept: Tx[] = []
  await writeAll(store, [change(rowId('a'), '1')], { enqueue: (tx) => void kept.push(tx) })
  for (const tx of kept) {
    if (tx.kind === 'async')
      await t.rejects(tx.query('select 1', []), { code: 'FMOD_SETTINGS_TRANSACTION_ENDED' })
  }
  t.equal(kept.length, 1)
})

test('a database that may only be read fails writes with 503 and still answers reads', async (t) => {
  const pool = await newPool(t)
  await set(await openStore(t, pool), 'a', '1')
  const { connectionString } = pool.options
  const readOnly = new Pool({ connectionString, options: '-c default_transaction_read_only=on' })
  readOnly.on('error', () => {})
  const store = await openStore(t, readOnly)
  t.ok(is503(await failureOf(set(store, 'a', '2'))))
  t.equal((await rowOf(store, rowId('a')))?.value, '1')
  await store.close()
  await readOnly.end()
})

test('isolation and type parsers that an application has set do not disturb the store', async (t) => {
  const pool = await newPool(t)
  const { connectionString } = pool.options
  const int8 = types.getTypeParser(types.builtins.INT8)
  types.setTypeParser(types.builtins.INT8, BigInt)
  t.teardown(() => types.setTypeParser(types.builtins.INT8, int8))
  const strict = new Pool({ connectionString, options: '-c default_transaction_isolation=serializable' })
  strict.on('error', () => {})
  const store = await openStore(t, strict)
  const results = await Promise.all(Array.from({ length: 10 }, (_, index) => set(store, 'a', String(index))))
  t.equal(new Set(results.map((result) => result.revision)).size, 10)
  const row = await rowOf(store, rowId('a'))
  t.same(row, results.at(-1)?.changes[0]?.after)
  t.type(row?.revision, 'number')
  t.type(results.at(-1)?.changes[0]?.before?.updatedAt, 'number')
  await store.close()
  await strict.end()
})

test('writers that wait leave connections of a small pool to readers', async (t) => {
  const { url } = await testDatabase(t)
  const pool = new Pool({ connectionString: url, max: 2 })
  pool.on('error', () => {})
  const store = await openStore(t, pool)
  const outside = new Pool({ connectionString: url, max: 1 })
  const blocker = await outside.connect()
  await blocker.query("begin; select value from settings_meta where name = 'revision' for update") // writers wait
  const writes = Promise.all(Array.from({ length: 30 }, (_, index) => set(store, 'a', String(index))))
  t.equal(await revisionOf(store), 0, 'a read passes all writers')
  await blocker.query('rollback')
  blocker.release()
  await writes
  await store.close()
  await outside.end()
  await pool.end()
})

/** All that a logger could print of an error, its causes included. */
function everythingOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return `${error.stack} ${JSON.stringify(error, Object.getOwnPropertyNames(error))} ${everythingOf(error.cause)}`
}
