/** What a stream of settings carries, and to whom. */
import {
  memoryStore,
  setting,
  type SettingDefinition,
  SettingScope,
  type SettingsOptions,
} from '@fastify-modular/settings'
import { overrideSettings } from '@fastify-modular/settings/testing'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { as, createApp, definitions, routesOf } from '../support/app.ts'
import { readStream, start, type StreamReader } from '../support/reader.ts'

const { Application, System, User } = SettingScope

/** Comes back with the id of an event. */
async function resume(app: FastifyInstance, id: string): Promise<StreamReader> {
  return readStream(app, { headers: { 'x-caller': 'alice', 'last-event-id': id } })
}

function isPerUser(key: string): boolean {
  return Object.values(definitions).some((each) => each.key === key && each.scope === User)
}

test('a stream begins with everything that GET /api/settings shows its reader, without secrets', async (t) => {
  const app = await start(t)
  await app.settings.contract.setSetting('app.api_secret', 'hush', Application)
  const stream = await readStream(app)
  t.match(stream, { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
  t.equal(stream.headers['cache-control'], 'no-store, no-transform')
  const { data } = await stream.next('snapshot')
  const listed: { key: string; userId?: null; value?: unknown; perUser?: true }[] = (
    await as(app, 'alice')('GET', '')
  ).json
  for (const each of listed) {
    delete each.userId
    if (isPerUser(each.key)) each.perUser = true
    if (['app.api_secret', 'mail.password', 'user.token'].includes(each.key)) delete each.value
  }
  t.same(data, listed)
  t.notMatch(stream.text, /hush/)
})

test('a change arrives as the list shows it, and two of one turn in one event', async (t) => {
  const app = await start(t)
  const stream = await readStream(app)
  await stream.next('snapshot')
  await app.settings.contract.setMany([
    { key: 'app.title', scope: Application, value: 'Acme' },
    { key: 'mail.port', scope: System, value: 25 },
  ])
  const { id, data } = await stream.next('change')
  t.match(id, /^1-[0-9a-f]{12}$/)
  t.match(data, [
    { key: 'mail.port', value: 25, version: 1 },
    { key: 'app.title', value: 'Acme', version: 1, source: 'application' },
  ])
  await as(app, 'editor')('PUT', '', { key: 'app.title', scope: Application, value: 'Bolt' })
  t.match((await stream.next('change')).data, [{ key: 'app.title', value: 'Bolt', updatedBy: 'editor' }])
})

test('of secrets and of values over 4 KiB the stream has the key alone', async (t) => {
  const app = await start(t)
  const stream = await readStream(app)
  await stream.next('snapshot')
  const set = app.settings.contract
  await set.setSetting('app.api_secret', 'hush', Application)
  const [secret] = (await stream.next('change')).data
  t.match(secret, { key: 'app.api_secret', isOverridden: true, version: 1 })
  t.notOk(secret && 'value' in secret)
  await set.setSetting('app.banner', 'x'.repeat(4094), Application)
  t.match((await stream.next('change')).data, [{ key: 'app.banner', value: 'x'.repeat(4094) }])
  await set.setSetting('app.banner', 'x'.repeat(4095), Application)
  const [long] = (await stream.next('change')).data
  t.match(long, { key: 'app.banner', version: 3 })
  t.notOk(long && 'value' in long)
})

test('strangers get the public settings, by key and value alone', async (t) => {
  const app = await start(t)
  const stream = await readStream(app, { path: '/public/stream' })
  t.same(await stream.next(), {
    id: stream.text.slice(4, 18),
    event: 'snapshot',
    data: [{ key: 'app.primary_color', value: '#3b82f6' }],
  })
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  await app.settings.contract.setSetting('app.primary_color', '#000000', Application)
  t.match(await stream.next(), { id: /^2-/, event: 'change' })
  t.notMatch(stream.text, /Acme|own/)
})

test('a stranger gets no stream but that of public settings', async (t) => {
  const app = await start(t)
  t.match(await readStream(app, { headers: {} }), { status: 401 })
})

test('a reader is told that values of their own are to be read: at first, and after each change', async (t) => {
  const app = await start(t)
  const alices = await readStream(app)
  const bobs = await readStream(app, { headers: { 'x-caller': 'bob' } })
  for (const stream of [alices, bobs]) await stream.next('own')
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  await alices.next('own')
  t.match(alices.text, /^event: own\ndata: \{"caller":"alice"\}\n\n/, 'before anything else')
  t.match(bobs.text, /^event: own\ndata: \{"caller":"bob"\}\n\n/)
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  await bobs.next('change')
  t.equal(bobs.text.match(/event: own/g)?.length, 1)
  t.notMatch(bobs.text + alices.text, /dark/)
})

test('a reader who comes back gets everything where anything has changed, else nothing', async (t) => {
  const app = await start(t)
  const first = await readStream(app)
  await first.next('snapshot')
  await app.settings.contract.setSetting('app.title', 'A', Application)
  const { id } = await first.next('change')
  first.close()
  await first.ended()
  await app.settings.contract.setSetting('app.title', 'B', Application)
  await app.settings.contract.setSetting('mail.port', 26, System)
  const second = await resume(app, id)
  const missed = await second.next('snapshot')
  t.match(missed, { id: /^3-/ })
  t.match(new Map(missed.data.map(({ key, value }) => [key, value])).get('app.title'), 'B')
  const third = await resume(app, missed.id)
  t.match(await third.nextShared(), { id: missed.id, event: '' }, 'nothing was missed')
})

const unknownIds = {
  'of another history': '0-111111111111',
  'that is nonsense': 'x',
  'of the future': '99-000000000000',
}
for (const [name, id] of Object.entries(unknownIds)) {
  test(`a reader with an id ${name} gets everything`, async (t) => {
    const app = await start(t)
    const stream = await resume(app, id)
    t.match(await stream.nextShared(), { event: 'snapshot' })
  })
}

const seconds = setting.number('app.seconds', {
  displayName: 'Seconds',
  scope: Application,
  default: 5,
  validate: () => undefined,
})
const note = setting.text('app.note', { displayName: 'Note', scope: Application })

/** What a deployment may change. */
const deployments: Readonly<
  Record<string, Pick<SettingsOptions, 'overrides'> & { readonly definitions: readonly SettingDefinition[] }>
> = {
  nothing: { definitions: [seconds, note] },
  'a default that a stored value hides': { definitions: [{ ...seconds, defaultValue: '6' }, note] },
  'a default': { definitions: [seconds, { ...note, defaultValue: 'new' }] },
  'a bound that the stored value exceeds': { definitions: [{ ...seconds, max: 6 }, note] },
  'the code of a rule': {
    definitions: [{ ...seconds, validate: (value) => (value === 7 ? 'unlucky' : undefined) }, note],
  },
  'a locked value': { definitions: [seconds, note], overrides: { 'app.seconds': 9 } },
  'which settings there are': { definitions: [seconds] },
}

/** What nobody sees. */
const unseen = ['nothing', 'a default that a stored value hides']

for (const [what, deployed] of Object.entries(deployments)) {
  const event = unseen.includes(what) ? '' : 'snapshot'
  test(`a reader who comes back after a deployment that changed ${what} gets ${event || 'nothing'}`, async (t) => {
    const store = memoryStore()
    const before = await start(t, { store, definitions: [definitions, seconds, note] })
    await before.settings.contract.setSetting('app.seconds', 7, Application)
    const { id } = await (await readStream(before)).next('snapshot')
    const after = await start(t, { ...deployed, store, definitions: [definitions, ...deployed.definitions] })
    t.match(await (await resume(after, id)).nextShared(), { event, id: /^1-/ })
  })
}

test('what strangers may not see leaves their ids alone', async (t) => {
  const store = memoryStore()
  const path = '/public/stream'
  const { id } = await (await readStream(await start(t, { store }), { path })).next()
  const after = await start(t, {
    store,
    definitions: [definitions, seconds],
    overrides: { 'app.title': 'Acme' },
  })
  const stream = await readStream(after, { path, headers: { 'last-event-id': id } })
  t.match(await stream.next(), { event: '', id })
})

test('a value that is locked while readers are away is not missed', async (t) => {
  const app = await start(t)
  const { id } = await (await readStream(app)).next('snapshot')
  const restore = overrideSettings(app, { 'app.title': 'Acme' })
  t.match(await (await resume(app, id)).nextShared(), { event: 'snapshot' })
  restore[Symbol.dispose]()
  t.match(await (await resume(app, id)).nextShared(), { event: '', id })
})

test('readers get everything when a database is read again that has gone back, and nothing when it has not', async (t) => {
  const store = memoryStore()
  const app = await start(t, { store })
  const stream = await readStream(app)
  await stream.next('snapshot')
  await app.settings.contract.setSetting('app.title', 'lost', Application)
  const { id } = await stream.next('change')
  await app.settings.refresh()
  t.match(await (await resume(app, id)).nextShared(), { event: '', id })
  Object.assign(store, memoryStore())
  await app.settings.refresh()
  const restored = await stream.next('snapshot')
  t.match(restored, { id: /^0-/ })
  t.match(
    restored.data.find(({ key }) => key === 'app.title'),
    { value: 'Fastify Modular' },
  )
  t.match(await (await resume(app, id)).nextShared(), { event: 'snapshot' })
})

test('a reader who knows more than the instance makes it look at the database first', async (t) => {
  const store = memoryStore()
  const here = await start(t, { store })
  const there = await start(t, { store })
  await here.settings.contract.setSetting('app.title', 'news', Application)
  t.equal(there.settings.get('app.title'), 'Fastify Modular', 'not noticed yet')
  const ahead = await resume(there, '1-000000000000')
  const { data } = await ahead.next('snapshot')
  t.match(
    data.find(({ key }) => key === 'app.title'),
    { value: 'news' },
  )
})

test('more than 30 kB are read as a list, and an instance that is behind looks at the database first', async (t) => {
  const store = memoryStore()
  const many = Array.from({ length: 200 }, (_, index) =>
    setting.text(`many.m${index}`, {
      displayName: 'One',
      scope: Application,
      default: 'x'.repeat(100),
      public: true,
    }),
  )
  const here = await start(t, { store, definitions: many })
  const there = await start(t, { store, definitions: many })
  const stream = await readStream(here)
  t.match(await stream.nextShared(), { event: 'read', id: /^0-[0-9a-f]{12}$/, data: [] })
  await here.settings.contract.setSetting('many.m1', 'news', Application)
  for (const [path, value] of [
    ['', 'news'],
    ['/public', 'later'],
  ] as const) {
    await here.settings.contract.setSetting('many.m1', value, Application)
    const { id, data } = await stream.next('change')
    t.match(data, [{ key: 'many.m1', value }])
    t.match(await (await resume(here, id)).nextShared(), { event: '', id })
    const headers = { 'x-caller': 'alice', 'last-event-id': id }
    const { body } = await there.inject({ url: `/api/settings${path}`, headers })
    t.match(body, value)
  }
})

const routes = ['/api/settings/stream', '/api/settings/public/stream']
const options = [
  [undefined, routes],
  [{ public: false }, routes.slice(0, 1)],
  [false, []],
] as const
for (const [stream, expected] of options) {
  test(`the option stream: ${JSON.stringify(stream)} leaves ${expected.length} routes, none of them for HEAD`, async (t) => {
    const app = await createApp(t, stream === undefined ? {} : { stream })
    const registered = routesOf(app).filter(({ url }) => url.endsWith('/stream'))
    t.same(
      registered.map(({ method, url }) => `${String(method)} ${url}`),
      expected.map((url) => `GET ${url}`),
    )
  })
}
