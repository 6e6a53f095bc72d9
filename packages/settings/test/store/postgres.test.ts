import type { Tx } from '@fastify-modular/core'
import { printSql, postgres, type PostgresOptions, settingsTables } from '@fastify-modular/settings/postgres'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { getTableConfig } from 'drizzle-orm/pg-core'
import { Pool, types } from 'pg'
import t, { type Test, test } from 'tap'
import { change, rowId, set, silentLog, writeAll } from '#src/testing/contract/case.js'
import type { SettingsStore } from '#src/store/store.js'
import { failureOf, is503 } from './failures.js'

t.setTimeout(120_000)

async function newPool(t: Test): Promise<Pool> {
  const { url } = await testDatabase(t)
  const pool = new Pool({ connectionString: url })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  return pool
}

async function openStore(t: Test, pool: Pool, options?: PostgresOptions): Promise<SettingsStore> {
  const store = postgres({ pool }, options)
  await store.open({ log: silentLog })
  t.teardown(() => store.close())
  return store
}

test('options that cannot work are refused at once, without quoting the URL (FMOD_SETTINGS_INVALID_STORE_OPTION)', async (t) => {
  const refused = { code: 'FMOD_SETTINGS_INVALID_STORE_OPTION' }
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
  for (const pollInterval of [0, Number.NaN, 1e9]) t.throws(() => postgres(source, { pollInterval }), refused)
})

test('stores with different schemas and prefixes share a database and nothing else', async (t) => {
  const pool = await newPool(t)
  const places: PostgresOptions[] = [
    {},
    { tablePrefix: 'my_' },
    { schema: 'app' },
    { schema: 'app', tablePrefix: 'my_' },
  ]
  for (const [index, place] of places.entries()) {
    const store = await openStore(t, pool, place)
    t.equal(await store.readRevision(), 0)
    await set(store, 'a', String(index))
  }
  for (const [index, place] of places.entries()) {
    const store = await openStore(t, pool, place)
    t.equal((await store.readRow(rowId('a')))?.value, String(index))
  }
})

test('the schema public may be named', async (t) => {
  const pool = await newPool(t)
  const named = await openStore(t, pool, { schema: 'public' })
  await set(named, 'a', '1')
  const unnamed = await openStore(t, pool)
  t.equal((await unnamed.readRow(rowId('a')))?.value, '1')
})

test('migrate: check starts only on tables that are up to date (FMOD_SETTINGS_SCHEMA_OUTDATED)', async (t) => {
  const pool = await newPool(t)
  const opened = postgres({ pool }, { migrate: 'check' }).open({ log: silentLog })
  await t.rejects(opened, { code: 'FMOD_SETTINGS_SCHEMA_OUTDATED' })
  await (await openStore(t, pool)).close()
  t.equal((await set(await openStore(t, pool, { migrate: 'check' }), 'a', '1')).revision, 1)
})

test('tables of a newer package are left alone (FMOD_SETTINGS_SCHEMA_TOO_NEW)', async (t) => {
  const pool = await newPool(t)
  await (await openStore(t, pool)).close()
  await pool.query("update settings_meta set value = '999' where name = 'schema'")
  for (const migrate of ['auto', 'check'] as const) {
    const opened = postgres({ pool }, { migrate }).open({ log: silentLog })
    await t.rejects(opened, { code: 'FMOD_SETTINGS_SCHEMA_TOO_NEW' })
  }
})

test('a role that may only read and write rows starts on tables that are up to date', async (t) => {
  const pool = await newPool(t)
  await (await openStore(t, pool, { schema: 'app' })).close()
  const role = `role_${process.pid}_${Date.now()}`
  await pool.query(`create role ${role} login password 'x';
    grant usage on schema app to ${role};
    grant select, insert, update, delete on all tables in schema app to ${role}`)
  const limited = new Pool({ connectionString: withUser(pool, role) })
  limited.on('error', () => {})
  const store = await openStore(t, limited, { schema: 'app' })
  t.equal((await set(store, 'a', '1')).revision, 1)
  await store.close()
  await limited.end()
  await pool.query(`drop owned by ${role}; drop role ${role}`)
})

test('printSql makes the tables that migrate: auto makes', async (t) => {
  const pool = await newPool(t)
  await pool.query(printSql({ schema: 'printed', tablePrefix: 'my_' }))
  await openStore(t, pool, { schema: 'migrated', tablePrefix: 'my_' })
  t.same(await columnsOf(pool, 'printed'), await columnsOf(pool, 'migrated'))
  t.same(await indexesOf(pool, 'printed'), await indexesOf(pool, 'migrated'))
  await openStore(t, pool, { schema: 'printed', tablePrefix: 'my_', migrate: 'check' })
})

test('the exported tables of drizzle have the columns of the migrations', async (t) => {
  const pool = await newPool(t)
  await openStore(t, pool, { schema: 'app', tablePrefix: 'my_' })
  const expected = Object.values(settingsTables({ schema: 'app', tablePrefix: 'my_' })).flatMap((table) => {
    const { name, columns, schema } = getTableConfig(table)
    t.equal(schema, 'app')
    return columns.map(
      (column) => `${name} ${column.name} ${column.getSQLType()} ${column.notNull ? 'NO' : 'YES'}`,
    )
  })
  t.same((await columnsOf(pool, 'app')).toSorted(), expected.toSorted())
})

test('migrate: false works with tables that somebody else made, without any row', async (t) => {
  const pool = await newPool(t)
  await pool.query(printSql())
  await pool.query('delete from settings_meta')
  t.equal((await set(await openStore(t, pool, { migrate: false }), 'a', '1')).revision, 1)
})

test('a missing table is a defect, not an outage', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  await pool.query('drop table settings_history')
  const error = await failureOf(writeAll(store, [change(rowId('a'), '"s3cret value"')]))
  t.notOk(is503(error))
  t.match(error, { code: '42P01' })
  t.equal(await store.readRow(rowId('a')), undefined)
})

test('an error of the database shows no stored value', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  await pool.query('alter table settings_value add check (value <> \'"s3cret value"\')')
  const written = await failureOf(writeAll(store, [change(rowId('a'), '"s3cret value"')]))
  t.match(written, { code: '23514' })
  await pool.query('drop table settings_value')
  const read = await failureOf(store.readUser('s3cret user'))
  t.match(read, { code: '42P01' })
  for (const error of [written, read]) t.notMatch(everythingOf(error), 's3cret')
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
  t.equal((await store.readRow(rowId('a')))?.value, '1')
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
  const row = await store.readRow(rowId('a'))
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
  const writes = Promise.all(Array.from({ length: 30 }, (_, index) => set(store, 'a', String(index))))
  let finished = false
  void writes.then(() => (finished = true))
  await store.readRevision()
  t.notOk(finished, 'the read did not wait for all the writes')
  await writes
  await store.close()
  await pool.end()
})

async function columnsOf(pool: Pool, schema: string): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `select concat_ws(' ', table_name, column_name, data_type, is_nullable) as line
     from information_schema.columns where table_schema = $1 order by line`,
    [schema],
  )
  return rows.map((row) => row.line)
}

async function indexesOf(pool: Pool, schema: string): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `select replace(indexdef, $1 || '.', '') as line from pg_indexes where schemaname = $1 order by line`,
    [schema],
  )
  return rows.map((row) => row.line)
}

function withUser(pool: Pool, role: string): string {
  const url = new URL(pool.options.connectionString ?? '')
  url.username = role
  url.password = 'x'
  return url.href
}

/** All that a logger could print of an error, its causes included. */
function everythingOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return `${error.stack} ${JSON.stringify(error, Object.getOwnPropertyNames(error))} ${everythingOf(error.cause)}`
}
