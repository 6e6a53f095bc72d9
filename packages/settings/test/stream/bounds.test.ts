/** How many streams there are, how much of one waits, and which pages get one. */
import { on, once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setting, SettingScope } from '@fastify-modular/settings'
import { until } from '@fastify-modular/test-support/until'
import type { FastifyInstance } from 'fastify'
import { type Test, test } from 'tap'
import { createApp, definitions } from '../support/app.ts'
import { readStream, start, withHooks } from '../support/reader.ts'
import { memoryStore } from '../support/stores.js'

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

/** Requests of strangers who know more than the instance; resolves when they are there, to their answers. */
async function arrive(app: FastifyInstance, count: number) {
  const known = { path, headers: { 'last-event-id': '99-000000000000' } }
  const requests = on(app.server, 'request')
  const answers = Array.from({ length: count }, () => readStream(app, known))
  for (let come = 0; come < count; come++) await requests.next()
  await turn()
  return { answers: Promise.all(answers) }
}

/** An application in whose time nothing happens by itself, and which has looked at the database for a stranger. */
async function startAndLook(t: Test) {
  const store = memoryStore()
  const app = await start(t, { store })
  await readStream(app, { path, headers: {} })
  const { news } = store.shared
  const counted = { app, looks: 0 }
  store.shared.news = (...known) => {
    counted.looks++
    return news(...known)
  }
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { answers } = await arrive(app, 1)
  t.match(await answers, [{ status: 200 }])
  t.equal(counted.looks, 1)
  return counted
}

test('strangers who come within a second of a look share the next one, and who is refused makes none', async (t) => {
  const counted = await startAndLook(t)
  const { app } = counted
  const { answers } = await arrive(app, 40)
  mock.timers.tick(999)
  await turn()
  t.equal(counted.looks, 1)
  mock.timers.tick(1)
  const accepted = (await answers).filter(({ status }) => status === 200)
  t.equal(accepted.length, 30, 'the bound holds for those who wait for a look')
  t.equal(counted.looks, 2)
  t.match(await (await arrive(app, 1)).answers, [{ status: 429 }])
  t.equal(counted.looks, 2)
  const headers = { 'last-event-id': '99-000000000000', 'x-caller': 'alice' }
  for (let count = 0; count < 2; count++) t.match(await readStream(app, { headers }), { status: 200 })
  t.equal(counted.looks, 4, 'callers do not wait')
})

test('strangers who wait for a look are answered when the application closes', async (t) => {
  const { app } = await startAndLook(t)
  const { answers } = await arrive(app, 1)
  await app.close()
  t.match(await answers, [{ status: 503, headers: { 'retry-after': '1', connection: 'close' } }])
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
  const app = await createApp(t, { findCaller: ({ headers }) => ({ id: String(headers['x-caller']) }) })
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
  app.settings.endStreams('caller 0')
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

interface Page {
  readonly site: string
  readonly own: number
  readonly open: number
  readonly cors?: string
  readonly cookie?: string
  readonly credentials?: string
  readonly origin?: string | undefined
}

/** What a browser says of a page, and CORS of the answer: whether the page gets a stream of its caller, and a public one. */
const pages: readonly Page[] = [
  { site: 'none', own: 200, open: 200 },
  { site: 'same-origin', own: 200, open: 200 },
  { site: 'same-origin', cookie: 'id=1', own: 200, open: 200 },
  ...['same-site', 'cross-site'].flatMap((site) => [
    { site, own: 403, open: 403 },
    { site, cors: 'https://app.example.com', own: 200, open: 200 },
    { site, cors: 'https://app.example.com', cookie: 'id=1', own: 403, open: 403 },
    { site, cors: 'https://app.example.com', cookie: 'id=1', credentials: 'true', own: 200, open: 200 },
    { site, cors: 'https://other.example.com', own: 403, open: 403 },
    { site, cors: 'https://other.example.com', cookie: 'id=1', credentials: 'true', own: 403, open: 403 },
    { site, cors: '*', own: 403, open: 200 },
    { site, cors: '*', cookie: 'id=1', own: 403, open: 403 },
    { site, cors: '*', cookie: 'id=1', credentials: 'true', own: 403, open: 403 },
    { site, cors: 'undefined', origin: undefined, own: 403, open: 403 },
  ]),
]

for (const { site, cors, cookie, credentials, own, open, ...more } of pages) {
  const { origin } = { origin: 'https://app.example.com', ...more }
  const sent = [cookie && 'a cookie', credentials && 'credentials', `CORS for ${cors ?? 'nobody'}`]
  test(`a page that is ${site}, with ${sent.filter(Boolean).join(' and ')}, gets ${own}, of public settings ${open}`, async (t) => {
    const app = await withHooks(t, (host) => {
      host.addHook('onRequest', async (_request, reply) => {
        if (cors !== undefined) reply.header('access-control-allow-origin', cors)
        if (credentials !== undefined) reply.header('access-control-allow-credentials', credentials)
      })
    })
    const headers = {
      'sec-fetch-site': site,
      ...(origin !== undefined && { origin }),
      ...(cookie !== undefined && { cookie }),
    }
    t.match(await readStream(app, { headers }), { status: own })
    t.match(await readStream(app, { path, headers }), { status: open })
  })
}

test('disconnect ends the streams of one caller', async (t) => {
  const app = await start(t)
  const streams = [await readStream(app), await readStream(app)]
  const bobs = await readStream(app, { headers: { 'x-caller': 'bob' } })
  app.settings.endStreams('alice')
  app.settings.endStreams('nobody')
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
