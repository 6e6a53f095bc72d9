import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDomainException } from '@fastify-modular/core'
import { printSql, type SqliteOptions } from '@fastify-modular/settings/sqlite'
import Database from 'better-sqlite3'
import { type Test, test } from 'tap'
import {
  user,
  change,
  revisionOf,
  rowId,
  rowOf,
  set,
  silentLog,
  until,
  writeAll,
} from '../../contract/case.ts'
import type { StorePort } from '#src/store/store.js'
import { failureOf, is503 } from '../failures.js'
import { sqlite } from '../../support/stores.js'

async function newFile(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return join(folder, 'settings.db')
}

function openDatabase(t: Test, file = ':memory:'): Database.Database {
  const database = new Database(file)
  t.teardown(() => database.close())
  return database
}

async function openStore(t: Test, file: string, options?: SqliteOptions): Promise<StorePort> {
  const store = sqlite({ file }, options)
  await store.open({ log: silentLog })
  t.teardown(() => store.close())
  return store
}

test('the folder of the file is made, and an acknowledged write is on the disk (decision 28)', async (t) => {
  const file = join(await newFile(t), 'deep', 'er', 'settings.db')
  const store = await openStore(t, file)
  await set(store, 'a', '1')
  t.ok(existsSync(file))
  const database = openDatabase(t)
  const shared = sqlite({ database })
  await shared.open({ log: silentLog })
  t.equal(database.pragma('synchronous', { simple: true }), 2, 'FULL')
  const other = openDatabase(t, file)
  t.equal(other.pragma('journal_mode', { simple: true }), 'wal')
})

test('only a store in a file is durable', async (t) => {
  t.equal(sqlite({ file: 'x.db' }).info.durable, true)
  t.equal(sqlite({ file: ':memory:' }).info.durable, false)
  t.equal(sqlite({ database: openDatabase(t) }).info.durable, false)
})

test('stores with different prefixes share a file and nothing else', async (t) => {
  const file = await newFile(t)
  const one = await openStore(t, file, { tablePrefix: 'one_' })
  const two = await openStore(t, file, { tablePrefix: 'two_' })
  await set(one, 'a', '1')
  t.equal(await rowOf(two, rowId('a')), undefined)
  t.equal(await revisionOf(two), 0)
})

test('migrate: check starts only on tables that are up to date (FMOD_SETTINGS_SCHEMA_OUTDATED)', async (t) => {
  const file = await newFile(t)
  const outdated = { code: 'FMOD_SETTINGS_SCHEMA_OUTDATED' }
  await t.rejects(sqlite({ file }, { migrate: 'check' }).open({ log: silentLog }), outdated)
  await (await openStore(t, file)).close()
  const store = await openStore(t, file, { migrate: 'check' })
  t.equal((await set(store, 'a', '1')).revision, 1)
})

test('tables of a newer package are left alone (FMOD_SETTINGS_SCHEMA_TOO_NEW)', async (t) => {
  const file = await newFile(t)
  await (await openStore(t, file)).close()
  openDatabase(t, file).exec("update settings_meta set value = '999' where name = 'schema'")
  for (const migrate of ['auto', 'check'] as const) {
    const opened = sqlite({ file }, { migrate }).open({ log: silentLog })
    await t.rejects(opened, { code: 'FMOD_SETTINGS_SCHEMA_TOO_NEW' })
  }
})

test('printSql makes the tables that migrate: auto makes', async (t) => {
  const printed = openDatabase(t)
  printed.exec(printSql({ tablePrefix: 'my_' }))
  const migrated = openDatabase(t)
  await sqlite({ database: migrated }, { tablePrefix: 'my_' }).open({ log: silentLog })
  t.same(schemaOf(printed), schemaOf(migrated))
  await sqlite({ database: printed }, { tablePrefix: 'my_', migrate: 'check' }).open({ log: silentLog })
})

test('migrate: false works with tables that the application made, without any row', async (t) => {
  const database = openDatabase(t)
  database.exec(printSql())
  database.exec('delete from settings_meta')
  const store = sqlite({ database }, { migrate: false })
  await store.open({ log: silentLog })
  t.equal((await set(store, 'a', '1')).revision, 1)
})

test('a connection that was handed over stays open, and its other tables are part of the transaction', async (t) => {
  const database = openDatabase(t)
  database.exec('create table outbox (note text)')
  const store = sqlite({ database })
  await store.open({ log: silentLog })
  await writeAll(store, [change(rowId('a'), '1')], {
    enqueue(tx) {
      if (tx.kind === 'sync') tx.run('insert into outbox values (?)', ['sent'])
    },
  })
  await store.close()
  t.same(database.prepare('select note from outbox').pluck().all(), ['sent'])
})

test('a write inside a transaction of the caller is refused (FMOD_SETTINGS_TRANSACTION_OPEN)', async (t) => {
  const database = openDatabase(t)
  const store = sqlite({ database })
  await store.open({ log: silentLog })
  database.exec('begin')
  await t.rejects(set(store, 'a', '1'), { code: 'FMOD_SETTINGS_TRANSACTION_OPEN' })
  await t.rejects(store.owned.erase(user('u1')), { code: 'FMOD_SETTINGS_TRANSACTION_OPEN' })
  database.exec('rollback')
  t.equal((await set(store, 'a', '1')).revision, 1)
})

test('an enqueue that returns a promise undoes the write', async (t) => {
  const database = openDatabase(t)
  database.exec('create table outbox (note text)')
  const store = sqlite({ database })
  await store.open({ log: silentLog })
  const late: unknown[] = []
  const write = writeAll(store, [change(rowId('a'), '1')], {
    async enqueue(tx) {
      await Promise.resolve()
      try {
        if (tx.kind === 'sync') tx.run('insert into outbox values (?)', ['escaped'])
      } catch (error) {
        late.push(error)
        throw error
      }
    },
  })
  await t.rejects(write, /cannot wait for the promise/)
  await until('the late statement', () => late.length === 1)
  t.match(late[0], { code: 'FMOD_SETTINGS_TRANSACTION_ENDED' })
  t.equal(await rowOf(store, rowId('a')), undefined)
  t.equal(database.prepare('select count(*) from outbox').pluck().get(), 0, 'nothing escapes the transaction')
})

test('a full disk fails the write with 503 and changes nothing', async (t) => {
  const database = openDatabase(t, await newFile(t))
  const store = sqlite({ database })
  await store.open({ log: silentLog })
  await set(store, 'a', '1')
  database.pragma(`max_page_count = ${String(database.pragma('page_count', { simple: true }))}`)
  const big = Array.from({ length: 50 }, (_, index) => change(rowId(`k${index}`), `"${'x'.repeat(2000)}"`))
  const error = await failureOf(writeAll(store, big))
  t.ok(is503(error))
  t.match(error, { message: /SQLITE_FULL/, cause: { code: 'SQLITE_FULL' } })
  t.equal(await revisionOf(store), 1)
  database.pragma('max_page_count = 1000000')
  t.equal((await writeAll(store, big)).revision, 2)
})

test('a file that another process has locked fails the write with 503', async (t) => {
  const file = await newFile(t)
  const database = new Database(file, { timeout: 20 })
  t.teardown(() => database.close())
  const store = sqlite({ database })
  await store.open({ log: silentLog })
  const other = openDatabase(t, file)
  other.exec('begin immediate')
  t.ok(is503(await failureOf(set(store, 'a', '1'))))
  t.match(await store.shared.read(), { revision: 0, rows: [] }, 'readers do not wait for a writer')
  other.exec('rollback')
  t.equal((await set(store, 'a', '1')).revision, 1)
})

test('a file that is not a database is refused with 503', async (t) => {
  const file = await newFile(t)
  await writeFile(file, 'this is not a database, and it is long enough to be looked at as one: '.repeat(100))
  t.ok(is503(await failureOf(sqlite({ file }).open({ log: silentLog }))))
})

test('a mistake of the caller inside decide is not taken for an outage', async (t) => {
  const store = await openStore(t, await newFile(t))
  const mistake = Object.assign(new Error('mine'), { code: 'EMINE' })
  const write = writeAll(store, [], {
    decide: () => {
      throw mistake
    },
  })
  const error = await failureOf(write)
  t.equal(error, mistake)
  t.notOk(isDomainException(error))
})

function schemaOf(database: Database.Database): unknown[] {
  return database.prepare('select name, sql from sqlite_schema order by name').all()
}
