/** The hold that a process has on the events it handles, as the database shows it. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Type } from '@sinclair/typebox'
import Database from 'better-sqlite3'
import pg from 'pg'
import { test, type Test } from 'tap'
import { defineEvent } from '@fastify-modular/core'
import type { EventTransport } from '#src/events/transport.js'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import { handlerOf, startApp } from './fixtures/app.js'

class Happened extends defineEvent('happened', Type.Object({})) {}

interface Engine {
  readonly transport: EventTransport
  /** Until when the running delivery is held, or since when: it grows with each renewal. */
  held(): Promise<number>
  /** Gives the running delivery to a process that does not exist. */
  steal(): Promise<void>
  /** Ends the lease of the running delivery: any process may take it in so many milliseconds. */
  expire(pause: number): Promise<void>
  /** Deliveries that are not finished. */
  left(): Promise<number>
}

const engines: Record<string, (t: Test) => Promise<Engine>> = {
  async sqliteOutbox() {
    const database = new Database(':memory:')
    const read = (sql: string) => (database.prepare(sql).get() as { n: number }).n
    return {
      transport: sqliteOutbox({ database, lease: 300, pollInterval: 20, retryDelay: 1, maxAttempts: 1 }),
      held: async () => read('SELECT due_at AS n FROM event_delivery'),
      steal: async () => void database.exec('UPDATE event_delivery SET due_at = 99999999999999'),
      expire: async (pause) =>
        void database.prepare('UPDATE event_delivery SET due_at = ?').run(Date.now() + pause),
      left: async () => read('SELECT count(*) AS n FROM event_delivery WHERE dead_at IS NULL'),
    }
  },
  async pgBoss(t) {
    const { url } = await testDatabase(t)
    const client = new pg.Client(url)
    await client.connect()
    t.teardown(() => client.end())
    const job = `FROM pgboss.job WHERE name = 'events.app.SlowHandler'`
    const read = async (sql: string) => Number((await client.query<{ n: string }>(sql)).rows[0]?.n)
    return {
      // A lease that is renewed long before it ends, on a machine as slow as it may be.
      transport: pgBoss({
        connectionString: url,
        timeouts: { connect: 60_000 },
        lease: 60_000,
        pollInterval: 20,
        maxAttempts: 1,
      }),
      held: () => read(`SELECT extract(epoch FROM started_on) * 1000 AS n ${job}`),
      steal: async () => void (await client.query(`UPDATE pgboss.job SET singleton_key = 'another'`)),
      expire: async (pause) =>
        void (await client.query(
          `UPDATE pgboss.job SET state = 'retry', start_after = now() + $1 * interval '1 ms', started_on = NULL, singleton_key = NULL`,
          [pause],
        )),
      left: () => read(`SELECT count(*) AS n ${job}`),
    }
  },
}

/** An application whose handler runs until it is released, with the error to throw. */
async function start(t: Test, transport: EventTransport) {
  let release: (error?: Error) => void = () => {}
  let begun = 0
  const handle = async () => {
    begun++
    const error = await new Promise<Error | undefined>((resolve) => (release = resolve))
    if (error) throw error
  }
  const { app } = await startApp(t, { transport, handlers: [handlerOf(Happened, handle, 'SlowHandler')] })
  t.teardown(() => release())
  await app.events.publish(new Happened({}))
  await until(() => begun === 1)
  return { app, begun: () => begun, release: (error?: Error) => release(error) }
}

for (const [name, open] of Object.entries(engines)) {
  test(`${name}: the lease of a handler that runs for long is renewed`, async (t) => {
    const engine = await open(t)
    const { app, begun, release } = await start(t, engine.transport)
    for (let renewal = 0, last = await engine.held(); renewal < 3; renewal++, last = await engine.held())
      await until(async () => (await engine.held()) > last)
    t.equal(begun(), 1)
    release()
    await until(async () => (await engine.left()) === 0)
    t.match(app.events.stats(), { handled: 1, failed: 0 })
  })

  test(`${name}: the failure of an attempt that has lost its lease changes nothing`, async (t) => {
    const engine = await open(t)
    const { app, release } = await start(t, engine.transport)
    await engine.steal()
    release(new Error('too late'))
    await until(() => app.events.stats().failed === 1)
    await app.close() // records all outcomes
    t.equal(await engine.left(), 1, 'it still belongs to the other one')
  })

  test(`${name}: what an attempt has handled after its lease ended is done`, async (t) => {
    const engine = await open(t)
    const { app, release } = await start(t, engine.transport)
    await engine.expire(3_600_000)
    release()
    await until(() => app.events.stats().handled === 1)
    await app.close() // records all outcomes
    t.equal(await engine.left(), 0)
  })

  test(`${name}: what runs here when its lease has ended is held again, and not begun again`, async (t) => {
    const engine = await open(t)
    const { app, begun, release } = await start(t, engine.transport)
    const before = await engine.held()
    await engine.expire(0)
    await until(async () => (await engine.held()) > before)
    t.equal(begun(), 1)
    release(new Error('the last attempt'))
    await until(async () => (await engine.left()) === 0)
    t.match(app.events.stats(), { handled: 0, failed: 1, deadLettered: 1 })
  })
}

const database = () => new Database(':memory:')

/** Locks the file, and says when it gives it back. */
const lockForLong = `
  const { parentPort, workerData: { driver, file, pause } } = require('node:worker_threads')
  const Database = require(driver)
  const database = new Database(file)
  database.exec('BEGIN IMMEDIATE')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause)
  parentPort.postMessage(Date.now())
  database.exec('COMMIT')
  database.close()`

test('sqliteOutbox: what runs while the file is locked for longer than its lease is not begun again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'leases-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'app.db')
  const own = new Database(file, { timeout: 60_000 })
  t.teardown(() => own.close())
  own.pragma('journal_mode = WAL')
  const lease = 300
  const { app, release, begun } = await start(t, sqliteOutbox({ database: own, lease, pollInterval: 20 }))
  const dueAt = () => own.prepare('SELECT due_at FROM event_delivery').pluck().get() as number
  const driver = createRequire(import.meta.url).resolve('better-sqlite3')
  const other = new Worker(lockForLong, { eval: true, workerData: { driver, file, pause: 3 * lease } })
  const [unlocked] = await once(other, 'message')
  await until(() => dueAt() > Number(unlocked) + lease)
  t.equal(begun(), 1)
  release()
  await until(() => app.events.stats().handled === 1)
})

test('sqliteOutbox: an attempt that another process has made is not counted for the one that runs here', async (t) => {
  const shared = database()
  const transport = sqliteOutbox({
    database: shared,
    lease: 100,
    pollInterval: 5,
    retryDelay: 1,
    maxAttempts: 2,
  })
  const { app, begun, release } = await start(t, transport)
  await delay(5) // a later lease has a later end
  shared.prepare('UPDATE event_delivery SET attempts = 1, due_at = ?').run(Date.now())
  const dueAt = () => shared.prepare('SELECT due_at FROM event_delivery').pluck().get() as number
  await until(() => dueAt() > Date.now())
  release(new Error('of the first attempt'))
  await until(() => app.events.stats().failed === 1)
  await until(() => begun() === 2)
  release(new Error('of the second one'))
  await until(async () => (await app.events.deadLetters?.list())?.length === 1)
  t.match(await app.events.deadLetters?.list(), [{ attempts: 2 }])
})

test('sqliteOutbox: a clock that goes back takes no lease away', async (t) => {
  const { now } = Date
  t.teardown(() => (Date.now = now))
  const transport = sqliteOutbox({ database: database(), lease: 100, pollInterval: 5 })
  const { app, begun, release } = await start(t, transport)
  Date.now = () => now() - 60_000
  release()
  await until(() => app.events.stats().handled === 1)
  await app.events.publish(new Happened({}))
  await until(() => begun() === 2)
  await delay(500) // five leases
  t.equal(begun(), 2)
  release()
  await until(() => app.events.stats().handled === 2)
})

test('sqliteOutbox: what ends while it closes is recorded at once, and not after its lease', async (t) => {
  const shared = database()
  const left = () => shared.prepare('SELECT count(*) FROM event_delivery').pluck().get()
  const ends = new Map<string, () => void>()
  const running = (name: string) =>
    handlerOf(Happened, () => new Promise<void>((resolve) => ends.set(name, resolve)), `${name}Handler`)
  let isClosing = false
  const { app } = await startApp(t, {
    transport: sqliteOutbox({ database: shared, lease: 60_000, closeTimeout: 60_000 }),
    handlers: [running('Slow'), running('Quick')],
    prepare: (made) => made.addHook('preClose', async () => void (isClosing = true)),
  })
  await app.events.publish(new Happened({}))
  await until(() => ends.size === 2)
  const closed = app.close()
  await until(() => isClosing)
  ends.get('Quick')?.()
  await until(() => left() === 1)
  ends.get('Slow')?.()
  await closed
  t.equal(left(), 0)
})
