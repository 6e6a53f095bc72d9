/** Changes that are put back unless they are kept: by each store, over HTTP and in process. */
import { defineModule, events, modules } from '@fastify-modular/core'
import {
  SettingChangeSettled,
  setting,
  SettingScope,
  settings,
  type SettingsBuilder,
} from '@fastify-modular/settings'
import type { StorePort } from '#src/store/store.js'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Test, test } from 'tap'
import { until } from '../contract/case.ts'
import { as, callerByHeader, createApp, definitions, type Expected, expectStatuses } from '../support/app.ts'
import { portOf } from '../support/live.ts'
import { readStream, start } from '../support/reader.ts'
import { createSettingsClient } from '@fastify-modular/settings/client'
import { engines } from '../support/engines.ts'
import { memoryStore } from '../support/stores.js'

const { Application: scope } = SettingScope
const number = (key: string) => setting.number(key, { displayName: key, scope, default: 1 })
const tokens = {
  a: number('w.a'),
  b: number('w.b'),
  c: number('w.c'),
  d: number('w.d'),
  e: number('w.e'),
  most: number('w.most'),
  some: number('w.some'),
}

const module = defineModule({
  name: 'w',
  settings: (builder: SettingsBuilder) =>
    builder
      .addAll(tokens)
      .rule({ some: tokens.some, most: tokens.most }, ({ some, most }) =>
        some > most ? 'Some must not exceed most.' : [],
      ),
})

interface Opened {
  readonly app: FastifyInstance
  readonly settled: SettingChangeSettled[]
}

class SettledHandler {
  static readonly event = SettingChangeSettled
  readonly #settled: SettingChangeSettled[]

  constructor(settled: SettingChangeSettled[]) {
    this.#settled = settled
  }

  handle(event: SettingChangeSettled): void {
    this.#settled.push(event)
  }
}

async function open(t: Test, store: StorePort): Promise<Opened> {
  const settled: SettingChangeSettled[] = []
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  await app.register(events)
  await app.register(settings, { store, findCaller: callerByHeader })
  await app.register(modules, {
    modules: [
      module,
      defineModule({
        name: 'audit',
        handlers: [new SettledHandler(settled)],
      }),
    ],
  })
  await app.ready()
  return { app, settled }
}

async function put(app: FastifyInstance, values: Readonly<Record<string, number>>, within?: number) {
  const body = Object.entries(values).map(([key, value]) => ({ key, scope, value }))
  const query = within === undefined ? '' : `?confirmWithin=${within}`
  const { status, headers, json } = await as(app, 'editor')('PUT', `/bulk${query}`, body)
  const revision = Number(
    String(headers['location'] ?? '')
      .split('/')
      .at(-1),
  )
  return { status, headers, json, revision }
}

const change = async (app: FastifyInstance, revision: number) =>
  (await as(app, 'admin')('GET', `/changes/${revision}`)).json

for (const [name, makeDatabase] of Object.entries(engines))
  test(`${name}: what is not kept is put back, or says why not`, async (t) => {
    const connect = await makeDatabase(t)
    const { app, settled } = await open(t, connect())
    const { settings: s } = app
    const plain = await put(app, { 'w.a': 2, 'w.b': 2 }, 5)
    t.equal(plain.status, 204)
    t.match(plain.headers, { location: /^\/api\/settings\/changes\/\d+$/, 'settings-confirm-by': /Z$/ })
    t.match(await change(app, plain.revision), { state: 'open', by: 'editor', entries: { length: 2 } })

    const again = await put(app, { 'w.a': 3 }, 60)
    t.match([again.status, again.json], [409, { keys: ['w.a'], revision: plain.revision }])

    const mixed = await put(app, { 'w.c': 2, 'w.d': 2 }, 5)
    await put(app, { 'w.d': 3 })
    const kept = await put(app, { 'w.e': 2 }, 5)
    const refused = await put(app, { 'w.most': 5 }, 5)
    await put(app, { 'w.some': 5 })

    const keep = await as(app, 'editor')('POST', `/changes/${kept.revision}/keep`, {})
    t.match([keep.status, keep.json], [200, { state: 'kept' }])
    const late = await as(app, 'editor')('POST', `/changes/${kept.revision}/keep`, {})
    t.match([late.status, late.json], [409, { state: 'kept' }])

    const windows = [plain, mixed, refused]
    await until('all are settled', async () => {
      const states = await Promise.all(
        windows.map(async ({ revision }) => (await change(app, revision)).state),
      )
      return !states.includes('open')
    })
    t.match(await change(app, plain.revision), { state: 'put-back', reasons: {} })
    t.match(await change(app, mixed.revision), { state: 'conflicted' })
    t.strictSame((await change(app, mixed.revision)).reasons, { 'w.d': 'It has changed since.' })
    t.strictSame((await change(app, refused.revision)).reasons, { 'w.most': 'Some must not exceed most.' })
    t.strictSame(
      [tokens.a, tokens.b, tokens.c, tokens.d, tokens.e, tokens.most].map((token) => s.get(token)),
      [1, 1, 1, 3, 2, 5],
    )
    const { entries } = await s.history({ key: 'w.a' })
    t.match(entries[0], { origin: 'expired', note: `Revision ${plain.revision} was not kept.`, actor: null })
    await until('the events', () => settled.length === 4)
    t.strictSame(
      settled.map(({ revision, state }) => `${revision} ${state}`).toSorted((x, y) => x.localeCompare(y)),
      [
        `${plain.revision} put-back`,
        `${mixed.revision} conflicted`,
        `${kept.revision} kept`,
        `${refused.revision} conflicted`,
      ].toSorted((x, y) => x.localeCompare(y)),
    )
  })

for (const name of ['SQLite', 'PostgreSQL'] as const)
  test(`${name}: one of two instances puts back, and the next start does before resources are made`, async (t) => {
    const connect = await engines[name](t)
    const first = await open(t, connect())
    const second = await open(t, connect())
    const { revision } = await put(first.app, { 'w.a': 2 }, 5)
    await until('both', () => second.app.settings.get(tokens.a) === 2)
    await until('put back', () => [first, second].every(({ app }) => app.settings.get(tokens.a) === 1))
    const { entries } = await first.app.settings.history({ key: 'w.a' })
    t.strictSame(
      entries.map(({ origin }) => origin),
      ['expired', 'api'],
    )
    t.equal((await change(second.app, revision)).state, 'put-back')

    const last = await put(first.app, { 'w.b': 2 }, 5)
    const { due } = await change(first.app, last.revision)
    await Promise.all([first.app.close(), second.app.close()])
    await until('it is due', () => Date.now() > Date.parse(due) + 100)
    const made: number[] = []
    const app = Fastify({ pluginTimeout: 60_000 })
    t.teardown(() => app.close())
    await app.register(settings, { store: connect(), definitions: [tokens] })
    app.settings.resource('x', { b: tokens.b }, { create: ({ b }) => made.push(b) })
    await app.ready()
    t.strictSame(made, [1])
  })

test('a change that deletes a value, and one that is taken back whole', async (t) => {
  const app = await createApp(t)
  await app.settings.set(definitions.title, 'Old')
  await app.settings.set(definitions.title, null, { confirmWithin: 5 }).catch(() => {})
  const { headers } = await as(app, 'editor')('PUT', '?confirmWithin=60', {
    key: 'app.banner',
    scope,
    value: 'New',
  })
  const revision = Number(String(headers['location']).split('/').at(-1))
  t.equal((await as(app, 'editor')('POST', `/changes/${revision}/revert`, {})).status, 200)
  t.match(await change(app, revision), { state: 'put-back' })
  t.equal((await as(app, 'editor')('POST', `/changes/${revision}/keep`, {})).json.state, 'put-back')
})

test('the time can be extended, and a plain write of everything ends it', async (t) => {
  const app = await createApp(t)
  await app.settings.set(definitions.title, 'New', { confirmWithin: 5 })
  const { revision } = app.settings.status
  const before = await change(app, revision)
  const { json } = await as(app, 'editor')('POST', `/changes/${revision}/keep`, { within: 600 })
  t.equal(json.state, 'open')
  t.ok(Date.parse(json.due) > Date.parse(before.due) + 500_000)
  await app.settings.set(definitions.title, 'Newer')
  await until('it is over', async () => (await change(app, revision)).state === 'conflicted')
  t.strictSame((await change(app, revision)).reasons, { 'app.title': 'It has changed since.' })
  t.equal(app.settings.get('app.title'), 'Newer')
})

test('a write that changes nothing opens nothing, and a hundred are enough', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 101 }, (_, index) => [`m${index}`, number(`m.n${index}`)]),
  )
  const app = await createApp(t, { definitions: [many] })
  await app.settings.set('m.n0', 7)
  const equal = await as(app, 'editor')('PUT', '?confirmWithin=60', { key: 'm.n0', scope, value: 7 })
  t.equal(equal.headers['location'], undefined)
  for (let index = 0; index < 100; index++) await app.settings.set(`m.n${index}`, 2, { confirmWithin: 60 })
  const { status } = await as(app, 'editor')('PUT', '?confirmWithin=60', { key: 'm.n100', scope, value: 2 })
  t.equal(status, 409)
})

test('an import that changes nothing does not announce the change of somebody else', async (t) => {
  const { app } = await open(t, memoryStore())
  await put(app, { 'w.b': 2 })
  const file = (await as(app, 'editor')('GET', '/export')).json
  const { revision } = await put(app, { 'w.a': 2 }, 60)
  const again = await as(app, 'editor')('POST', '/import?confirmWithin=60', file)
  t.match([again.status, again.json], [200, { revision, unchanged: ['w.b'] }])
  t.notOk(again.headers['location'])
  t.notOk(again.headers['settings-confirm-by'])
})

test('what a write leaves as it is does not count: neither keys of an open change, nor a hundred of them', async (t) => {
  const app = await createApp(t)
  const editor = as(app, 'editor')
  const setting = (value: string) => ({ key: 'app.title', scope, value })
  const banner = { key: 'app.banner', scope, value: 'Soon' }
  await editor('PUT', '?confirmWithin=600', setting('Acme'))
  const file = { format: 1, settings: [setting('Acme'), banner] }
  const imported = await editor('POST', '/import?confirmWithin=60', file)
  t.match(imported, { status: 200, json: { update: [], create: ['app.banner'], unchanged: ['app.title'] } })
  t.ok(imported.headers['settings-confirm-by'])
  const bulk = await editor('PUT', '/bulk?confirmWithin=60', [setting('Acme'), banner])
  t.equal(bulk.headers['settings-confirm-by'], undefined, 'nothing changed, so nothing was opened')
  t.equal((await editor('PUT', '/bulk?confirmWithin=60', [setting('Other'), banner])).status, 409)
})

test('a file with -0 for a stored 0 leaves it as it is', async (t) => {
  const app = await createApp(t, { definitions: [tokens] })
  const editor = as(app, 'editor')
  const zero = { key: 'w.a', scope, value: 0 }
  await editor('PUT', '?confirmWithin=600', zero)
  const file = `{ "format": 1, "settings": [
    { "key": "w.a", "scope": 1, "value": -0 }, { "key": "w.b", "scope": 1, "value": 2 }
  ] }`
  const imported = await editor('POST', '/import?confirmWithin=60', file)
  t.match(imported, { status: 200, json: { update: [], create: ['w.b'], unchanged: ['w.a'] } })
})

test('a change is kept within a time, and never by opening another one', async (t) => {
  const { app } = await open(t, memoryStore())
  const { revision } = await put(app, { 'w.a': 2 }, 60)
  // @ts-expect-error -- the time of a write
  await t.rejects(app.settings.keep(revision, { confirmWithin: 60 }), { name: 'ArgumentException' })
  t.match(await change(app, revision), { state: 'open' })
})

test('who may see and keep a change that waits', async (t) => {
  const app = await createApp(t)
  await app.settings.setMany(
    [
      { key: 'mail.port', scope: 0, value: 25 },
      { key: 'app.title', scope: 1, value: 'New' },
    ],
    { confirmWithin: 60, actor: 'bob' },
  )
  const { revision } = app.settings.status
  const path = `/changes/${revision}/keep`
  await expectStatuses(t, app, [
    [401, 'POST', path, {}, null],
    [403, 'POST', path, {}, 'alice'],
    [403, 'POST', path, {}, 'editor'],
    [404, 'POST', '/changes/77/keep', {}],
    [400, 'POST', path, { within: 4 }],
    [400, 'POST', path, { within: 86_401 }],
    [403, 'GET', '/changes?state=open', undefined, 'alice'],
    [400, 'GET', '/changes?state=kept'],
    [404, 'GET', '/changes/77'],
  ])
  const { json } = await as(app, 'editor')('GET', '/changes?state=open')
  t.match(json.changes, [
    { revision, state: 'open', hidden: 1, actor: 'bob', entries: [{ key: 'app.title' }] },
  ])
  await app.settings.eraseUser('bob')
  t.equal((await change(app, revision)).by, null)
  await app.settings.keep(revision)
  t.equal((await change(app, revision)).state, 'kept')
})

const title = { key: 'app.title', scope, value: 'New' }
const refusedQueries: readonly Expected[] = [
  [400, 'PUT', '?confirmWithin=4', title],
  [400, 'PUT', '?confirmWithin=86401', title],
  [400, 'PUT', '?confirmWithin=soon', title],
  [400, 'PUT', '/bulk?confirmWithin=60&dryRun=true', [title]],
  [400, 'POST', '/import?confirmWithin=60&dryRun=true', { format: 1, settings: [title] }],
  [400, 'DELETE', '/app.title?scope=1&confirmWithin=60'],
  [400, 'POST', '/app.title/restore?confirmWithin=60', { revision: 1 }],
  [400, 'POST', '/changes/1/revert?confirmWithin=60', {}],
  [400, 'PUT', '/me?confirmWithin=60', { key: 'app.theme', value: 'dark' }],
  [200, 'POST', '/import?confirmWithin=60', { format: 1, settings: [title] }],
]

test('what cannot be kept or put back is refused', async (t) => {
  const app = await createApp(t)
  await expectStatuses(t, app, refusedQueries)
  t.equal((await as(app, 'admin')('GET', '/changes?state=open')).json.changes.length, 1)
})

test('the stream says that other changes are open, to signed-in readers, and after each connection', async (t) => {
  const app = await start(t)
  const [reader, stranger] = [
    await readStream(app),
    await readStream(app, { path: '/public/stream', headers: {} }),
  ]
  await reader.next('snapshot')
  await app.settings.set(definitions.title, 'New', { confirmWithin: 60 })
  const { revision } = app.settings.status
  t.strictSame((await reader.next('open')).data, [])
  const second = await readStream(app)
  await second.next('open')
  await app.settings.keep(revision, { within: 600 })
  await Promise.all([reader.next('open'), second.next('open')])
  await app.settings.keep(revision)
  await Promise.all([reader.next('open'), second.next('open')])
  const third = await readStream(app)
  await app.settings.set(definitions.color, '#000000')
  await Promise.all([third.next('change'), stranger.next('change')])
  t.notMatch(third.text, 'event: open')
  t.notMatch(stranger.text, 'event: open')
  for (const each of [reader, stranger, second, third]) each.close()
})

test('the address of a change is the one that the request came by, also below a prefix with a parameter', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(settings, {
    definitions: [tokens],
    prefix: '/:org/settings',
    findCaller: () => ({ id: 'ada', permissions: ['Settings.Update'] }),
  })
  const put = (query: string, scope: number) =>
    app.inject({
      method: 'PUT',
      url: `/a%20b/settings${query}`,
      payload: { key: 'w.a', scope, value: 2 },
    })
  const { headers } = await put('?confirmWithin=60', scope)
  t.match(headers['location'], /^\/a%20b\/settings\/changes\/1$/)
  t.equal((await app.inject(String(headers['location']))).json().state, 'open')
  t.equal(
    (await put('', SettingScope.User)).json().detail,
    'Use /a%20b/settings/me to set user-scoped settings.',
  )
})

test('the client keeps, extends and looks back, by the clock of the server', async (t) => {
  const app = await start(t)
  const client = createSettingsClient({
    baseUrl: `http://127.0.0.1:${portOf(app)}/api/settings`,
    headers: { 'x-caller': 'admin' },
  })
  const updates = [{ key: 'app.title', scope, value: 'New' }] as const
  const [written] = await client.setMany(updates, { confirmWithin: 60 })
  const { changes, now } = await client.openChanges()
  const [{ revision, due } = { revision: 0, due: '' }] = changes
  t.equal(revision, written?.revision)
  const left = Date.parse(due) - Date.parse(now)
  t.ok(left > 0 && left <= 60_000, `${left} ms`)
  t.match(await client.keep(revision, { within: 600 }), { state: 'open' })
  t.match(await client.change(revision), { state: 'open', by: 'admin', entries: [{ key: 'app.title' }] })
  t.match(await client.keep(revision), { state: 'kept' })
  t.match(await client.openChanges(), { changes: [] })
})
