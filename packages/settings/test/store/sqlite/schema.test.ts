import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type Test, test } from 'tap'
import { silentLog } from '../../contract/case.ts'
import { plainHistory } from '#src/store/schema.js'
import { sqlite } from '../../support/stores.js'

async function openDatabase(t: Test): Promise<Database.Database> {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  const database = new Database(join(folder, 'settings.db'))
  t.teardown(() => {
    database.close()
    return rm(folder, { recursive: true })
  })
  return database
}

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
    `select * from settings_history where (revision, scope, owner, key) > (?, ?, ?, ?)
     order by revision, scope, owner, key limit 100`,
    5,
    1,
    '',
    'a',
  )
  t.match(page, /SEARCH settings_history USING PRIMARY KEY/)
  t.notMatch(page, /TEMP B-TREE/)
})
