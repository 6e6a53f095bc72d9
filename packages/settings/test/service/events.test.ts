import Database from 'better-sqlite3'
import Fastify, { type FastifyInstance } from 'fastify'
import { Pool } from 'pg'
import { test, type Test } from 'tap'
import { defineModule, events, inProcess, modules, type Tx, type EventsOptions } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import {
  type JsonValue,
  setting,
  SettingChanged,
  SettingDeleted,
  settings,
  SettingScope,
  type SettingsReader,
} from '@fastify-modular/settings'
import type { StorePort } from '#src/store/store.js'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import { admin, definitions, rejection } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { recorder } from '../support/recorder.ts'
import { memoryStore, sqlite, postgres } from '../support/stores.js'

type EventTransport = NonNullable<EventsOptions['transport']>

const { Application, User, System } = SettingScope

async function createApp(
  t: { teardown(close: () => unknown): unknown },
  transport: EventTransport,
  store: StorePort = memoryStore(),
): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(events, { transport })
  await app.register(settings, { store, definitions: [definitions], routes: false })
  await app.ready()
  return app
}

test('a revert publishes one event for each value that it puts back', async (t) => {
  const { published, transport } = recorder()
  const app = await createApp(t, transport)
  await app.settings.setMany([
    { key: 'app.title', scope: Application, value: 'one' },
    { key: 'mail.port', scope: System, value: 25 },
  ])
  await app.settings.contract.setSetting('app.title', 'two', Application)
  published.length = 0
  await app.settings.revert(1, { force: { 'app.title': 2 }, actor: 'bob' })
  t.match(
    published.map(({ event }) => event),
    [
      { key: 'mail.port', changedBy: 'bob' },
      { key: 'app.title', changedBy: 'bob' },
    ],
  )
  t.ok(published.every(({ event }) => event instanceof SettingDeleted))
})

test('decision 28: one event for each change, after the commit, with old and new value', async (t) => {
  const { published, transport } = recorder()
  const app = await createApp(t, transport)
  await app.settings.contract.setSetting('app.title', 'one', Application, undefined, { actor: 'alice' })
  await app.settings.contract.setSetting('app.title', 'two', Application)
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  await app.settings.contract.deleteSetting('app.title', Application, undefined, { actor: 'bob' })
  const [first, second, third, fourth] = published.map(({ event }) => event)
  t.match(first, {
    key: 'app.title',
    scope: Application,
    userId: null,
    oldValue: null,
    newValue: 'one',
    changedBy: 'alice',
    at: /Z$/,
  })
  t.match(second, { oldValue: 'one', newValue: 'two', changedBy: null })
  t.match(third, { key: 'app.theme', scope: User, userId: 'alice', newValue: 'dark' })
  t.ok(first instanceof SettingChanged)
  t.ok(fourth instanceof SettingDeleted)
  t.match(fourth, { key: 'app.title', scope: Application, userId: null, changedBy: 'bob' })
})

test('each event carries the version that its value got, and versions of one value rise', async (t) => {
  const { published, transport } = recorder()
  const app = await createApp(t, transport)
  for (const userId of [undefined, 'alice']) {
    published.length = 0
    const [key, scope] = userId === undefined ? ['app.title', Application] : ['app.theme', User]
    await app.settings.contract.setSetting(key, 'dark', scope, userId)
    const first = await app.settings.history({ key, ...(userId !== undefined && { userId }) })
    await app.settings.contract.deleteSetting(key, scope, userId)
    await app.settings.contract.setSetting(key, 'light', scope, userId)
    const versions = published.map(({ event }) => (event as SettingChanged | SettingDeleted).version)
    t.equal(versions.length, 3)
    t.same(
      versions.toSorted((a, b) => a - b),
      versions,
    )
    t.equal(new Set(versions).size, 3)
    t.equal(versions[0], first.entries[0]?.revision)
  }
})

test('decision 13: events of sensitive settings carry no values', async (t) => {
  const { published, transport } = recorder()
  const app = await createApp(t, transport)
  await app.settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  await app.settings.contract.setSetting('app.api_secret', 'hunter3', Application)
  t.match(
    published.map(({ event }) => event),
    [
      { oldValue: null, newValue: null },
      { oldValue: null, newValue: null },
    ],
  )
  t.notMatch(JSON.stringify(published), /hunter/)
})

test('decision 27: no event where nothing changed, nothing was written or the write failed', async (t) => {
  const { published, transport } = recorder()
  const app = await createApp(t, transport)
  await app.settings.contract.setSetting('app.title', 'one', Application)
  published.length = 0
  await app.settings.contract.setSetting('app.title', 'one', Application)
  await app.settings.contract.deleteSetting('app.support_email', Application)
  await rejection(
    app.settings.setMany([
      { key: 'app.title', scope: Application, value: 'two' },
      { key: 'mail.port', scope: System, value: 0 },
    ]),
  )
  t.same(published, [])
})

test('decision 28: a bus that fails after the commit fails no write', async (t) => {
  const { transport } = recorder(false, () => Promise.reject(new Error('bus is down')))
  const app = await createApp(t, transport)
  await app.settings.contract.setSetting('app.title', 'one', Application)
  t.equal(app.settings.get('app.title'), 'one')
})

test('decision 28: a transport of the store’s kind is part of the transaction, and its failure undoes the write', async (t) => {
  const { published, transport } = recorder('sync')
  const tx: Tx = { kind: 'sync', run: () => {} }
  const inner = memoryStore()
  const store = changedStore(inner, {
    info: { transactional: 'sync' },
    // What a database does: the events are enqueued before the commit.
    async write(request, write) {
      const dry = await write({ ...request, decide: (current) => (request.decide(current), []) })
      const at = Date.now()
      const changes = request.reads.map((id) => ({
        ...id,
        revision: 1,
        before: undefined,
        after: { ...id, value: '"one"', encrypted: false, revision: 1, updatedAt: at, updatedBy: null },
      }))
      await request.enqueue?.(tx, { ...dry, at, changes })
      return write(request)
    },
  })
  const app = await createApp(t, transport, store)
  await app.settings.contract.setSetting('app.title', 'one', Application)
  t.equal(published.length, 1, 'not once more after the commit')
  t.equal(published[0]?.tx, tx)

  const full = recorder('sync', () => {
    throw new Error('the outbox is full')
  })
  const failing = await createApp(t, full.transport, store)
  t.match(await rejection(failing.settings.contract.setSetting('app.banner', 'x', Application)), {
    error: { message: 'the outbox is full' },
  })
  t.equal(await failing.settings.contract.getSetting('app.banner', Application), null)
})

test('a module’s handler receives a change, and reads the new value', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const received = new Promise<string>((resolve) => {
    class TitleHandler {
      static event = SettingChanged
      handle(event: SettingChanged): void {
        resolve(
          `${event.key} is ${String(event.newValue)}, get says ${String(app.settings.get('app.title'))}`,
        )
      }
    }
    app.register(settings, { definitions: [definitions], routes: false })
    app.register(modules, { modules: [defineModule({ name: 'listener', handlers: [TitleHandler] })] })
  })
  await app.ready()
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  t.equal(await received, 'app.title is Acme, get says Acme')
})

/** A store and a transport that share a database, where the transport has one. */
const transports: Readonly<
  Record<string, (t: Test) => Promise<{ readonly store: StorePort; readonly transport: EventTransport }>>
> = {
  inProcess: async () => ({ store: memoryStore(), transport: inProcess() }),
  sqliteOutbox: async (t) => {
    const database = new Database(':memory:')
    t.teardown(() => void database.close())
    return { store: sqlite({ database }), transport: sqliteOutbox({ database }) }
  },
  pgBoss: async (t) => {
    const { url } = await testDatabase(t)
    const pool = new Pool({ connectionString: url })
    pool.on('error', () => {}) // dropping the database may end a connection before the pool does
    t.teardown(() => pool.end())
    return { store: postgres({ pool }), transport: pgBoss({ pool, closeTimeout: 20 }) }
  },
}

for (const [name, open] of Object.entries(transports)) {
  test(`${name}: a value with a member toJSON is stored by every face, and its event arrives with it`, async (t) => {
    const received: JsonValue[] = []
    class ShapeHandler {
      static event = SettingChanged
      handle({ newValue }: SettingChanged): void {
        received.push(newValue as JsonValue)
      }
    }
    const app = Fastify({ pluginTimeout: 120_000 })
    const { store, transport } = await open(t)
    t.teardown(() => app.close())
    await app.register(events, { transport, handlers: [ShapeHandler] })
    const shape = setting.json('app.shape', { displayName: 'Shape', scope: Application })
    const own = setting.json('app.own', { displayName: 'Own', scope: User })
    await app.register(settings, { store, definitions: [{ shape, own }], findCaller: () => admin })
    await app.ready()
    const send = async (method: 'PUT' | 'POST', path: string, payload: object) => {
      const { statusCode, body } = await app.inject({ method, url: `/api/settings${path}`, payload })
      t.ok(statusCode < 300, `${method} ${path}: ${statusCode} ${body}`)
    }
    const row = (value: JsonValue) => ({ key: 'app.shape', scope: Application, value })
    const faces: Readonly<Record<string, (value: JsonValue) => Promise<unknown>>> = {
      'in process': (value) => app.settings.set(shape, value),
      PUT: (value) => send('PUT', '', row(value)),
      bulk: (value) => send('PUT', '/bulk', [row(value)]),
      import: (value) => send('POST', '/import', { format: 1, settings: [row(value)] }),
      me: (value) => send('PUT', '/me', { key: 'app.own', value }),
    }
    const expected: JsonValue[] = []
    for (const [face, write] of Object.entries(faces)) {
      for (const value of [
        { toJSON: 1, face },
        { face, a: [{ toJSON: null }] },
      ]) {
        await write(value)
        const reader: SettingsReader = face === 'me' ? await app.settings.forUser(admin.id) : app.settings
        t.same(reader.get(face === 'me' ? own : shape), value, face)
        expected.push(value)
        await until(() => received.length === expected.length)
      }
    }
    t.same(received, expected)
  })
}

test('settings.on calls back when get answers something new, after memory changed', async (t) => {
  const { transport } = recorder()
  const app = await createApp(t, transport)
  const calls: unknown[] = []
  const off = app.settings.on(definitions.port, (port, { previous, source, origin, revision }) => {
    calls.push([port, previous, source, origin, revision, app.settings.get(definitions.port)])
  })
  const all: string[] = []
  app.settings.on('*', (_value, { key }) => void all.push(key))
  await app.settings.contract.setSetting('mail.port', 25, System)
  await app.settings.contract.setSetting('mail.port', 25, System)
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  await app.settings.contract.deleteSetting('mail.port', System)
  off()
  await app.settings.contract.setSetting('mail.port', 26, System)
  t.same(calls, [
    [25, 587, 'system', 'local', 1, 25],
    [587, 25, 'default', 'local', 2, 587],
  ])
  t.same(all, ['mail.port', 'mail.port', 'mail.port'])
})

test('a listener sees all of a bulk, and its failure stops no other listener', async (t) => {
  const { transport } = recorder()
  const app = await createApp(t, transport)
  const seen: unknown[] = []
  app.settings.on('app.title', () => {
    throw new Error('listener broke')
  })
  app.settings.on('app.title', () => Promise.reject(new Error('listener broke later')))
  app.settings.on('app.title', (title) => void seen.push([title, app.settings.get('app.banner')]))
  await app.settings.setMany([
    { key: 'app.title', scope: Application, value: 'T' },
    { key: 'app.banner', scope: Application, value: 'B' },
  ])
  t.same(seen, [['T', 'B']])
})

test('settings.on refuses a key that no module defines', async (t) => {
  const { transport } = recorder()
  const app = await createApp(t, transport)
  t.throws(() => app.settings.on(String('mail.prot'), () => {}), { code: 'FMOD_SETTINGS_UNKNOWN_KEY' })
})

test('a listener that writes the same setting ends', async (t) => {
  const { transport } = recorder()
  const app = await createApp(t, transport)
  const done = new Promise<void>((resolve) => {
    app.settings.on('mail.port', async (port) => {
      if (port === 30) resolve()
      else await app.settings.contract.setSetting('mail.port', 30, System)
    })
  })
  await app.settings.contract.setSetting('mail.port', 25, System)
  await done
  t.equal(app.settings.get(definitions.port), 30)
})
