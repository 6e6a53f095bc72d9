import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { test } from 'tap'
import { startPostgres, testDatabase } from '@fastify-modular/test-support/postgres'

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const folders = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('fastify-modular-postgres-'))

test('a committed row survives SIGKILL of the server, and stop leaves neither server nor folder', async (t) => {
  const before = new Set(folders())
  const server = await startPostgres()
  const own = folders().filter((name) => !before.has(name))
  t.equal(own.length, 1, 'one folder was made')
  const database = await server.createDatabase()
  await query(database.url, 'create table kept (id int); insert into kept values (42)')
  const wrong = new URL(database.url)
  wrong.password = 'wrong'
  await t.rejects(query(wrong.href, 'select 1'), { code: '28P01' }, 'a wrong password is refused')
  await server.kill('SIGKILL')
  await t.rejects(query(database.url, 'select 1'), { code: 'ECONNREFUSED' })
  await server.restart()
  t.same(await query(database.url, 'select id from kept'), [{ id: 42 }])
  await server.restart()
  t.same(
    await query(database.url, 'select id from kept'),
    [{ id: 42 }],
    'a restart of a running server is clean',
  )
  await server.stop()
  await t.rejects(query(database.url, 'select 1'), { code: 'ECONNREFUSED' })
  t.notOk(
    own.some((name) => folders().includes(name)),
    'the folder is gone',
  )
})

test('databases are apart from each other and dropped with the test', async (t) => {
  let dropped = ''
  await t.test('inner', async (inner) => {
    const [one, two] = await Promise.all([testDatabase(inner), testDatabase(inner)])
    dropped = one.url
    await query(one.url, 'create table only_here (id int)')
    await inner.rejects(query(two.url, 'select * from only_here'), { code: '42P01' })
  })
  await t.rejects(query(dropped, 'select 1'), { code: '3D000' }, 'database does not exist')
})

test('a database is dropped while a client is still connected', async (t) => {
  const database = await testDatabase(t)
  const client = new Client({ connectionString: database.url })
  const errors: Error[] = []
  client.on('error', (error) => errors.push(error))
  await client.connect()
  const ended = new Promise((resolve) => client.once('end', resolve))
  await database.drop()
  await ended
  t.match(errors, [{ code: '57P01' }], 'the client was told')
  await t.rejects(query(database.url, 'select 1'), { code: '3D000' })
})

test('the server and its folder go with a test process that is killed', async (t) => {
  const entry = import.meta.resolve('@fastify-modular/test-support/postgres')
  const script = `import { startPostgres } from '${entry}'
    const server = await startPostgres()
    process.stdout.write(server.url)
    setInterval(() => {}, 1000)`
  const before = new Set(folders())
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = await once(child.stdout, 'data')
  t.same(await query(String(url), 'select 1 as up'), [{ up: 1 }])
  const own = folders().filter((name) => !before.has(name))
  t.equal(own.length, 1)
  child.kill('SIGKILL')
  for (let attempt = 0; attempt < 200 && existsSync(join(tmpdir(), String(own[0]))); attempt++)
    await delay(50)
  t.notOk(existsSync(join(tmpdir(), String(own[0]))), 'the folder is gone')
  await t.rejects(query(String(url), 'select 1'), { code: 'ECONNREFUSED' })
})
