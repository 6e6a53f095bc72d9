/** How many streams there are, how much of one waits, and which pages get one. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { mock } from 'node:test'
import { memoryStore, setting, SettingScope } from '@fastify-modular/settings'
import { until } from '@fastify-modular/test-support/until'
import { test } from 'tap'
import { createApp, definitions } from '../support/app.ts'
import { readStream, start, withHooks } from '../support/reader.ts'

const { Application } = SettingScope

test('the ninth stream of a caller tells the oldest to poll, and ends it', async (t) => {
  const app = await start(t)
  const streams = []
  for (let count = 0; count < 9; count++) {
    const stream = await readStream(app)
    await stream.next('own')
    streams.push(stream)
  }
  t.match(await streams[0]?.ended(), /\n\nevent: over\ndata: {}\n\n$/)
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  for (const stream of streams.slice(1)) t.match(await stream.next('change'), { data: [{ value: 'Acme' }] })
  t.match(await readStream(app, { headers: { 'x-caller': 'bob' } }), { status: 200 }, 'others have their own')
})

const path = '/public/stream'

test('an address has 32 anonymous streams, and one more when one of them has ended', async (t) => {
  const app = await start(t, {}, { trustProxy: true })
  const [first, ...others] = await Promise.all(Array.from({ length: 32 }, () => readStream(app, { path })))
  const refused = await readStream(app, { path })
  t.match(refused, { status: 429, headers: { 'retry-after': '60' } })
  t.match(await readStream(app), { status: 200 }, 'callers have bounds of their own')
  t.match(await readStream(app, { path, headers: { 'x-forwarded-for': '10.0.0.2' } }), { status: 200 })
  first?.close()
  for (;;) if ((await readStream(app, { path })).status === 200) break
  t.equal(others.length, 31)
})

test('an IPv6 network of 64 bits is one address', async (t) => {
  const app = await start(t, {}, { trustProxy: true })
  const statusFor = async (address: string) =>
    (await readStream(app, { path, headers: { 'x-forwarded-for': address } })).status
  for (let host = 0; host < 32; host++) t.equal(await statusFor(`2001:db8:0:1:${host}::${host}`), 200)
  t.equal(await statusFor('2001:DB8:0:1:ffff::'), 429)
  t.equal(await statusFor('2001:db8:0:2::1'), 200, 'others have their own')
})

test('strangers who are refused, and more than one within a second, make no look at the database', async (t) => {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const store = memoryStore()
  const app = await start(t, { store })
  const open = (more = {}) =>
    readStream(app, { headers: { 'last-event-id': '99-00000000-00000000' }, ...more })
  await open({ path, headers: {} }) // the first stream reads the history
  const { news } = store.shared
  let looks = 0
  store.shared.news = (...known) => {
    looks++
    return news(...known)
  }
  const known = { path, headers: { 'last-event-id': '99-00000000-00000000' } }
  for (let count = 0; count < 3; count++) t.equal((await open(known)).status, 200)
  t.equal(looks, 1)
  now = 1000
  const statuses = (await Promise.all(Array.from({ length: 40 }, () => open(known)))).map(
    ({ status }) => status,
  )
  t.equal(
    statuses.filter((status) => status === 200).length,
    28,
    'the bound holds for those who wait for a look',
  )
  t.equal(looks, 2)
  now = 2000
  t.equal((await open(known)).status, 429)
  t.equal(looks, 2)
  for (let count = 0; count < 2; count++)
    t.equal((await open({ headers: { ...known.headers, 'x-caller': 'alice' } })).status, 200)
  t.equal(looks, 4, 'callers do not wait')
})

test('an instance has 2,000 anonymous streams', async (t) => {
  const app = await start(t, {}, { trustProxy: true })
  for (let host = 0; host < 2000 / 32; host++) {
    const headers = { 'x-forwarded-for': `10.0.0.${host + 1}` }
    const count = Math.min(32, 2000 - host * 32)
    for (const { status } of await Promise.all(
      Array.from({ length: count }, () => readStream(app, { path, headers })),
    ))
      if (status !== 200) t.equal(status, 200)
  }
  const refused = await readStream(app, { path, headers: { 'x-forwarded-for': '10.0.1.1' } })
  t.match(refused, { status: 503, headers: { 'retry-after': '30' } })
  t.match(await readStream(app), { status: 200 }, 'callers have bounds of their own')
})

test('an instance has 8,000 streams of callers, however many callers', async (t) => {
  const app = await createApp(t, { caller: ({ headers }) => ({ id: String(headers['x-caller']) }) })
  // In process: the bound counts answers, and their sockets would be more than some machines allow.
  const open = (caller: number) =>
    app.inject({
      url: '/api/settings/stream',
      headers: { 'x-caller': `caller ${caller}` },
      payloadAsStream: true,
    })
  for (let caller = 0; caller < 1000; caller++)
    for (let stream = 0; stream < 8; stream++) {
      const { statusCode } = await open(caller)
      if (statusCode !== 200) t.equal(statusCode, 200)
    }
  t.match(await open(1000), { statusCode: 503, headers: { 'retry-after': '30' } })
  const own = await app.inject({ url: '/api/settings/public/stream', payloadAsStream: true })
  t.equal(own.statusCode, 200, 'strangers have a bound of their own')
  app.settings.disconnect('caller 0')
  t.equal((await open(1000)).statusCode, 200)
})

test('one event may be longer than what may wait: it cuts nobody', async (t) => {
  const texts = Array.from({ length: 400 }, (_, index) =>
    setting.text(`text.n${index}`, { displayName: 'Text', scope: Application }),
  )
  const app = await start(t, { definitions: [definitions, ...texts] })
  const sockets: Socket[] = []
  app.server.on('connection', (socket: Socket) => void sockets.push(socket))
  const reader = await readStream(app)
  const { port } = app.server.address() as AddressInfo
  const slow = connect({ host: '127.0.0.1', port })
  t.teardown(() => slow.destroy())
  slow.write('GET /api/settings/stream HTTP/1.1\r\nhost: localhost\r\nx-caller: bob\r\n\r\n')
  await once(slow, 'readable')
  const waiting = () => sockets[1]?.writableLength ?? 0
  for (let round = 0; waiting() <= 64 * 1024; round++) {
    if (round > 100) throw new Error('the kernel takes everything')
    const value = `${round} ${'x'.repeat(4000)}`
    await app.settings.contract.setMany(texts.map(({ key }) => ({ key, scope: Application, value })))
    await reader.next('change')
  }
  await app.settings.contract.setSetting('app.title', 'last', Application)
  await reader.next('change')
  let end = ''
  slow.setEncoding('utf8').on('data', (chunk: string) => (end = (end + chunk).slice(-1000)))
  await until(() => end.includes('"last"'))
})

test('a reader who does not read is cut, and one who does is not disturbed', async (t) => {
  const app = await start(t)
  const { port } = app.server.address() as AddressInfo
  const reader = await readStream(app)
  await reader.next('own')
  const deaf = connect({ host: '127.0.0.1', port })
  t.teardown(() => deaf.destroy())
  deaf.write('GET /api/settings/stream HTTP/1.1\r\nhost: localhost\r\nx-caller: bob\r\n\r\n')
  await once(deaf, 'readable')
  const connections = async () =>
    new Promise<number>((resolve) => app.server.getConnections((_, n) => resolve(n)))
  for (let round = 0; (await connections()) > 1; round++) {
    await app.settings.contract.setSetting('app.banner', `${round} ${'x'.repeat(4000)}`, Application)
    t.match((await reader.next('change')).data[0]?.['value'], new RegExp(`^${round} `))
    if (round > 20_000) throw new Error('it was never cut')
  }
})

/** What a browser says of a page, and CORS of the answer: whether the page gets a stream of its caller, and a public one. */
const pages = [
  { site: 'none', own: 200, open: 200 },
  { site: 'same-origin', own: 200, open: 200 },
  ...['same-site', 'cross-site'].flatMap((site) => [
    { site, own: 403, open: 403 },
    { site, cors: 'https://app.example.com', own: 200, open: 200 },
    { site, cors: 'https://other.example.com', own: 403, open: 403 },
    { site, cors: '*', own: 403, open: 200 },
    { site, cors: 'undefined', origin: undefined, own: 403, open: 403 },
  ]),
]

for (const { site, cors, own, open, ...more } of pages) {
  const { origin } = { origin: 'https://app.example.com', ...more }
  test(`a page that is ${site}, with CORS for ${cors ?? 'nobody'}, gets ${own}, of public settings ${open}`, async (t) => {
    const app = await withHooks(t, (host) => {
      host.addHook('onRequest', async (_request, reply) => {
        if (cors !== undefined) reply.header('access-control-allow-origin', cors)
      })
    })
    const headers = { 'sec-fetch-site': site, ...(origin !== undefined && { origin }) }
    t.match(await readStream(app, { headers }), { status: own })
    t.match(await readStream(app, { path, headers }), { status: open })
  })
}

test('disconnect ends the streams of one caller', async (t) => {
  const app = await start(t)
  const streams = [await readStream(app), await readStream(app)]
  const bobs = await readStream(app, { headers: { 'x-caller': 'bob' } })
  app.settings.disconnect('alice')
  app.settings.disconnect('nobody')
  await Promise.all(streams.map((stream) => stream.ended()))
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  t.match(await bobs.next('change'), { data: [{ value: 'Acme' }] })
})

test('a reader gets a sign of life each 25 s, which moves the id', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const app = await start(t)
  const stream = await readStream(app, { path })
  const { id } = await stream.next()
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  mock.timers.tick(25_000)
  const beat = await stream.next()
  t.match(beat, { id: /^1-/, event: '', data: [] })
  t.match(id, /^0-/)
})
