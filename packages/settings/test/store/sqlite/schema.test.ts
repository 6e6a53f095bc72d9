import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printSql, sqlite } from '@fastify-modular/settings/sqlite'
import Database from 'better-sqlite3'
import { type Test, test } from 'tap'
import { revisionOf, rowId, set, setOf, silentLog } from '#src/testing/contract/case.js'
import { migrations, plainHistory, recordVersion } from '#src/store/sqlite/migrations.js'

async function openDatabase(t: Test): Promise<Database.Database> {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  const database = new Database(join(folder, 'settings.db'))
  t.teardown(() => {
    database.close()
    return rm(folder, { recursive: true })
  })
  return database
}

test('tables of the first version are brought up to date with what they hold', async (t) => {
  const database = await openDatabase(t)
  database.exec(`${migrations[0]?.('') ?? ''}${recordVersion('', 1)}
    insert into settings_value values (1, '', 'a', '"x"', 0, 1, 5, 'ann');
    insert into settings_history values (1, 1, '', 'a', null, 0, '"x"', 0, 'api', 'ann', null, null, 5);
    update settings_meta set value = '1' where name = 'revision'`)
  const store = sqlite({ database })
  await store.open({ log: silentLog })
  t.match(await store.readRow(rowId('a')), { value: '"x"', revision: 1, updatedBy: 'ann' })
  t.same(await store.findPlainHistory(['a', 'b']), ['a'])
  t.equal((await set(store, 'a', '"y"')).revision, 2)
  t.equal((await store.readHistory({ limit: 10 })).length, 2)
})

test('printSql({ from }) brings tables of an earlier version up to date', async (t) => {
  const database = await openDatabase(t)
  for (const migration of migrations.slice(0, 2)) database.exec(migration(''))
  database.exec(
    `${recordVersion('', 2)} insert into settings_value values (2, 'u1', 'a', '"x"', 0, 1, 5, 'ann')`,
  )
  database.exec(printSql({ from: 2 }))
  const store = sqlite({ database }, { migrate: 'check' })
  await store.open({ log: silentLog })
  t.match(await store.readUser('u1'), [{ value: '"x"', revision: 1 }])
  t.throws(() => printSql({ from: migrations.length + 1 }), { code: 'FMOD_SETTINGS_INVALID_STORE_OPTION' })
})

test('plain text in the history is found, and the history walked through, by an index', async (t) => {
  const database = await openDatabase(t)
  await sqlite({ database }).open({ log: silentLog })
  const plan = (sql: string, ...values: unknown[]) =>
    JSON.stringify(database.prepare(`explain query plan ${sql}`).all(...values))
  t.match(
    plan(`select 1 from settings_history where key = ? and ${plainHistory} limit 1`, 'a'),
    /SEARCH settings_history USING .*settings_history_plain/,
  )
  const page = plan(
    `select * from settings_history where (revision, scope, user_id, key) > (?, ?, ?, ?)
     order by revision, scope, user_id, key limit 100`,
    5,
    1,
    '',
    'a',
  )
  t.match(page, /SEARCH settings_history USING PRIMARY KEY/)
  t.notMatch(page, /TEMP B-TREE/)
})

test('a file of the version before is brought up to date with values, secrets, history and users', async (t) => {
  const database = await openDatabase(t)
  for (const migration of migrations.slice(0, 2)) database.exec(migration(''))
  database.exec(`${recordVersion('', 2)}
    insert into settings_value values
      (0, '', 'mail.port', '25', 0, 1, 1000, 'ann'), (1, '', 'app.secret', 'k1.sealed', 1, 2, 2000, null),
      (2, 'u1', 'app.theme', '"dark"', 0, 3, 3000, 'u1'), (2, 'u2', 'app.token', 'k1.own', 1, 5, 5000, 'u2');
    insert into settings_history values
      (1, 0, '', 'mail.port', null, 0, '25', 0, 'api', 'ann', 'r1', null, 1000),
      (2, 1, '', 'app.secret', null, 0, 'k1.sealed', 1, 'api', null, null, 'first', 2000),
      (3, 2, 'u1', 'app.theme', null, 0, '"dark"', 0, 'api', 'u1', null, null, 3000),
      (4, 2, 'u1', 'app.density', '"x"', 0, null, 0, 'api', 'u1', null, null, 4000),
      (5, 2, 'u2', 'app.token', null, 0, 'k1.own', 1, 'api', 'u2', null, null, 5000);
    update settings_meta set value = '5' where name = 'revision'`)
  // A process of that version, which goes on with its prepared statements and its own versions of users' rows.
  const old =
    database.prepare(`insert into settings_value (scope, user_id, key, value, sealed, revision, updated_at, updated_by)
    values (2, 'u1', 'app.theme', ?, 0, ?, ?, 'u1') on conflict (scope, user_id, key) do update set value = excluded.value,
    revision = excluded.revision, updated_at = excluded.updated_at`)
  const store = sqlite({ database })
  await store.open({ log: silentLog })
  t.equal(await revisionOf(store), 5)
  t.match((await store.readShared()).rows, [
    { key: 'mail.port', value: '25' },
    { key: 'app.secret', value: 'k1.sealed', sealed: true },
  ])
  t.match(await store.readUser('u1'), [{ key: 'app.theme', value: '"dark"', revision: 3, updatedBy: 'u1' }])
  t.match(await store.readUser('u2'), [{ value: 'k1.own', sealed: true }])
  t.match(await store.readHistory({ userId: 'u1', limit: 10 }), [{ revision: 4 }, { revision: 3 }])
  t.equal((await store.readHistory({ limit: 10 })).length, 2)
  const { revision } = await setOf(store, 'u1', 'app.theme', '"light"')
  t.ok(revision > 1e12)
  old.run('"old"', 6, 6000)
  t.match(await store.readUser('u1'), [{ value: '"old"', revision: 6 }])
  t.ok((await setOf(store, 'u1', 'app.theme', null)).revision > 6)
  t.equal((await set(store, 'mail.port', '26')).revision, 6)
})
