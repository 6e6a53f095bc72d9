import { once } from 'node:events'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'tap'
import { spawnNode } from '@fastify-modular/test-support/spawn-app'
import { until } from '@fastify-modular/test-support/until'
import { databaseWithAccounts, entry, formOf, person, startHost, tempFolder } from './host.js'

const secrets = {
  HOST_ADMIN_PASSWORD: 'a long admin password',
  SESSION_SECRET: 'a session secret of this test, long enough',
}

test('it starts on an empty database, prints its address and the demo accounts, and answers', async (t) => {
  const host = await startHost(t, { DATABASE_URL: `sqlite:${join(await tempFolder(t), 'host.sqlite')}` })
  await host.printed(/Demo accounts: admin, editor, alice, bob/)
  for (const path of ['/health', '/health/live'])
    t.same((await host.anonymous.ask(path)).json, { status: 'ok' }, path)
  t.same((await host.anonymous.ask('/health/ready')).json, { status: 'ok', settings: 'ready' })
  for (const name of ['admin', 'editor', 'alice', 'bob']) {
    t.equal((await (await host.signIn(name)).ask('/api/notes')).status, 200, name)
  }
  // SIGINT stops it although fetch keeps connections open.
  t.same(await host.stop('SIGINT'), { code: 0, signal: null })
})

test('SIGTERM stops it cleanly, and what it knew is there after the next start', async (t) => {
  const { DATABASE_URL } = await databaseWithAccounts(t)
  const first = await startHost(t, { DATABASE_URL })
  const alice = await first.signIn('alice')
  const note = await alice.ask('/api/notes', { method: 'POST', body: { title: 'Kept' } })
  t.same(await first.stop('SIGTERM'), { code: 0, signal: null })

  const second = await startHost(t, { DATABASE_URL })
  const again = await person(second.url, alice.cookie).ask(`/api/notes/${note.json.id}`)
  t.equal(again.json.title, 'Kept')
})

test('events that are under way when SIGTERM comes are handled, now or after the next start, and nothing fails', async (t) => {
  const { DATABASE_URL } = await databaseWithAccounts(t)
  const env = { DATABASE_URL }
  const host = await startHost(t, env)
  const alice = await host.signIn('alice')
  const ids: string[] = []
  for (let number = 0; number < 50; number++)
    ids.push(
      (await alice.ask('/api/notes', { method: 'POST', body: { title: `${number}`, body: '' } })).json.id,
    )
  await Promise.all(ids.map((id) => alice.ask(`/api/notes/${id}/share`, { method: 'POST' })))
  t.same(await host.stop(), { code: 0, signal: null })
  t.notMatch(host.log(), /"level":[56]0/)

  const again = await startHost(t, env)
  const admin = await again.signIn('admin')
  const mails = async () => (await admin.ask('/api/mails')).json.length
  await until(async () => (await mails()) >= ids.length)
  t.equal(await mails(), ids.length, 'one for each')
})

test('SIGTERM waits for requests in flight, not for idle connections', async (t) => {
  const host = await startHost(t)
  const { port } = new URL(host.url)
  const connect = async (): Promise<Socket> => {
    const socket = createConnection(Number(port), '127.0.0.1')
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  await connect() // a browser's spare connection, which never says anything
  const busy = await connect()
  const body = 'user=alice&password=demo-alice'
  const head = `POST /login HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n`
  busy.write(head + body.slice(0, 5))
  await host.anonymous.ask('/health/live') // by now the server has read the half
  const stopped = host.stop('SIGTERM')
  busy.write(body.slice(5))
  const [answer] = (await once(busy, 'data')) as [Buffer]
  t.match(answer.toString(), /^HTTP\/1\.1 303 /)
  t.same(await stopped, { code: 0, signal: null })
  t.notMatch(host.log(), 'cut off')
})

test('production without secrets refuses to start, and says what is missing', async (t) => {
  const file = join(await tempFolder(t), 'host.sqlite')
  const host = spawnNode(entry, {
    env: { NODE_ENV: 'production', PORT: '0', DATABASE_URL: `sqlite:${file}` },
  })
  t.same(await host.exited, { code: 1, signal: null })
  t.match(host.log(), /HOST_ADMIN_PASSWORD must be set[^]*SESSION_SECRET must be set/)
})

test('in production there are no demo accounts, and cookies that came over TLS stay there', async (t) => {
  const host = await startHost(t, { NODE_ENV: 'production', TRUST_PROXY: 'loopback', ...secrets })
  t.notMatch(host.log(), /demo/i)
  const signIn = (user: string, password: string) =>
    host.anonymous.ask('/login', formOf({ user, password }, { 'x-forwarded-proto': 'https' }))
  for (const name of ['admin', 'editor', 'alice', 'bob'])
    t.equal((await signIn(name, `demo-${name}`)).status, 401, name)
  const signedIn = await signIn('admin', secrets.HOST_ADMIN_PASSWORD)
  t.equal(signedIn.status, 303)
  t.equal(signedIn.headers.get('strict-transport-security'), 'max-age=31536000')
  t.match(signedIn.headers.getSetCookie()[0], /^session=.*; Path=\/;.* HttpOnly; Secure; SameSite=Lax$/)
  t.notMatch(host.log(), /a long admin password|a session secret/)
})

test('a port that is taken is one clear error, and nothing stays behind', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const address = taken.address()
  const PORT = typeof address === 'object' ? String(address?.port) : ''
  const host = spawnNode(entry, { env: { NODE_ENV: undefined, PORT, DATABASE_URL: 'sqlite::memory:' } })
  t.equal((await host.exited).code, 1)
  t.match(host.log(), new RegExp(`PORT ${PORT} is in use`))
  t.notMatch(host.log(), /\n +at /, 'no stack')
})

test('a database that cannot be opened is an error, not half a start', async (t) => {
  const folder = await tempFolder(t)
  for (const url of [`sqlite:${folder}`, 'postgres://u:hunter2@127.0.0.1:1/x']) {
    const host = spawnNode(entry, { env: { NODE_ENV: undefined, PORT: '0', DATABASE_URL: url } })
    t.equal((await host.exited).code, 1, url)
    t.match(host.log(), /DATABASE_URL names a database that cannot be opened: \S/)
    t.notMatch(host.log(), /hunter2|\n +at /)
  }
})
