import { randomBytes } from 'node:crypto'
import { events } from '@fastify-modular/core'
import { setting, settings, SettingScope, type JsonValue } from '@fastify-modular/settings'
import Fastify from 'fastify'
import { test } from 'tap'
import { as, callerByHeader, createApp, definitions, rejection } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { recorder } from '../support/recorder.ts'
import { memoryStore } from '../support/stores.js'

const { Application } = SettingScope

/** A store with one row that something else than this package has written. */
async function storeWith(key: string, value: string, encrypted = false) {
  const store = memoryStore()
  const row = { scope: Application, owner: '', key }
  await store.shared.write({
    actor: null,
    origin: 'sql',
    reads: [row],
    decide: () => [{ ...row, value, encrypted }],
  })
  return store
}

test('a row that is not JSON can be overwritten, and its history read', async (t) => {
  const app = await createApp(t, { store: await storeWith('app.title', 'no json') })
  t.equal(app.settings.get(definitions.title), 'Fastify Modular')
  t.equal((await as(app, 'admin')('PUT', '', { key: 'app.title', scope: 1, value: 'new' })).status, 204)
  const { status, json } = await as(app, 'admin')('GET', '/app.title/history')
  t.equal(status, 200)
  t.match(json.entries, [
    { oldValue: null, newValue: 'new' },
    { oldValue: null, newValue: null, isOverridden: true },
  ])
  const back = await as(app, 'admin')('POST', '/app.title/restore', { scope: 1, revision: 1 })
  t.equal(back.status, 409)
})

test('the event of such a write has null for what cannot be read', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const { published, transport } = recorder()
  app.register(events, { transport })
  app.register(settings, {
    definitions: [definitions],
    findCaller: callerByHeader,
    store: await storeWith('app.title', 'no json'),
  })
  await app.ready()
  await app.settings.contract.setSetting('app.title', 'new', Application)
  t.match(published, [{ event: { key: 'app.title', oldValue: null, newValue: 'new' } }])
})

test('the event of a value that was secret has no old value, whatever the definition says now', async (t) => {
  const encryption = { keys: [{ id: 'k1', key: randomBytes(32) }] }
  const inner = memoryStore()
  const store = { ...inner, close: async () => {} }
  const options = { displayName: 'Word', scope: Application }
  const before = Fastify()
  before.register(settings, {
    definitions: [{ word: setting.text('app.word', { ...options, sensitive: true }) }],
    store,
    encryption,
  })
  await before.ready()
  await before.settings.contract.setSetting('app.word', 'top secret', Application)
  await before.close()

  const { published, transport } = recorder()
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(events, { transport })
  app.register(settings, { definitions: [{ word: setting.text('app.word', options) }], store, encryption })
  await app.ready()
  await app.settings.contract.setSetting('app.word', 'public now', Application)
  t.notMatch(JSON.stringify(published), /top secret/)
  t.match(published, [{ event: { oldValue: null, newValue: 'public now' } }])
})

test('what is stored is what was checked: getters, proxies and toJSON cannot change it in between', async (t) => {
  const app = await createApp(t)
  const write = (value: unknown) =>
    rejection(app.settings.contract.setSetting('app.feature_json', value as JsonValue, Application))
  let reads = 0
  const getter = {
    get flag(): unknown {
      return ++reads % 2 === 1 ? 'fine' : { constructor: { prototype: {} } }
    },
  }
  await write(getter)
  t.notMatch(JSON.stringify(app.settings.get(definitions.features)), /constructor/)
  const hidden = Object.defineProperty({}, 'toJSON', { value: () => undefined })
  t.match(await write(hidden), { status: 422 })
  const list = Object.assign([1], { toJSON: () => '' })
  t.match(await write(list), { status: 422 })
  // eslint-disable-next-line no-sparse-arrays -- a hole is what this writes
  for (const value of [[1, , 2], new Date(), new Map(), () => 1, Number.NaN, [1n], Symbol('x'), undefined]) {
    t.match(await write(value), { status: 422 })
  }
})

test('a value that its caller changes while the write waits is stored as it was given', async (t) => {
  const inner = memoryStore()
  const value = { flag: 'given' }
  const store = changedStore(inner, {
    write(request, write) {
      value.flag = 'changed'
      return write(request)
    },
  })
  const app = await createApp(t, { store })
  await app.settings.contract.setSetting('app.feature_json', value, Application)
  t.same(app.settings.get(definitions.features), { flag: 'given' })
})

test("a stray value of a user does not pass for the value of a setting without users' values", async (t) => {
  const store = memoryStore()
  const port = setting.number('mail.port', { displayName: 'Port', scope: SettingScope.User })
  const older = await createApp(t, { store, definitions: [port] })
  await older.settings.set(port, 25, { userId: 'admin' })
  const app = await createApp(t, { store })
  t.equal(app.settings.get(definitions.port), 587)
  t.equal((await as(app, 'admin')('GET', '/mail.port/resolved')).json, 587)
  t.match((await as(app, 'admin')('GET', '/mail.port/inspect')).json, { value: 587, source: 'default' })
})
