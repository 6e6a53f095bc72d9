/** How many streams there are, how much of one waits, and whose they are. */
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { mock } from 'node:test'
import type { Caller } from '@fastify-modular/core'
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { as } from '../support/app.ts'
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

for (const site of ['cross-site', 'same-site', 'same-origin', 'none']) {
  test(`a request that a browser calls ${site} is ${site === 'cross-site' ? 'refused' : 'answered'}`, async (t) => {
    const app = await start(t)
    const headers = { 'x-caller': 'alice', 'sec-fetch-site': site }
    for (const each of [path, '/stream'])
      t.match(await readStream(app, { path: each, headers }), { status: site === 'cross-site' ? 403 : 200 })
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

test('a caller is asked for once a minute for each session, and the streams end with the answer', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const answers = new Map<string, () => Caller | null>()
  const asked: string[] = []
  const app = await withHooks(
    t,
    (host) => {
      host.addHook('onSend', async ({ headers }, { statusCode }) => {
        if (headers.cookie !== undefined)
          t.equal(statusCode >= 400, true, 'a session would be prolonged here')
      })
    },
    {
      caller: ({ headers }) => {
        const session = String(headers.cookie)
        asked.push(session)
        return (answers.get(session) ?? (() => ({ id: 'alice' })))()
      },
    },
  )
  const open = async (cookie: string) => {
    const stream = await readStream(app, { headers: { cookie } })
    await stream.next('own')
    return stream
  }
  const [here, beside, there] = [await open('s=1'), await open('s=1'), await open('s=2')]
  const askAgain = async (): Promise<readonly string[]> => {
    asked.length = 0
    mock.timers.tick(60_000)
    // The questions are requests like others; this one is behind them.
    for (let turn = 0; turn < 20; turn++) await as(app, null)('GET', '/public')
    return asked.toSorted()
  }
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
