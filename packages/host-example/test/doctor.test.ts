/** The command line opens the example with its own configuration. */
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { openSqlite } from '#src/database/sqlite.js'
import { commandLine, startHost, tempFolder } from './host.js'

/** A database, and what the command says of the example on it. */
async function place(t: Test) {
  const file = join(await tempFolder(t), 'host.sqlite')
  const DATABASE_URL = `sqlite:${file}`
  return { file, DATABASE_URL, doctor: () => commandLine(DATABASE_URL)('doctor') }
}

test('doctor misses the tables of settings and events, and creates none of the application', async (t) => {
  const { file, doctor } = await place(t)
  t.match(await doctor(), {
    code: 3,
    log: /^missing migration .*sqliteOutbox[^]*^missing migration .*sqlite store/m,
  })
  const database = await openSqlite(file, [])
  t.teardown(() => database.close())
  t.same(await database.query('select name from sqlite_schema'), [])
})

test('once the example has been started, nothing is wrong, and doctor names the hooks that ran', async (t) => {
  const { DATABASE_URL, doctor } = await place(t)
  await (await startHost(t, { DATABASE_URL })).stop()
  t.same(await doctor(), { code: 0, log: 'nothing wrong\nran: an onReady hook of @fastify/swagger\n' })
})
