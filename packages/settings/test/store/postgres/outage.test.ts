/** The database goes away: nothing acknowledged is lost, no caller waits for ever, and instances catch up. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { ServiceUnavailableException } from '@fastify-modular/core'
import { freePort } from '@fastify-modular/test-support/free-port'
import { type PostgresServer, startPostgres } from '@fastify-modular/test-support/postgres'
import { Client, Pool } from 'pg'
import t, { type Test, test } from 'tap'
import { user, change, revisionOf, rowId, set, silentLog, until, writeAll } from '../../contract/case.ts'
import type { StorePort } from '#src/store/store.js'
import { failureOf, is503 } from '../failures.js'
import { acknowledged, startWriter, verify } from '../processes.js'
import { postgres } from '../../support/stores.js'

t.setTimeout(900_000)

// A server of its own: these tests kill it.
let server: PostgresServer
t.before(async () => (server = await startPostgres()))
t.teardown(() => server.stop())

async function openStore(t: Test, url: string, pollInterval = 30_000): Promise<StorePort> {
  const store = postgres({ connectionString: url }, { pollInterval })
  await store.open({ log: silentLog })
  t.teardown(() => store.close())
  return store
}

interface Watched {
  /** Revisions of notifications; -1 where it was time to look. */
  readonly received: number[]
  readonly losses: unknown[]
  readonly stop: () => Promise<void>
}

async function watch(store: StorePort): Promise<Watched> {
  const received: number[] = []
  const losses: unknown[] = []
  const stop = await store.watch?.({
    onHint: (hint) => received.push(hint?.revision ?? -1),
    onOwners: () => {},
    onLost: (error) => losses.push(error),
  })
  return { received, losses, stop: async () => stop?.() }
}

test('a server killed and restarted under load loses no acknowledged write', async (t) => {
  const { url } = await server.createDatabase()
  const writers = [0, 1, 2].map((index) =>
    startWriter({ database: url, author: `w${index}`, bulks: 1_000_000, parallel: 2 }),
  )
  const acks = (): number[] => writers.flatMap(acknowledged)
  await until('every writer to write', () => writers.every((writer) => acknowledged(writer).length > 5))
  await server.kill('SIGKILL')
  await until('an outage', () => writers.some((writer) => writer.log().includes('down')))
  await server.restart()
  const before = writers.map((writer) => acknowledged(writer).length)
  await until('every writer to write again', () =>
    writers.every((writer, index) => acknowledged(writer).length > (before[index] ?? 0) + 20),
  )
  for (const writer of writers) t.equal((await writer.stop('SIGTERM')).code, 0)
  const revision = await verify(url, 10, acks())
  t.ok(revision >= acks().length, 'a commit whose answer was lost counts as written')
})

test('while the server is down each call fails with 503, and works again afterwards', async (t) => {
  const { url } = await server.createDatabase()
  const store = await openStore(t, url)
  await set(store, 'a', '1')
  await server.kill('SIGKILL')
  // The process behind a connection outlives the server by the moment until it looks.
  await until('the outage', async () => (await failureOf(revisionOf(store))) !== null)
  for (const call of [
    () => set(store, 'a', '2'),
    () => store.shared.read(),
    () => store.owned.read(user('u')),
    () => revisionOf(store),
    () => store.history({ limit: 1 }),
    () => store.owned.news('0', 10),
    () => set(store, rowId('a', 'u'), '2'),
    () => store.trim({ olderThan: 1, perValue: 1 }),
    () => store.owned.erase(user('u')),
  ]) {
    const error = await failureOf(call())
    t.ok(is503(error))
    t.ok(error instanceof Error && error.cause)
    t.notMatch(String(error), new URL(url).password)
  }
  await server.restart()
  t.equal((await set(store, 'a', '2')).revision, 2)
})

test('a listener whose connection is cut says so, listens again and catches up', async (t) => {
  const { url } = await server.createDatabase()
  const writing = await openStore(t, url)
  const watching = await openStore(t, url)
  const { received, losses, stop } = await watch(watching)
  await set(writing, 'a', '1')
  await until('the first revision', () => received.includes(1))
  await server.kill('SIGKILL')
  await until('the loss', () => losses.length === 1)
  t.ok(losses[0] instanceof ServiceUnavailableException)
  await server.restart()
  await set(writing, 'a', '2')
  await until('the hint after the gap', () => received.lastIndexOf(-1) > received.indexOf(1))
  await set(writing, 'a', '3')
  await until('a write after that', () => received.includes(3))
  t.equal(losses.length, 1, 'one outage is reported once')
  await stop()
})

test('a listener terminated by an administrator is replaced', async (t) => {
  const { url } = await server.createDatabase()
  const writing = await openStore(t, url)
  const { received, losses, stop } = await watch(await openStore(t, url))
  const admin = new Client(url)
  await admin.connect()
  const listening =
    "select pid from pg_stat_activity where datname = current_database() and query ilike 'listen%'"
  await admin.query(`select pg_terminate_backend(pid) from (${listening}) as listener`)
  await until('the loss', () => losses.length === 1)
  await admin.end()
  await until('the hint of another listener', () => received.length > 1)
  await set(writing, 'a', '1')
  await until('the write', () => received.includes(1))
  await stop()
})

test('without any notification it is time to look after each poll interval', async (t) => {
  const { url } = await server.createDatabase()
  const { received, stop } = await watch(await openStore(t, url, 50))
  await until('the hint of the connection and two of the interval', () => received.length > 2)
  t.same(new Set(received), new Set([-1]))
  await stop()
})

test('while its connection for notifications is refused it is time to look all the same', async (t) => {
  const { url } = await server.createDatabase()
  const nobody = `postgres://127.0.0.1:${await freePort()}/none`
  const store = postgres(
    { connectionString: url },
    { pollInterval: 50, listen: { connectionString: nobody } },
  )
  await store.open({ log: silentLog })
  t.teardown(() => store.close())
  const { received, losses, stop } = await watch(store)
  await until('the loss', () => losses.length === 1)
  const before = received.length
  await until('three hints', () => received.length >= before + 3)
  await stop()
})

test('a watch that is stopped during an outage ends at once', async (t) => {
  const { url } = await server.createDatabase()
  const store = postgres({ connectionString: url }, { timeouts: { connect: 60_000, close: 60_000 } })
  await store.open({ log: silentLog })
  const { losses, stop } = await watch(store)
  await server.kill('SIGKILL')
  await until('the loss', () => losses.length === 1)
  const start = Date.now()
  await stop()
  await store.close()
  t.ok(Date.now() - start < 30_000)
  await server.restart()
})

test('a process that stops while it holds the lock does not stop the others for ever', async (t) => {
  const { url } = await server.createDatabase()
  const store = await openStore(t, url)
  const holder = new Client(url)
  await holder.connect()
  await holder.query("begin; select value from settings_meta where name = 'revision' for update")
  t.match(await failureOf(set(store, 'a', '1')), { statusCode: 503, cause: { code: '55P03' } })
  await holder.query('rollback')
  await holder.end()
  t.equal((await set(store, 'a', '1')).revision, 1)
})

test('a write whose enqueue never ends does so when its connection does', async (t) => {
  const { url } = await server.createDatabase()
  const store = await openStore(t, url)
  let isWaiting = false
  const write = failureOf(
    writeAll(store, [change(rowId('a'), '1')], {
      enqueue: () => new Promise<void>(() => (isWaiting = true)),
    }),
  )
  await until('enqueue', () => isWaiting)
  const admin = new Client(url)
  await admin.connect()
  // What idle_in_transaction_session_timeout does after ten seconds.
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'",
  )
  await admin.end()
  t.ok(is503(await write))
  t.equal((await set(store, 'a', '2')).revision, 1)
})

test('a pool that was handed over survives the loss of its idle connections, and is not closed', async (t) => {
  const { url } = await server.createDatabase()
  const pool = new Pool({ connectionString: url })
  t.teardown(() => pool.end())
  const store = postgres({ pool })
  await store.open({ log: silentLog })
  const { received, losses, stop } = await watch(store)
  await set(await openStore(t, url), 'a', '1')
  await until('the notification', () => received.includes(1))
  await server.kill('SIGKILL')
  await until('the loss', () => losses.length === 1)
  await server.restart()
  t.equal((await set(store, 'a', '2')).revision, 2)
  await stop()
  await store.close()
  t.equal((await pool.query('select 1')).rowCount, 1)
  t.equal(pool.listenerCount('error'), 0)
})

test('opening fails with 503 where nothing listens, and where nothing answers', async (t) => {
  const silent = createServer()
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const address = silent.address()
  const ports = [await freePort(), address && typeof address === 'object' ? address.port : 0]
  for (const [index, port] of ports.entries()) {
    const store = postgres({ connectionString: `postgres://user:s3cret@127.0.0.1:${port}/none` })
    const error = await failureOf(store.open({ log: silentLog }))
    t.ok(is503(error))
    t.notMatch(JSON.stringify(error) + String(error), 's3cret')
    if (index === 0) t.match(String(error), `(ECONNREFUSED 127.0.0.1:${port})`, 'the message says where')
    await store.close()
  }
})
