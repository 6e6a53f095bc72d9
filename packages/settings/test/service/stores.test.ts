import { randomBytes } from 'node:crypto'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { Pool } from 'pg'
import { test } from 'tap'
import { type DomainEvent, events, type EventsOptions } from '@fastify-modular/core'
import type { AsyncTx } from '@fastify-modular/core/events/durable'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { nodeSqlite } from '@fastify-modular/core/internal'
import { settings, SettingScope } from '@fastify-modular/settings'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import type { StorePort } from '#src/store/store.js'
import { until } from '../contract/case.ts'
import { as, createApp, definitions, expectStatuses, rejection } from '../support/app.ts'
import { engines, newFile } from '../support/engines.ts'
import { sqlite, postgres } from '../support/stores.js'

type EventTransport = NonNullable<EventsOptions['transport']>

const { Application, System, User } = SettingScope

const { memory: _, ...databases } = engines
for (const [name, makeStore] of Object.entries(databases)) {
  test(`${name}: what was acknowledged over HTTP is there after a restart, history included`, async (t) => {
    const store = await makeStore(t)
    const keys = [{ id: 'k', key: randomBytes(32) }]
    const options = { encryption: { keys }, selfService: true as const }
    const first = await createApp(t, { ...options, store: store() })
    const port = (value: number) => ({ key: 'mail.port', scope: 0, value })
    await expectStatuses(t, first, [
      [204, 'PUT', '/bulk', [port(25), { key: 'app.title', scope: 1, value: 'Ä\u2028"' }]],
      [204, 'PUT', '', { key: 'mail.password', scope: 0, value: 'hunter2' }],
      [204, 'PUT', '/me', { key: 'app.theme', value: 'dark' }, 'alice'],
      [204, 'DELETE', '/app.title?scope=1', undefined, 'admin', { 'if-match': '"r1"' }],
      [412, 'PUT', '', port(26), 'admin', { 'if-match': '"r9"' }],
    ])
    await first.close()

    const second = await createApp(t, { ...options, store: store() })
    t.equal(second.settings.status.revision, 3)
    t.equal(second.settings.get(definitions.port), 25)
    t.equal(second.settings.get(definitions.password), 'hunter2')
    t.equal((await second.settings.forUser('alice')).get(definitions.theme), 'dark')
    t.equal((await as(second, 'admin')('POST', '/app.title/restore', { scope: 1, revision: 1 })).status, 204)
    t.equal(second.settings.get(definitions.title), 'Ä\u2028"')
    t.same(
      (await second.settings.history({ key: 'app.title', scope: Application })).entries.map(
        ({ revision }) => revision,
      ),
      [4, 3, 1],
    )
  })

  test(`${name}: another instance serves a change soon, its users' values too`, async (t) => {
    const store = await makeStore(t)
    const here = await createApp(t, { store: store() })
    const there = await createApp(t, { store: store() })
    await there.listen({ port: 0, host: '127.0.0.1' }) // what waits for changes keeps no process alive
    await there.settings.forUser('alice')
    const arrived = new Promise<number>((resolve) => there.settings.on(definitions.port, resolve))
    await here.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
    await here.settings.contract.setSetting('mail.port', 25, System)
    t.equal(await arrived, 25)
    await until(
      "the user's value",
      async () => (await there.settings.forUser('alice')).get(definitions.theme) === 'dark',
    )
  })

  test(`${name}: 40 first writes of one setting at once give one row`, async (t) => {
    const store = await makeStore(t)
    const [one, two] = [await createApp(t, { store: store() }), await createApp(t, { store: store() })]
    const write = (index: number) =>
      (index % 2 ? one : two).settings.contract.setSetting('mail.port', index + 1, System)
    await Promise.all(Array.from({ length: 40 }, (_, index) => write(index)))
    await Promise.all([one.settings.refresh(), two.settings.refresh()])
    t.equal(one.settings.status.revision, 40)
    t.equal(one.settings.get(definitions.port), two.settings.get(definitions.port))
  })
}

test('SQLite: an outbox on the same database joins the transaction of the write', async (t) => {
  const database = new Database(':memory:')
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(events, { transport: sqliteOutbox({ database }) })
  await app.register(settings, { definitions: [definitions], store: sqlite({ database }), routes: false })
  await app.ready()
  await app.settings.contract.setSetting('mail.port', 25, System)
  t.equal(app.settings.get(definitions.port), 25)
  t.equal(app.events.stats().published, 1)
})

const newDatabase = () => new Database(':memory:')

test('events that were given another connection than the store stop the boot, and those that were given the same do not', async (t) => {
  const { url: connectionString } = await testDatabase(t)
  const newPool = () => {
    const pool = new Pool({ connectionString })
    pool.on('error', () => {}) // dropping the database may end a connection before the pool does
    t.teardown(() => pool.end())
    return pool
  }
  const [database, pool] = [newDatabase(), newPool()]
  const file = await newFile(t)
  const { DatabaseSync } = nodeSqlite() ?? {}
  const builtIn = DatabaseSync ? new DatabaseSync(':memory:') : newDatabase()
  const rows: readonly (readonly [
    what: string,
    store: StorePort,
    transport: EventTransport,
    isRefused: boolean,
  ])[] = [
    ['one connection', sqlite({ database }), sqliteOutbox({ database }), false],
    ['one of node:sqlite', sqlite({ database: builtIn }), sqliteOutbox({ database: builtIn }), false],
    ['two databases', sqlite({ database: newDatabase() }), sqliteOutbox({ database: newDatabase() }), true],
    ['two connections of a file', sqlite({ file }), sqliteOutbox({ database: new Database(file) }), true],
    ['one pool', postgres({ pool }), pgBoss({ pool, closeTimeout: 20 }), false],
    ['one string', postgres({ connectionString }), pgBoss({ connectionString, closeTimeout: 20 }), false],
    ['two pools', postgres({ pool }), pgBoss({ pool: newPool(), closeTimeout: 20 }), true],
  ]
  for (const [what, store, transport, isRefused] of rows) {
    const app = Fastify({ pluginTimeout: 120_000 })
    t.teardown(() => app.close())
    app.register(events, { transport })
    app.register(settings, { definitions: [definitions], store, routes: false })
    const booted = Promise.resolve(app.ready())
    if (!isRefused) await t.resolves(booted, what)
    else t.match(await rejection(booted), { error: { code: 'FMOD_SETTINGS_FOREIGN_EVENTS' } }, what)
  }
})

test('PostgreSQL: a transport enqueues in the transaction of the write; its failure undoes both', async (t) => {
  const makeStore = await engines.PostgreSQL(t)
  const published: DomainEvent[] = []
  const state = { full: false }
  const createTransport = (): EventTransport => ({
    name: 'test',
    transactional: 'async',
    isOn: () => true,
    open: () => ({
      subscribe: () => {},
      start: () => {},
      async publish(event, { tx }) {
        await (tx as AsyncTx).query('select 1', [])
        if (state.full) throw new Error('the queue is full')
        published.push(event)
      },
      drain: () => {},
      close: () => {},
    }),
  })
  const boot = async () => {
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(events, { transport: createTransport() })
    app.register(settings, { definitions: [definitions], store: makeStore(), routes: false })
    await app.ready()
    return app
  }
  const app = await boot()
  await app.settings.contract.setSetting('mail.port', 25, System)
  t.match(published, [{ key: 'mail.port', newValue: 25 }])
  state.full = true
  t.match(await rejection(app.settings.contract.setSetting('mail.port', 26, System)), {
    error: { message: 'the queue is full' },
  })
  t.equal(app.settings.status.revision, 1)
  t.equal(app.settings.get(definitions.port), 25)
})
