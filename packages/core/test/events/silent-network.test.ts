/** Connections to PostgreSQL that a network loses without reporting it to either side. */
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { test, type Test } from 'tap'
import type { EventTransport } from '#src/events/transport.js'
import { pgBoss, type PgBossCommonOptions } from '@fastify-modular/core/events/pg-boss'
import { startFaultyProxy } from '@fastify-modular/test-support/faulty-proxy'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import { listen } from '#src/internal/listener.js'
import { handlerOf, startApp } from './fixtures/app.js'
import { NoteShared } from './fixtures/events.js'

const shared = (noteId: string) => new NoteShared({ noteId, by: 'alice' })

const quick = { connect: 300, query: 900, probe: 100, close: 300 }

/** An application whose events go through a proxy. */
async function start(t: Test, options: PgBossCommonOptions = {}) {
  const { url } = await testDatabase(t)
  const proxy = await startFaultyProxy(url)
  t.teardown(() => proxy.close())
  const open = () => pgBoss({ connectionString: proxy.url, timeouts: quick, pollInterval: 50, ...options })
  return { app: await startWith(t, open), proxy, url }
}

/** Tries again where these short time-outs are too short for a busy machine. */
async function startWith(t: Test, open: () => EventTransport): Promise<FastifyInstance> {
  for (const end = Date.now() + 60_000; ;) {
    try {
      return (await startApp(t, { transport: open(), handlers: [handlerOf(NoteShared)] })).app
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}

/** Publishes until an event is taken. Returns how many were refused. */
async function publishOne(app: FastifyInstance, noteId: string): Promise<number> {
  let refused = 0
  const publish = () =>
    app.events.publish(shared(noteId)).then(
      () => true,
      () => ++refused < 0,
    )
  await until(publish)
  return refused
}

test('publishing and delivery recover by themselves after all connections went silent', async (t) => {
  const { app, proxy } = await start(t)
  await publishOne(app, 'before')
  await until(() => app.events.stats().handled > 0)
  proxy.applyToOpen('silent')
  t.comment(`${await publishOne(app, 'after')} refused before one was taken`)
  const { published } = app.events.stats()
  await until(() => app.events.stats().handled >= published)
})

test('while nothing answers, publish rejects instead of hanging, and close ends', async (t) => {
  const { app, proxy } = await start(t)
  await publishOne(app, 'before')
  proxy.apply('silent')
  await t.rejects(app.events.publish(shared('lost')))
  await app.close()
  await until(() => proxy.connections.length === 0)
})

test('a listening connection that goes silent is replaced, and notices arrive again', async (t) => {
  const { app, proxy, url } = await start(t, { pollInterval: 3_600_000, lease: 3_600_000 * 24 })
  const listening = () => proxy.connections.filter((connection) => connection.hasSent('LISTEN'))
  await until(() => listening().length === 1)
  const [lost] = listening()
  lost?.apply('silent')
  await until(() => listening().length === 1 && listening()[0] !== lost)
  const { app: publisher } = await startApp(t, { transport: pgBoss({ connectionString: url }) })
  await until(async () => {
    await publisher.events.publish(shared('noticed')) // once more where the fetch came too late
    return app.events.stats().handled > 0
  })
})

test('the late end of a lost connection does not end the one that replaced it', async (t) => {
  const { url } = await testDatabase(t)
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  const listening: pg.PoolClient[] = []
  pool.on('connect', (client) => listening.push(client))
  let notices = 0
  const lost: unknown[] = []
  const stop = listen({
    channels: ['news'],
    connect: () => pool.connect(),
    disconnect: (connection) => connection.release(true),
    probe: 60_000,
    answer: 60_000,
    onListening: () => notices++,
    onNotice: () => notices++,
    onLost: (error) => lost.push(error),
  })
  await until(() => notices === 1)
  listening[0]?.emit('error', new Error('reset'))
  await until(() => notices === 2)
  listening[0]?.emit('end')
  listening[0]?.emit('error', new Error('late'))
  await pool.query(`SELECT pg_notify('news', '')`)
  await until(() => notices === 3)
  t.equal(lost.length, 1)
  await stop()
  t.equal(pool.totalCount, pool.idleCount)
})

test('close ends also with a pool without time-outs', async (t) => {
  const { url } = await testDatabase(t)
  const proxy = await startFaultyProxy(url)
  const pool = new pg.Pool({ connectionString: proxy.url })
  pool.on('error', () => {})
  t.teardown(async () => {
    await proxy.close()
    await pool.end()
  })
  const app = await startWith(t, () => pgBoss({ pool, timeouts: quick, pollInterval: 20 }))
  await publishOne(app, 'before')
  proxy.apply('silent')
  const publishing = app.events.publish(shared('lost'))
  publishing.catch(() => {}) // it ends with the connection
  await until(() => pool.idleCount === 0)
  await app.close()
  t.equal(pool.ended, false, 'the pool stays with its owner')
})
