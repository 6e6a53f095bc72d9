import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteSettingsTables } from '@fastify-modular/settings/drizzle'
import { sqlite } from '@fastify-modular/settings/sqlite'
import Database from 'better-sqlite3'
import type { SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { type Test, test } from 'tap'
import { isSelected, newestFirst } from '#src/store/read-conditions.js'
import { forgettingStatements } from '#src/store/sqlite/forget.js'
import { findOthers } from '#src/store/sqlite/read-statements.js'
import type { HistoryQuery } from '#src/store/store.js'
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

test('what a million rows would make slow is read through an index', async (t) => {
  const database = await openDatabase(t)
  await sqlite({ database }).open({ log: silentLog })
  const db = drizzle(database)
  const tables = sqliteSettingsTables()
  const plan = (query: SQL): string => {
    const { sql: text, params } = new SQLiteSyncDialect().sqlToQuery(query)
    return JSON.stringify(database.prepare(`explain query plan ${text}`).all(...params))
  }
  const historyPlan = (query: HistoryQuery): string => {
    const { history } = tables
    const selected = db.select().from(history).where(isSelected(history, query))
    return plan(
      selected
        .orderBy(...newestFirst(history, query))
        .limit(50)
        .getSQL(),
    )
  }
  const changes = historyPlan({ limit: 50 })
  t.match(changes, /INDEX settings_history_shared/)
  t.match(historyPlan({ key: 'a', limit: 50 }), /INDEX settings_history_key \(key=/)
  const ofUser = historyPlan({ userId: 'u1', limit: 50 })
  t.match(ofUser, /INDEX settings_history_user/)
  for (const sorted of [changes, ofUser]) t.notMatch(sorted, /TEMP B-TREE/)
  const others = JSON.stringify(
    database.prepare(`explain query plan ${findOthers('settings_value')}`).all('[]'),
  )
  t.match(others, /SEARCH settings_value USING (COVERING )?INDEX settings_value_key/)
  t.notMatch(others, /SCAN settings_value(?! USING)/)
  const statements = forgettingStatements(tables)
  const explain = (text: string): string =>
    JSON.stringify(database.prepare(`explain query plan ${text.replaceAll('?', "'1'")}`).all())
  t.match(explain(statements.boundHistory), /INDEX settings_history_at/)
  t.match(explain(statements.history), /settings_history_at.*settings_history_key/)
  t.match(explain(statements.unset), /settings_history_unset/)
  t.match(explain(statements.deleteHistory), /settings_history_user/)
  t.match(explain(statements.anonymousHistory), /settings_history_actor/)
  t.match(explain(statements.anonymousValues), /settings_value_writer/)
})
