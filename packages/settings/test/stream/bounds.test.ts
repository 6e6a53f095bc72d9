/** How many streams there are, how much of one waits, and whose they are. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { mock } from 'node:test'
import type { Caller } from '@fastify-modular/core'
import { memoryStore, setting, SettingScope } from '@fastify-modular/settings'
import { until } from '@fastify-modular/test-support/until'
import type { FastifyRequest, FastifyServerOptions, onRequestAsyncHookHandler } from 'fastify'
import { type Test, test } from 'tap'
import { as, createApp, definitions } from '../support/app.ts'
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

test('decision 116: an IPv6 network of 64 bits is one address', async (t) => {
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

/** An application whose provider answers as a test says, and the moment at which callers are asked for again. */
async function asking(
  t: Test,
  answer: (session: string, request: FastifyRequest) => Caller | null | Promise<Caller | null>,
  { onRequest, ...server }: FastifyServerOptions & { readonly onRequest?: onRequestAsyncHookHandler } = {},
) {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const asked: string[] = []
  const app = await withHooks(
    t,
    (host) => {
      if (onRequest) host.addHook('onRequest', onRequest)
      host.addHook('onSend', async ({ headers }, { statusCode }) => {
        if (headers.cookie !== undefined)
          t.equal(statusCode >= 400, true, 'a session would be prolonged here')
      })
    },
    {
      ...server,
      caller(request) {
        const session = String(request.headers.cookie)
        asked.push(session)
        return answer(session, request)
      },
    },
  )
  return {
    app,
    async open(cookie: string, more: Readonly<Record<string, string>> = {}) {
      const stream = await readStream(app, { headers: { cookie, ...more } })
      await stream.next('own')
      return stream
    },
    /** Returns the sessions that were asked for within so many seconds. */
    async askAgain(seconds = 60): Promise<readonly string[]> {
      asked.length = 0
      mock.timers.tick(seconds * 1000)
      // The questions are requests like others; this one is behind them.
      for (let turn = 0; turn < 20; turn++) await as(app, null)('GET', '/public')
      return asked.toSorted()
    },
  }
}

test('a caller is asked for once a minute for each session, and the streams end with the answer', async (t) => {
  const answers = new Map<string, () => Caller | null>()
  const { app, open, askAgain } = await asking(t, (session) =>
    (answers.get(session) ?? (() => ({ id: 'alice' })))(),
  )
  const [here, beside, there] = [await open('s=1'), await open('s=1'), await open('s=2')]
  t.same(await askAgain(), ['s=1', 's=2'])
  answers.set('s=1', () => {
    throw new Error('the provider does not answer')
  })
  t.same(await askAgain(), ['s=1', 's=2'])
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  for (const stream of [here, beside, there]) await stream.next('change')
  answers.set('s=1', () => null)
  await askAgain()
  await Promise.all([here.ended(), beside.ended()])
  t.same(await askAgain(), ['s=2'])
  answers.set('s=2', () => ({ id: 'bob' }))
  await askAgain()
  await there.ended()
})

const isQuestion = ({ headers }: FastifyRequest) => 'x-settings-stream-question' in headers

/** What may come between a question and the provider. */
const silences: Readonly<Record<string, onRequestAsyncHookHandler>> = {
  '429, as all requests from there': async (_request, reply) => reply.code(429).send(),
  '429, as questions alone': async (request, reply) => {
    if (isQuestion(request)) await reply.code(429).send()
  },
  '503': async (_request, reply) => reply.code(503).send(),
  'a failure': async () => {
    throw new Error('boom')
  },
  nothing: () => new Promise(() => {}),
}

for (const [what, silence] of Object.entries(silences)) {
  test(`decision 116: the streams of a session whose questions get ${what} are over after five minutes`, async (t) => {
    let isSilent = false
    const { app, open, askAgain } = await asking(t, (session) => ({ id: session }), {
      async onRequest(request, reply) {
        if (isSilent && request.headers.cookie === 's=1') await silence.call(app, request, reply)
      },
    })
    const silent = [await open('s=1'), await open('s=1')]
    const others = [await open('s=2'), await readStream(app, { path })]
    await app.settings.contract.setSetting('app.primary_color', '#000001', Application)
    for (const stream of [...silent, ...others]) await stream.next('change')
    await askAgain()
    isSilent = true
    for (let minute = 0; minute < 5; minute++) await askAgain()
    await app.settings.contract.setSetting('app.primary_color', '#000002', Application)
    for (const stream of [...silent, ...others]) await stream.next('change')
    await askAgain(1)
    for (const stream of silent) t.match(await stream.ended(), /\n\nevent: over\ndata: {}\n\n$/)
    for (let minute = 0; minute < 5; minute++) await askAgain()
    await app.settings.contract.setSetting('app.primary_color', '#000003', Application)
    for (const stream of others) await stream.next('change')
  })
}

test('decision 116: the yes to one session of a caller, and to a later stream, keeps no other stream', async (t) => {
  let isLimited = false
  const { app, open, askAgain } = await asking(t, () => ({ id: 'alice' }), {
    async onRequest(request, reply) {
      if (isLimited && isQuestion(request) && request.headers.cookie === 's=1') await reply.code(429).send()
    },
  })
  const [first, other] = [await open('s=1'), await open('s=2')]
  isLimited = true
  for (let minute = 0; minute < 4; minute++) await askAgain()
  const later = await open('s=1')
  await askAgain()
  await askAgain(1)
  t.match(await first.ended(), /event: over/)
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  for (const stream of [other, later]) t.match(await stream.next('change'), { data: [{ value: 'Acme' }] })
})

test('keys in a header of the host are sessions, too', async (t) => {
  const revoked = new Set<unknown>()
  const { open, askAgain } = await asking(t, (_session, { headers }) =>
    revoked.has(headers['x-key']) ? null : { id: 'alice' },
  )
  const [first, second] = [await open('a=b', { 'x-key': '1' }), await open('a=b', { 'x-key': '2' })]
  t.equal((await askAgain()).length, 2)
  revoked.add('1')
  await askAgain()
  await first.ended()
  revoked.add('2')
  await askAgain()
  await second.ended()
})

test('a question comes from where the stream came from, through the same proxy', async (t) => {
  const seen: unknown[] = []
  const { open, askAgain } = await asking(
    t,
    (_session, { ip, protocol, host }) => {
      seen.push({ ip, protocol, host })
      return { id: 'alice' }
    },
    { trustProxy: '127.0.0.1' },
  )
  await open('s=1', { 'x-forwarded-proto': 'https', 'x-forwarded-for': '10.0.0.1', host: 'example.org' })
  await askAgain()
  const expected = { ip: '10.0.0.1', protocol: 'https', host: 'example.org' }
  t.same(seen, [expected, expected])
})

test('a provider that does not answer is asked for 256 callers at once, and for none of them again', async (t) => {
  const waiting: (() => void)[] = []
  let isHanging = false
  const { app, askAgain } = await asking(t, (session) =>
    isHanging ? new Promise((resolve) => waiting.push(() => resolve({ id: session }))) : { id: session },
  )
  for (let caller = 0; caller < 300; caller++)
    await app.inject({
      url: '/api/settings/stream',
      headers: { cookie: `s=${caller}` },
      payloadAsStream: true,
    })
  isHanging = true
  t.equal((await askAgain()).length, 256)
  t.equal((await askAgain(9)).length, 0)
  t.equal((await askAgain(1)).length, 44, 'those who wait for ten seconds make room')
  t.equal((await askAgain(120)).length, 0)
  isHanging = false
  for (const answer of waiting) answer()
  const again = new Set<string>()
  while (again.size < 300) for (const session of await askAgain(1)) again.add(session)
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
