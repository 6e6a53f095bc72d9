import { Client } from 'pg'
import { test } from 'tap'
import { startFaultyProxy } from '@fastify-modular/test-support/faulty-proxy'
import { startPostgres, testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import { formOf, startHost } from './host.js'

test('the same application on PostgreSQL, in two instances', async (t) => {
  const { url: DATABASE_URL } = await testDatabase(t)
  const [one, two] = await Promise.all([startHost(t, { DATABASE_URL }), startHost(t, { DATABASE_URL })])
  const alice = await one.signIn('alice')
  const admin = await two.signIn('admin')

  const note = await alice.ask('/api/notes', { method: 'POST', body: { title: 'Shared', body: 'Text' } })
  t.equal(note.status, 201)
  t.equal((await admin.ask(`/api/notes/${note.json.id}`)).json.title, 'Shared')

  const changes = [one, two].map(async (host) => {
    const admin = await host.signIn('admin')
    return admin.ask(`/api/notes/${note.json.id}`, { method: 'PATCH', body: { title: host.url, version: 1 } })
  })
  t.same(
    (await Promise.all(changes)).map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409],
  )

  const share = `/api/notes/${note.json.id}/share`
  t.equal((await alice.ask(share, { method: 'POST' })).status, 200)
  t.equal((await two.anonymous.ask(share)).status, 200)
  t.equal((await two.anonymous.ask(share, { method: 'DELETE' })).status, 401)

  for (const path of ['/api/notes/%00', '/api/notes/a%00b/share']) {
    t.equal((await alice.ask(path)).status, 404, 'PostgreSQL cannot hold NUL')
  }

  const body = [
    { key: 'app.title', scope: 1, value: 'On PostgreSQL' },
    { key: 'mail.port', scope: 0, value: 2525 },
  ]
  t.equal((await admin.ask('/api/settings/bulk', { method: 'PUT', body })).status, 204)
  const titleOfOne = async () => (await alice.ask('/api/settings/app.title?scope=1')).json.value
  await until(async () => (await titleOfOne()) === 'On PostgreSQL')
  const bad = await admin.ask('/api/settings', {
    method: 'PUT',
    body: { key: 'mail.port', scope: 0, value: 0 },
  })
  t.equal(bad.status, 422)
  t.notMatch(one.log() + two.log(), new URL(DATABASE_URL).password)
  t.equal((await one.stop()).code, 0)
  t.equal((await two.stop()).code, 0)
})

test('a server of PostgreSQL that fails', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())

  await t.test(
    'while PostgreSQL is down public paths answer, others say 503, and all is well when it is back',
    async (t) => {
      const { url } = await server.createDatabase()
      const host = await startHost(t, { DATABASE_URL: url })
      const alice = await host.signIn('alice')
      await server.kill()

      t.equal((await host.anonymous.ask('/health/live')).status, 200)
      t.equal((await host.anonymous.ask('/', { headers: { accept: 'text/html' } })).status, 200)
      t.equal((await alice.ask('/', { headers: { accept: 'text/html' } })).status, 200, 'with a session, too')
      const refused = await alice.ask('/api/notes')
      t.equal(refused.status, 503)
      t.match(refused.headers.get('content-type'), /^application\/problem\+json/)
      const visit = await alice.ask('/notes', { headers: { 'x-inertia': 'true' } })
      t.match(visit.json, { component: 'Error/503', props: { status: 503 } })
      const login = await host.anonymous.ask('/login', formOf({ user: 'bob', password: 'demo-bob' }))
      t.equal(login.status, 503)
      t.notMatch(refused.text + visit.text + login.text, /ECONN|postgres|127\.0\.0\.1/)

      await server.restart()
      t.equal((await alice.ask('/api/notes')).status, 200)
      t.notMatch(host.log(), new URL(url).password)
    },
  )

  await t.test(
    'an instance whose database is down is ready as long as it knows stored settings',
    async (t) => {
      const { url } = await server.createDatabase()
      const host = await startHost(t, { DATABASE_URL: url })
      const ready = async () => (await host.anonymous.ask('/health/ready')).text
      const becomes = (answer: string) => until(async () => (await ready()) === answer)
      t.equal(await ready(), '{"status":"ok","settings":"ready"}')
      await server.kill()
      await becomes('{"status":"unavailable"}')
      t.equal((await host.anonymous.ask('/health/live')).status, 200)
      await server.restart()
      await becomes('{"status":"ok","settings":"ready"}')

      const admin = await host.signIn('admin')
      const body = { key: 'app.title', scope: 1, value: 'Stored' }
      t.equal((await admin.ask('/api/settings', { method: 'PUT', body })).status, 204)
      const lost = host.log().length
      await server.kill()
      await until(() => host.log().slice(lost).includes('the last known values are served'))
      t.equal(await ready(), '{"status":"ok","settings":"stale"}')
      await server.restart()
    },
  )

  await t.test('a database that refuses connections or writes puts no user data into the log', async (t) => {
    const { url } = await server.createDatabase()
    const host = await startHost(t, { DATABASE_URL: url })
    const alice = await host.signIn('alice')
    const database = new URL(url).pathname.slice(1)
    const client = new Client({ connectionString: new URL('/template1', server.url).href })
    await client.connect()
    t.teardown(() => client.end())
    const disconnectHost = () =>
      client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = $1',
        [database],
      )

    await client.query(`alter database "${database}" set default_transaction_read_only = on`)
    await disconnectHost()
    const body = { title: 'title of a secret', body: 'text of a secret' }
    const add = async () => (await alice.ask('/api/notes', { method: 'POST', body })).status
    for (let tries = 0; tries < 100 && !/read-only transaction/.test(host.log()); tries += 1) {
      t.equal(await add(), 503) // its connections end one by one, then the new ones take no writes
    }

    await client.query(`alter database "${database}" allow_connections false`)
    await disconnectHost()
    const login = formOf({ user: 'bob', password: 'demo-bob' })
    t.equal((await host.anonymous.ask('/login', login)).status, 503)
    t.match(host.log(), /read-only transaction/)
    t.notMatch(host.log(), /of a secret|params:/)
  })
})

test('connections that go silent are replaced, and SIGTERM ends the process while the database is silent', async (t) => {
  const { url } = await testDatabase(t)
  const proxy = await startFaultyProxy(url)
  t.teardown(() => proxy.close())
  const host = await startHost(t, { DATABASE_URL: proxy.url })
  const alice = await host.signIn('alice')
  const note = { method: 'POST', body: { title: 'Written' } }
  t.equal((await alice.ask('/api/notes', note)).status, 201)

  proxy.applyToOpen('silent')
  const statuses = new Set<number>()
  for (let tries = 0; tries < 40 && !statuses.has(201); tries += 1) {
    const answers = [1, 2].map(() => alice.ask('/api/notes', note).catch(() => ({ status: 0 })))
    for (const { status } of await Promise.all(answers)) statuses.add(status)
  }
  t.ok(statuses.has(201), `answered ${[...statuses].join(', ')}`)

  proxy.apply('silent')
  const { code, signal } = await host.stop()
  t.same([code, signal], [0, null])
})
