/** Whether the callers of open streams are still signed in: who is asked when, and what ends a stream. */
import { mock } from 'node:test'
import type { Caller } from '@fastify-modular/core'
import { SettingScope } from '@fastify-modular/settings'
import type { FastifyRequest, FastifyServerOptions, onRequestAsyncHookHandler } from 'fastify'
import { type Test, test } from 'tap'
import { as } from '../support/app.ts'
import { readStream, withHooks } from '../support/reader.ts'

const { Application } = SettingScope

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
      findCaller(request) {
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
  test(`the streams of a session whose questions get ${what} are over after five minutes`, async (t) => {
    let isSilent = false
    const { app, open, askAgain } = await asking(t, (session) => ({ id: session }), {
      async onRequest(request, reply) {
        if (isSilent && request.headers.cookie === 's=1') await silence.call(app, request, reply)
      },
    })
    const silent = [await open('s=1'), await open('s=1')]
    const others = [await open('s=2'), await readStream(app, { path: '/public/stream' })]
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

test('the yes to one session of a caller, and to a later stream, keeps no other stream', async (t) => {
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
