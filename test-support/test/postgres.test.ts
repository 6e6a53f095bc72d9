import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { type Test, test } from 'tap'
import { startPostgres, testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'

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

/** A temporary folder where no other test run makes any; returns a function that lists the servers' folders in it. */
function ownPlace(t: Test): () => string[] {
  const place = mkdtempSync(join(tmpdir(), 'fastify-modular-test-'))
  chmodSync(place, 0o755) // root's servers run as nobody, who has to get in
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = place
  t.teardown(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    rmSync(place, { recursive: true, force: true })
  })
  return () => readdirSync(place).filter((name) => name.startsWith('fastify-modular-postgres-'))
}

test('a committed row survives SIGKILL of the server, and stop leaves neither server nor folder', async (t) => {
  const folders = ownPlace(t)
  const server = await startPostgres()
  t.equal(folders().length, 2, 'one for the data, one for what is beside it')
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
  t.same(folders(), [], 'the folders are gone')
})

test('the data of a server that flushes lie on the disk', async (t) => {
  const before = process.env['TMPDIR']
  delete process.env['TMPDIR']
  t.teardown(() => {
    if (before !== undefined) process.env['TMPDIR'] = before
  })
  const server = await startPostgres(['fsync=on'])
  t.teardown(() => server.stop())
  const [place] = (await query(server.url, 'show data_directory')) as { data_directory: string }[]
  t.match(place?.data_directory, tmpdir())
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

test('a database that is dropped lets its connections end', async (t) => {
  const database = await testDatabase(t)
  const client = new Client({ connectionString: database.url })
  const errors: unknown[] = []
  client.on('error', (error) => errors.push(error))
  await client.connect()
  const dropped = database.drop()
  const dropping = `select from pg_stat_activity where query like 'drop%${new URL(database.url).pathname.slice(1)}%'`
  await until(async () => (await client.query(dropping)).rows.length > 0)
  await client.end()
  await dropped
  t.same(errors, [])
})

test('the server and its folder go with a test process that is killed', async (t) => {
  const folders = ownPlace(t)
  const entry = import.meta.resolve('@fastify-modular/test-support/postgres')
  const script = `import { startPostgres } from '${entry}'
    const server = await startPostgres()
    process.stdout.write(server.url)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = await once(child.stdout, 'data')
  t.same(await query(String(url), 'select 1 as up'), [{ up: 1 }])
  t.equal(folders().length, 2)
  child.kill('SIGKILL')
  await until(() => folders().length === 0)
  await t.rejects(query(String(url), 'select 1'), { code: 'ECONNREFUSED' })
})
