/** Values of organisations on pages that stay open: what holds in the page's organisation, as it changes, and nothing of another. */
import { mock } from 'node:test'
import type { JsonValue } from '@fastify-modular/settings/client'
import { createLiveClient } from '@fastify-modular/settings/client/live'
import { followSettings, type Follower } from '@fastify-modular/settings/client/internal'
import { setting, SettingScope, type SettingsOptions } from '@fastify-modular/settings'
import { until } from '@fastify-modular/test-support/until'
import type { FastifyInstance } from 'fastify'
import { type Test, test } from 'tap'
import { follow, portOf } from '../support/live.ts'
import { readStream, readStreams } from '../support/reader.ts'
import { memoryStore } from '../support/stores.js'
import { as, createApp, tokens } from './app.ts'

async function start(t: Test, options: SettingsOptions = {}): Promise<FastifyInstance> {
  const app = await createApp(t, options, { keepAliveTimeout: 100 })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

/** How long pages wait before they read what an organisation has changed: 0 is the least, 1 the most. */
function wait(t: Test, share: number): void {
  const random = mock.method(Math, 'random', () => share)
  t.teardown(() => random.mock.restore())
}

const baseUrlOf = (app: FastifyInstance) => `http://127.0.0.1:${portOf(app)}/api/settings`

/** A page of a person in an organisation; of nobody without one. */
function pageOf(app: FastifyInstance, caller: string | null, tenant?: string, more = {}) {
  const headers = caller === null ? {} : { 'x-caller': caller }
  return createLiveClient({ baseUrl: baseUrlOf(app), tenant, headers, public: caller === null, ...more })
}

test('a page shows what holds for a member, and follows it through all layers', async (t) => {
  wait(t, 0)
  const app = await start(t)
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
  await app.settings.set(tokens.theme, 'dark', { tenant: 'acme' })
  const page = pageOf(app, 'bob', 'acme')
  const [brand, theme, title] = ['org.brand', 'user.theme', 'app.title'].map((key) => follow(t, page, key))
  await until(() => title?.values.length === 1 && theme?.values.length === 1 && brand?.values.length === 1)
  t.same([brand?.values, theme?.values], [['Acme'], ['dark']], 'not the values of everybody first')
  await app.settings.set(tokens.brand, 'Acme Inc.', { tenant: 'acme' })
  await until(() => brand?.values.at(-1) === 'Acme Inc.')
  await app.settings.set(tokens.theme, 'blue', { userId: 'bob' })
  await until(() => theme?.values.at(-1) === 'blue')
  await app.settings.set(tokens.theme, 'green', { tenant: 'acme' })
  await app.settings.set(tokens.brand, 'Everybody', {})
  await app.settings.set(tokens.title, 'Later', {})
  await until(() => title?.values.at(-1) === 'Later')
  await app.settings.reset(tokens.theme, { userId: 'bob' })
  await until(() => theme?.values.at(-1) === 'green')
  await app.settings.reset(tokens.brand, { tenant: 'acme' })
  await until(() => brand?.values.at(-1) === 'Everybody')
  await app.settings.set(tokens.brand, 'All', {})
  await until(() => brand?.values.at(-1) === 'All')
  t.same(brand?.values, ['Acme', 'Acme Inc.', 'Everybody', 'All'])
  t.same(theme?.values, ['dark', 'blue', 'green'])
})

test('a page of strangers shows what is public in the organisation, and never the value of everybody', async (t) => {
  wait(t, 0)
  const app = await start(t)
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
  const [ofAcme, ofNone] = [pageOf(app, null, 'acme'), pageOf(app, null)]
  const [brand, shared] = [follow(t, ofAcme, 'org.brand'), follow(t, ofNone, 'org.brand')]
  await until(() => brand.values.length === 1 && shared.values.length === 1)
  await app.settings.set(tokens.brand, 'Everybody')
  await until(() => shared.values.length === 2)
  await app.settings.set(tokens.brand, 'Acme Inc.', { tenant: 'acme' })
  await until(() => brand.values.length === 2)
  t.same(
    [brand.values, shared.values],
    [
      ['Acme', 'Acme Inc.'],
      ['None', 'Everybody'],
    ],
  )
})

test('a long list of public settings is read, and a stranger still gets those of the organisation', async (t) => {
  wait(t, 0)
  const many = Array.from({ length: 200 }, (_, index) =>
    setting.text(`many.m${index}`, {
      displayName: 'One',
      scope: SettingScope.Application,
      public: true,
      default: 'x'.repeat(200),
    }),
  )
  const app = await start(t, { definitions: [tokens, ...many] })
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
  const brand = follow(t, pageOf(app, null, 'acme'), 'org.brand')
  const member = follow(t, pageOf(app, 'bob', 'acme'), 'org.brand')
  await until(() => brand.values.length === 1 && member.values.length === 1)
  await app.settings.set(tokens.brand, 'Acme Inc.', { tenant: 'acme' })
  await until(() => brand.values.length === 2 && member.values.length === 2)
  t.same(
    [brand.values, member.values],
    [
      ['Acme', 'Acme Inc.'],
      ['Acme', 'Acme Inc.'],
    ],
  )
})

test('a page reads while there is no stream, and what it gets is of the organisation', async (t) => {
  const app = await start(t, { stream: false })
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
  const pages = [pageOf(app, 'bob', 'acme'), pageOf(app, null, 'acme')]
  const brands = pages.map((page) => follow(t, page, 'org.brand'))
  await until(() => brands.every(({ values }) => values.length === 1))
  t.same(
    brands.map(({ values }) => values),
    [['Acme'], ['Acme']],
  )
})

test('two tabs of one person in two organisations: each follows its own', async (t) => {
  wait(t, 0)
  const app = await start(t)
  const [acme, bolt] = ['acme', 'bolt'].map((tenant) => follow(t, pageOf(app, 'ada', tenant), 'org.brand'))
  await until(() => acme?.values.length === 1 && bolt?.values.length === 1)
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
  await until(() => acme?.values.length === 2)
  await app.settings.set(tokens.brand, 'Bolt', { tenant: 'bolt' })
  await until(() => bolt?.values.length === 2)
  t.same(
    [acme?.values, bolt?.values],
    [
      ['None', 'Acme'],
      ['None', 'Bolt'],
    ],
  )
})

test('a page that meets another organisation forgets what it knew, and its followers are told', async (t) => {
  wait(t, 0)
  const app = await start(t)
  for (const tenant of ['acme', 'bolt']) await app.settings.set(tokens.brand, tenant, { tenant })
  // The session of the browser: a second tab switches it.
  const session = { 'x-caller': 'ada', 'settings-tenant': 'acme' }
  const options = { baseUrl: baseUrlOf(app), headers: () => session }
  const said: unknown[] = []
  const follower: Follower = {
    onSettings: (settings) => said.push(settings.length > 0),
    onOwn: (caller, within) => said.push([caller, within.tenant]),
    onState: (state) => state === 'signed out' && said.push(state),
  }
  t.teardown(followSettings(options, follower))
  const page = pageOf(app, null, undefined, { ...options, public: false })
  const brand = follow(t, page, 'org.brand')
  await until(() => brand.values.length === 1 && said.length === 2)
  session['settings-tenant'] = 'bolt'
  app.settings.endStreams('ada')
  await until(() => said.includes('signed out') && page.known('org.brand') !== 'acme')
  await until(() => brand.values.at(-1) === 'bolt' && said.filter((each) => each === true).length === 2)
  t.same(brand.values, ['acme', 'bolt'])
  t.same(said, [['ada', 'acme'], true, 'signed out', ['ada', 'bolt'], ['ada', 'bolt'], true])
})

test('a page that was made in another organisation than it finds begins with nothing of it', async (t) => {
  const app = await start(t)
  const data = { caller: 'ada', tenant: 'acme', values: { 'org.brand': 'Acme' as JsonValue } }
  const page = pageOf(app, 'ada', 'bolt', { data })
  const brand = follow(t, page, 'org.brand')
  await until(() => brand.values.at(-1) === 'None')
  t.equal(page.known('org.brand'), 'None')
})

test('the page that wrote has its value first, the others wait', async (t) => {
  wait(t, 1)
  const app = await start(t)
  const [writer, reader] = [pageOf(app, 'ada', 'acme'), pageOf(app, 'bob', 'acme')]
  const order: string[] = []
  for (const [name, page] of Object.entries({ writer, reader }))
    t.teardown(page.watch('org.brand', (value) => void order.push(`${name} ${String(value)}`)))
  await until(() => order.length === 2)
  order.length = 0
  await writer.setTenantValues('acme', [{ key: 'org.brand', value: 'Acme' }])
  await until(() => order.length === 2)
  t.same(order, ['writer Acme', 'reader Acme'])
})

test('a stream says whose it is, and goes on only for the same caller in the same organisation', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const session = new Map([['one', 'acme']])
  const app = await start(t, {
    tenants: {
      of: ({ headers }, caller) => (caller && session.get(String(headers['cookie']))) ?? null,
    },
  })
  const open = async (cookie: string) => {
    const stream = await readStream(app, { headers: { 'x-caller': 'ada', cookie } })
    await stream.next('own')
    return stream
  }
  const askAgain = async () => {
    mock.timers.tick(60_000)
    for (let turn = 0; turn < 20; turn++) await as(app, null)('GET', '/public')
  }
  const [acme, none] = [await open('one'), await open('two')]
  await askAgain()
  session.set('one', 'bolt')
  const bolt = await open('one')
  t.match(acme.text, /data: {"caller":"ada","tenant":"acme"}\n/)
  t.match(none.text, /data: {"caller":"ada","tenant":null}\n/)
  await askAgain()
  await acme.ended()
  await app.settings.set(tokens.title, 'Still here')
  for (const stream of [none, bolt]) t.match(await stream.next('change'), { data: [{ value: 'Still here' }] })
})

test('2,000 streams of an organisation and one write: its rows are read once', async (t) => {
  const store = memoryStore()
  let isCounting = false
  let queries = 0
  const { read } = store.owned
  store.owned.read = (owner) => {
    if (isCounting && owner.scope === SettingScope.Tenant) queries++
    return read(owner)
  }
  const callers = Array.from({ length: 250 }, (_, index) => `member-${index}`)
  const app = await start(t, {
    store,
    findCaller: ({ headers }) => ({ id: String(headers['x-caller']) }),
    tenants: { of: () => 'acme' },
  })
  const headersOf = callers.flatMap((id) => Array.from({ length: 8 }, () => ({ 'x-caller': id })))
  const streams = await readStreams(
    app,
    headersOf.map((headers) => ({ headers })),
  )
  for (const stream of streams) await stream.next('own')
  isCounting = true
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
  for (const stream of streams) await stream.next('own')
  t.match(streams[0]?.text, /data: {"caller":"member-0","tenant":"acme","changed":"tenant"}\n/)
  const answers = await Promise.all(
    headersOf.map((headers) => app.inject({ url: '/api/settings/me?all=true', headers })),
  )
  t.ok(answers.every(({ payload }) => payload.includes('"Acme"')))
  t.equal(queries, 1)
  for (const stream of streams) stream.close()
})
