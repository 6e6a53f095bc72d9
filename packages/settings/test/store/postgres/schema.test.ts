/** Where the tables are, how they are made, and what they look like (decisions 27, 29). */
import { type PostgresOptions, printSql } from '@fastify-modular/settings/postgres'
import { Pool } from 'pg'
import { test } from 'tap'
import { user, revisionOf, rowId, rowOf, set, silentLog } from '../../contract/case.ts'
import { postgresNames } from '#src/store/postgres/names.js'
import { wanted } from '#src/store/postgres/engine.js'
import { findPlain } from '#src/store/reads.js'
import { toStatement } from '#src/store/statements.js'
import { newPool, openStore } from './open-store.js'
import { postgres } from '../../support/stores.js'

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
    t.equal(await revisionOf(store), 0)
    await set(store, 'a', String(index))
  }
  for (const [index, place] of places.entries()) {
    const store = await openStore(t, pool, place)
    t.equal((await rowOf(store, rowId('a')))?.value, String(index))
  }
})

test('the schema public may be named', async (t) => {
  const pool = await newPool(t)
  const named = await openStore(t, pool, { schema: 'public' })
  await set(named, 'a', '1')
  const unnamed = await openStore(t, pool)
  t.equal((await rowOf(unnamed, rowId('a')))?.value, '1')
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

test('migrate: false works with tables that the application made, without any row', async (t) => {
  const pool = await newPool(t)
  await pool.query(printSql())
  await pool.query('delete from settings_meta')
  t.equal((await set(await openStore(t, pool, { migrate: false }), 'a', '1')).revision, 1)
})

test('a migration that fails leaves nothing behind, and says what to do (FMOD_SETTINGS_MIGRATION_FAILED)', async (t) => {
  const pool = await newPool(t)
  await pool.query('create table settings_history_actor ()') // a name that the last index needs
  await t.rejects(postgres({ pool }).open({ log: silentLog }), {
    code: 'FMOD_SETTINGS_MIGRATION_FAILED',
    message: /nothing has changed: .*settings_history_actor.*printSql\(\)/,
  })
  t.same(await columnsOf(pool, 'public'), [])
  await pool.query('drop table settings_history_actor')
  t.same(await (await openStore(t, pool)).owned.read(user('u1')), [])
})

test('plain text in the history is found by an index of its own', async (t) => {
  const pool = await newPool(t)
  const store = await openStore(t, pool)
  await pool.query(`insert into settings_history
    select n, 1, '', 'key.' || n % 50, null, false, '"x"', n % 50 = 7, 'api', null, null, null, n
    from generate_series(1, 20000) as n; analyze settings_history`)
  const engine = { tables: postgresNames({}), wanted }
  const { text, values } = toStatement(findPlain(engine, ['key.7', 'none']))
  t.match(JSON.stringify((await pool.query(`explain ${text}`, [...values])).rows), /settings_history_plain/)
  t.same(await store.plainKeys(['key.7', 'key.8', 'none']), ['key.8'])
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

test('a store waits its turn while another process migrates, and says so when that takes too long', async (t) => {
  const pool = await newPool(t)
  const other = await pool.connect()
  await other.query("select pg_advisory_lock(hashtextextended('fastify-modular settings', 0))")
  const late = postgres({ pool }).open({ log: silentLog })
  await t.rejects(late, { message: /another process has held the lock of the migrations/ })
  const store = postgres({ pool })
  t.teardown(() => store.close())
  const waiting = store.open({ log: silentLog })
  await other.query("select pg_advisory_unlock(hashtextextended('fastify-modular settings', 0))")
  other.release()
  await waiting
  t.equal(await revisionOf(store), 0)
})
