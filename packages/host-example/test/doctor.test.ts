/** The command line opens the example with its own configuration. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { openSqlite } from '#src/database/sqlite.js'
import { commandLine, startHost, tempFolder } from './host.js'

/** A database, and what the command says of the example on it. */
async function place(t: Test) {
  const file = join(await tempFolder(t), 'host.sqlite')
  const DATABASE_URL = `sqlite:${file}`
  const command = commandLine(DATABASE_URL)
  return { file, DATABASE_URL, command, doctor: () => command('doctor') }
}

test('doctor misses the tables of settings and events, and creates none of the application', async (t) => {
  const { file, doctor } = await place(t)
  t.match(await doctor(), {
    code: 3,
    log: /^missing migration .*sqliteOutbox[^]*^missing migration .*sqlite store/m,
  })
  t.notOk(existsSync(file), 'nor a file')
})

test('a command that writes finds no database, and makes none; migrate makes one without the tables of the application', async (t) => {
  const { file, command } = await place(t)
  t.match(await command('settings set app.title New'), { code: 1, log: /migrat/i })
  t.notOk(existsSync(file))
  t.match(await command('migrate'), { code: 0 })
  const database = await openSqlite(file, [])
  t.teardown(() => database.close())
  const names = (await database.query('select name from sqlite_schema')).map(({ name }) => name)
  t.notOk(names.includes('notes'))
  t.match(await command('settings set app.title New'), { code: 0 })
})

test('once the example has been started, nothing is wrong, and doctor names the hooks that ran', async (t) => {
  const { DATABASE_URL, doctor } = await place(t)
  await (await startHost(t, { DATABASE_URL })).stop()
  t.same(await doctor(), { code: 0, log: 'nothing wrong\nran: an onReady hook of @fastify/swagger\n' })
})
