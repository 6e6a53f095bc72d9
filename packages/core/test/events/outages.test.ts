/** Databases that are locked, full, closed, gone or forbidden while the application runs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import pg from 'pg'
import { test, type Test } from 'tap'
import { events } from '@fastify-modular/core'
import type { EventTransport } from '#src/events/transport.js'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { startPostgres } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import { handlerOf, startApp } from './fixtures/app.js'
import { NoteShared } from './fixtures/events.js'

const shared = (by = 'alice') => new NoteShared({ noteId: 'n1', by })

/** An application with one handler; `handled` resolves when it has handled so many events. */
async function start(t: Test, transport: EventTransport) {
  const { app, errors } = await startApp(t, { transport, handlers: [handlerOf(NoteShared)] })
  const handled = (count: number) => until(() => app.events.stats().handled >= count)
  return { app, handled, messages: () => errors.map(({ msg }) => msg) }
}

function sqliteFile(t: Test): (options?: Database.Options) => Database.Database {
  const folder = mkdtempSync(join(tmpdir(), 'outages-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return (options) => new Database(join(folder, 'app.db'), options)
}

test('SQLite: an event that waited while another process locked the file is delivered', async (t) => {
  const open = sqliteFile(t)
  const { app, handled, messages } = await start(
    t,
    sqliteOutbox({ database: open({ timeout: 1 }), pollInterval: 5 }),
  )
  const other = open()
  await app.events.publish(shared())
  other.exec('BEGIN IMMEDIATE') // before the event loop comes to deliver
  await until(() => messages().length > 0)
  await t.rejects(app.events.publish(shared()), { code: 'SQLITE_BUSY' })
  other.exec('ROLLBACK')
  await handled(1)
  t.same(messages(), ['event queue cannot be used'], 'logged once, however often it was tried')
  t.equal(app.events.stats().published, 1, 'what was refused is not counted as published')
})

test('SQLite: only the first attempt waits for a locked file, until one gets the lock', async (t) => {
  const open = sqliteFile(t)
  const database = open({ timeout: 150 })
  const { app, handled } = await start(t, sqliteOutbox({ database, pollInterval: 5 }))
  const timeouts: number[] = []
  const pragma = database.pragma.bind(database)
  database.pragma = (source, options) => {
    if (source.startsWith('busy_timeout =')) timeouts.push(Number(source.split('=')[1]))
    return pragma(source, options)
  }
  const other = open()
  await app.events.publish(shared())
  other.exec('BEGIN IMMEDIATE') // before the event loop comes to deliver
  await until(() => timeouts.length >= 20)
  t.same([...new Set(timeouts)], [10, 150], 'those after the first wait for 10 ms')
  await t.rejects(app.events.publish(shared()), { code: 'SQLITE_BUSY' })
  t.equal(pragma('busy_timeout', { simple: true }), 150, 'the connection keeps its own time-out')
  other.exec('ROLLBACK')
  await handled(1)
  timeouts.length = 0
  await app.events.publish(shared())
  await handled(2)
  t.same(timeouts, [], 'a file that is free again is waited for with the whole time-out')
})

test('SQLite: a full database refuses the event where it is published, and takes it later', async (t) => {
  const database = new Database(':memory:')
  const { app, handled } = await start(t, sqliteOutbox({ database, pollInterval: 5 }))
  const pages = database.pragma('page_count', { simple: true }) as number
  database.pragma(`max_page_count = ${pages}`)
  const large = shared('x'.repeat(100_000))
  await t.rejects(app.events.publish(large), { code: 'SQLITE_FULL' })
  database.pragma('max_page_count = 100000')
  await app.events.publish(large)
  await handled(1)
})

test('SQLite: a read-only database stops the boot', async (t) => {
  const open = sqliteFile(t)
  open().exec('CREATE TABLE t (a)')
  await t.rejects(start(t, sqliteOutbox({ database: open({ readonly: true }) })), { code: 'SQLITE_READONLY' })
})

test('SQLite: a database that is closed too early is logged once, and the application still closes', async (t) => {
  const database = new Database(':memory:')
  const { app, handled, messages } = await start(t, sqliteOutbox({ database, pollInterval: 1 }))
  await app.events.publish(shared())
  await handled(1)
  database.close()
  await t.rejects(app.events.publish(shared()), /not open/)
  await until(() => messages().length > 0)
  await delay(50) // fifty polls
  await app.close()
  t.same(messages(), ['event queue cannot be used'])
})

test('PostgreSQL: the server dies while events are published outside a transaction', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const { url } = await server.createDatabase()
  const { app, handled } = await start(t, pgBoss({ connectionString: url, pollInterval: 50, retryDelay: 1 }))
  await app.events.publish(shared())
  await handled(1)
  const refused: unknown[] = []
  const publisher = (async () => {
    while (refused.length < 3)
      await app.events.publish(shared()).catch((error: unknown) => refused.push(error))
  })()
  await server.kill()
  await publisher
  await server.restart()
  const { published } = app.events.stats()
  await until(() => app.events.stats().handled >= published)
  t.ok(
    refused.every((error) => error instanceof Error),
    'each refusal is an error of the publisher',
  )
})

test('PostgreSQL: a revoked table refuses publishers and is logged; delivery goes on afterwards', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const { url } = await server.createDatabase()
  const owner = new pg.Client(url)
  await owner.connect()
  t.teardown(() => owner.end())
  await owner.query(`CREATE ROLE app LOGIN PASSWORD 'app'; GRANT ALL ON SCHEMA public TO app`)
  await owner.query(`GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO app`)
  const asApp = Object.assign(new URL(url), { username: 'app', password: 'app' }).href
  const { app, handled, messages } = await start(t, pgBoss({ connectionString: asApp, pollInterval: 50 }))
  await owner.query('REVOKE ALL ON ALL TABLES IN SCHEMA pgboss FROM app')
  await t.rejects(app.events.publish(shared()), { code: '42501' })
  await until(() => messages().includes('event queue cannot be used'))
  t.equal(app.events.stats().published, 0)
  await owner.query('GRANT ALL ON ALL TABLES IN SCHEMA pgboss TO app')
  await app.events.publish(shared())
  await handled(1)
})

test('PostgreSQL: a boot that fails because the role may only read the queue leaves no connection behind', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const { url } = await server.createDatabase()
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  t.teardown(() => admin.end())
  await admin.query(`CREATE ROLE limited LOGIN PASSWORD 'limited'`)
  const complete = Fastify({ pluginTimeout: 120_000 })
  await complete.register(events, { transport: pgBoss({ connectionString: url }) })
  await complete.close()
  await admin.query(
    'GRANT USAGE ON SCHEMA pgboss TO limited; GRANT SELECT ON ALL TABLES IN SCHEMA pgboss TO limited',
  )
  const limited = new URL(url)
  limited.username = 'limited'
  limited.password = 'limited'

  await t.rejects(start(t, pgBoss({ connectionString: limited.href })), { code: '42501' })
  const connections = `SELECT FROM pg_stat_activity WHERE usename = 'limited'`
  await until(async () => (await admin.query(connections)).rowCount === 0)
})
