/** Streams and pages under attack: callers of other organisations, hosts that answer oddly, an organisation that ends. */
import { createLiveClient } from '@fastify-modular/settings/client/live'
import type { SettingsOptions } from '@fastify-modular/settings'
import { until } from '@fastify-modular/test-support/until'
import type { FastifyInstance } from 'fastify'
import { mock } from 'node:test'
import { type Test, test } from 'tap'
import { engines } from '../support/engines.ts'
import { follow, portOf } from '../support/live.ts'
import { readStream, readStreams, type StreamReader } from '../support/reader.ts'
import { createApp, manage, type Members, tenantsOf, tokens } from './app.ts'

async function start(t: Test, options: SettingsOptions = {}): Promise<FastifyInstance> {
  const app = await createApp(t, options, { keepAliveTimeout: 100 })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

/** Pages read at once what an organisation has changed. */
function withoutWait(t: Test): void {
  const random = mock.method(Math, 'random', () => 0)
  t.teardown(() => random.mock.restore())
}

function brandOf(t: Test, app: FastifyInstance, caller: string | null, tenant: string) {
  const baseUrl = `http://127.0.0.1:${portOf(app)}/api/settings`
  const headers = caller === null ? {} : { 'x-caller': caller }
  return follow(t, createLiveClient({ baseUrl, tenant, headers, public: caller === null }), 'org.brand')
}

/** What a stream has got by the time of a change that all streams get. */
async function textAfter(app: FastifyInstance, streams: readonly StreamReader[]): Promise<readonly string[]> {
  await app.settings.set(tokens.title, `Mark ${Math.random()}`)
  return Promise.all(
    streams.map(async (stream) => {
      await stream.next('change')
      return stream.text
    }),
  )
}

for (const [name, open] of Object.entries(engines)) {
  test(`${name}: no page of any instance goes on showing what an erased organisation had`, async (t) => {
    withoutWait(t)
    const newStore = await open(t, { pollInterval: 50 })
    const here = await start(t, { store: newStore() })
    const there = name === 'memory' ? here : await start(t, { store: newStore() })
    await here.settings.set(tokens.brand, 'Everybody')
    await here.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
    await here.settings.set(tokens.brand, 'Bolt', { tenant: 'bolt' })
    await there.settings.refresh()
    const pages = [here, there].flatMap((app) => [
      brandOf(t, app, 'bob', 'acme'),
      brandOf(t, app, null, 'acme'),
    ])
    const other = brandOf(t, there, 'eve', 'bolt')
    await until(() => [...pages, other].every(({ values }) => values.length === 1))
    await here.settings.eraseTenant('acme')
    await until(() => pages.every(({ values }) => values.at(-1) === 'Everybody'))
    for (const { values } of pages) t.same(values, ['Acme', 'Everybody'])
    t.same(other.values, ['Bolt'])
  })
}

test('an organisation that ends: its members fall back to what everybody has, also where the host has none any more', async (t) => {
  withoutWait(t)
  const of: Members = { bob: { acme: [] } }
  const app = await start(t, { tenants: tenantsOf(of) })
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
  const brand = brandOf(t, app, 'bob', 'acme')
  await until(() => brand.values.length === 1)
  delete of['bob']
  await app.settings.eraseTenant('acme')
  await until(() => brand.values.at(-1) === 'None')
  t.same(brand.values, ['Acme', 'None'])
})

test('callers of another organisation, and strangers who name one, get nothing of it', async (t) => {
  const app = await start(t, {
    tenants: {
      // What strangers name does not count.
      of: (request, caller) => (caller ? tenantsOf({ ada: { acme: manage } }).of(request, caller) : null),
    },
  })
  const open = (path: string, headers: Record<string, string>) =>
    readStream(app, { path, headers: { 'settings-tenant': 'acme', ...headers } })
  const ada = await open('/stream', { 'x-caller': 'ada' })
  const others = [
    await open('/stream', { 'x-caller': 'eve' }),
    await open('/stream', { 'x-caller': 'bob', 'settings-tenant': 'ACME' }),
  ]
  const strangers = [await open('/public/stream', {}), await open('/public/stream', { 'x-caller': 'nobody' })]
  for (const stream of [ada, ...others, ...strangers]) await stream.next('own')
  await app.settings.set(tokens.brand, 'canary', { tenant: 'acme' })
  await app.settings.set(tokens.secret, 'canary', { tenant: 'acme' })
  await app.settings.eraseTenant('acme')
  await ada.next('own')
  const texts = await textAfter(app, [ada, ...others])
  for (const stream of strangers) {
    t.match(stream.text, /data: {"caller":null,"tenant":null}\n/)
    t.equal(stream.text.match(/event: own/g)?.length, 1, 'a stranger learns nothing of its changes')
  }
  for (const [at, text] of texts.entries()) {
    t.notMatch(text, /canary/)
    t.equal(text.includes('"acme"'), at === 0)
    t.equal(text.includes('"changed":"tenant"'), at === 0)
  }
  for (const stream of [ada, ...others, ...strangers]) stream.close()
})

const oddHosts: Readonly<Record<string, () => unknown>> = {
  'that throws': () => {
    throw new Error('canary of the host')
  },
  'that rejects': () => Promise.reject(new Error('canary of the host')),
  'that returns nothing': () => undefined,
  'that returns a number': () => 42,
  'that returns an object without an id': () => ({ name: 'Acme' }),
  'that returns a list': () => ['acme'],
  'that returns an empty id': () => '',
  'whose id throws': () => ({
    get id() {
      throw new Error('canary of the host')
    },
  }),
}

for (const [name, answer] of Object.entries(oddHosts)) {
  test(`a host ${name} opens no stream, and ends none that is open`, async (t) => {
    mock.timers.enable({ apis: ['setInterval'] })
    t.teardown(() => mock.timers.reset())
    const host: { answer: () => unknown } = { answer: () => 'acme' }
    const of = (): never => host.answer() as never // JavaScript has no types
    const app = await start(t, { tenants: { of } })
    const stream = await readStream(app, { headers: { 'x-caller': 'ada' } })
    await stream.next('own')
    host.answer = answer
    for (const path of ['/stream', '/public/stream', '/me?all=true', '/public']) {
      const { statusCode, payload } = await app.inject({
        url: `/api/settings${path}`,
        headers: { 'x-caller': 'ada' },
      })
      t.equal(statusCode, 500, path)
      t.notMatch(payload, /canary|acme/i, path)
    }
    mock.timers.tick(60_000)
    for (let turn = 0; turn < 20; turn++) await app.inject('/api/settings/public')
    host.answer = () => 'acme'
    await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
    await stream.next('own')
    t.equal(stream.text.match(/"tenant":"acme"/g)?.length, 2)
    stream.close()
  })
}

test('a host that does not answer holds up its own request alone, and opens no stream', async (t) => {
  let isHanging = false
  const app = await start(t, {
    tenants: {
      of: (_request, caller) => (isHanging && caller?.id === 'eve' ? new Promise(() => {}) : 'acme'),
    },
  })
  isHanging = true
  const hanging = app.inject({ url: '/api/settings/stream', headers: { 'x-caller': 'eve' } })
  const stream = await readStream(app, { headers: { 'x-caller': 'ada' } })
  await stream.next('own')
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
  await stream.next('own')
  const { statusCode, headers, payload } = await hanging
  t.match({ statusCode, headers }, { statusCode: 503, headers: { 'retry-after': '5' } })
  t.notMatch(payload, /event:/)
  stream.close()
})

test('a stream that is about to open when its caller signs out, or switches, ends before it says anything', async (t) => {
  const waiting: (() => void)[] = []
  const app = await start(t, {
    tenants: { of: () => new Promise((resolve) => waiting.push(() => resolve('acme'))) },
  })
  const [ada, eve] = ['ada', 'eve'].map((caller) => readStream(app, { headers: { 'x-caller': caller } }))
  await until(() => waiting.length === 2)
  app.settings.endStreams('ada')
  for (const answer of waiting) answer()
  t.equal(await (await ada)?.ended(), '')
  await (await eve)?.next('own')
  ;(await eve)?.close()
  const again = readStream(app, { headers: { 'x-caller': 'ada' } })
  await until(() => waiting.length === 3)
  waiting[2]?.()
  await (await again).next('own')
  ;(await again).close()
})

test('a session that switches: its open page never mixes two organisations, and follows the new one in the end', async (t) => {
  withoutWait(t)
  const session = { tenant: 'acme' }
  const app = await start(t, { tenants: { of: (_request, caller) => caller && session.tenant } })
  for (const tenant of ['acme', 'bolt'])
    for (const token of [tokens.brand, tokens.theme]) await app.settings.set(token, tenant, { tenant })
  const page = createLiveClient({
    baseUrl: `http://127.0.0.1:${portOf(app)}/api/settings`,
    headers: { 'x-caller': 'ada' },
  })
  const pairs: unknown[] = []
  const look = () => void pairs.push([page.known('org.brand'), page.known('user.theme')].join())
  for (const key of ['org.brand', 'user.theme']) t.teardown(page.watch(key, look))
  await until(() => pairs.includes('acme,acme'))
  session.tenant = 'bolt'
  // The stream does not know it yet: what it says now is of the former organisation, and the answers are of the new one.
  await app.settings.set(tokens.brand, 'acme', { tenant: 'acme' })
  await app.settings.set(tokens.limit, 'any', { tenant: 'acme' })
  await until(() => pairs.at(-1) === 'bolt,bolt')
  app.settings.endStreams('ada')
  await until(() => page.state === 'live' && page.known('org.brand') === 'bolt')
  await app.settings.set(tokens.brand, 'bolt 2', { tenant: 'bolt' })
  await until(() => page.known('org.brand') === 'bolt 2')
  t.notOk(pairs.includes('acme,bolt') || pairs.includes('bolt,acme'), JSON.stringify(pairs))
})

test('the session of a stranger that switches: the streams of its pages are asked about, and end, as those of callers do', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const sessions: Record<string, string | null> = { one: 'acme', two: 'acme', none: null }
  const app = await start(t, {
    tenants: { of: ({ headers }) => sessions[String(headers['x-session'])] ?? null },
  })
  const open = (session: string) =>
    readStream(app, { path: '/public/stream', headers: { 'x-session': session } })
  const [one, two, none] = [await open('one'), await open('two'), await open('none')]
  for (const stream of [one, two, none]) await stream.next('own')
  const minute = async () => {
    mock.timers.tick(60_000)
    for (let turn = 0; turn < 20; turn++) await app.inject('/api/settings/public')
  }
  await minute()
  sessions['one'] = 'bolt'
  sessions['none'] = 'bolt'
  await minute()
  t.match(await one.ended(), /"tenant":"acme"/)
  t.match(await none.ended(), /"tenant":null/)
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
  await two.next('own')
  t.equal(two.text.match(/"caller":null,"tenant":"acme"/g)?.length, 2, 'the other one goes on')
  two.close()
})

test('1,000 organisations: the change of one is said to its members alone, and so is its end', async (t) => {
  const ids = Array.from({ length: 1000 }, (_, at) => `org-${at}`)
  const app = await start(t, {
    findCaller: ({ headers }) => ({ id: String(headers['x-caller']) }),
    tenants: { of: ({ headers }) => String(headers['settings-tenant']) },
  })
  const streams = await readStreams(
    app,
    ids.map((id) => ({ headers: { 'x-caller': `of-${id}`, 'settings-tenant': id } })),
  )
  for (const stream of streams) await stream.next('own')
  for (const id of ['org-7', 'org-700']) await app.settings.set(tokens.brand, id, { tenant: id })
  await app.settings.eraseTenant('org-7')
  const texts = await textAfter(app, streams)
  for (const [at, text] of texts.entries()) {
    const said = text.match(/"changed":"tenant"/g)?.length ?? 0
    t.equal(said > 0, at === 7 || at === 700, `org-${at}`)
    t.equal(
      text.match(/"tenant":"org-\d+"/g)?.every((each) => each === `"tenant":"org-${at}"`),
      true,
    )
  }
  for (const stream of streams) stream.close()
})
