/** The live client while streams are refused, fall silent, or are told nothing: in a time that the tests make. */
import { mock } from 'node:test'
import { setting, SettingScope } from '@fastify-modular/settings'
import { type Test, test } from 'tap'
import { clientOf, follow, start } from '../support/live.ts'

const { Application, User } = SettingScope

/** Time passes by `tick` alone. */
function stopTime(t: Test) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => {
    mock.timers.tick(60_000) // clients that are watched no more end their streams
    mock.timers.reset()
  })
  return {
    tick: (milliseconds: number) => mock.timers.tick(milliseconds),
    settled: async (isSo: () => boolean) => {
      const end = Date.now() + 60_000
      while (!isSo() && Date.now() < end) await new Promise(setImmediate)
      t.ok(isSo(), String(isSo))
    },
  }
}

const streamed = { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }

/** A `fetch` whose streams are answered by a function, where it returns an answer. */
function answerStreams(answer: () => Response | undefined): typeof fetch {
  return async (...args) => (String(args[0]).endsWith('/stream') && answer()) || fetch(...args)
}

test('where no stream is to be had, values are polled, and a stream is tried again', async (t) => {
  for (const refusal of [
    () => new Response('', { status: 503, headers: { 'retry-after': '30' } }),
    () => new Response('', { status: 429, headers: { 'retry-after': '60' } }),
    () => new Response('', { status: 429, headers: { 'retry-after': '300000' } }),
    () => new Response('', { status: 404 }),
    () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }),
    () => new Response('id: 0-00000000\nevent: over\ndata: {}\n\n', streamed),
  ])
    await t.test('', async (t) => {
      const { tick, settled } = stopTime(t)
      const app = await start(t)
      let isRefused = true
      const client = await clientOf(app, {
        fetch: answerStreams(() => (isRefused ? refusal() : undefined)),
      })
      const title = follow(t, client, 'app.title')
      // An instance that closes answers 503, too, so the first one is asked again before values are polled.
      if (refusal().status === 503) {
        await settled(() => client.state === 'offline')
        tick(1500)
      }
      await settled(() => client.state === 'polling' && title.values.length === 1)
      await app.settings.contract.setSetting('app.title', 'Acme', Application)
      tick(90_000)
      await settled(() => title.values.length === 2)
      isRefused = false
      tick(90_000)
      await settled(() => client.state === 'live')
    })
})

test('a stream without a sign of life for 40 seconds is opened again', async (t) => {
  const { tick, settled } = stopTime(t)
  const app = await start(t)
  let opened = 0
  const client = await clientOf(app, {
    fetch: async (...args: Parameters<typeof fetch>) => {
      if (!String(args[0]).endsWith('/stream') || ++opened > 1) return fetch(...args)
      const never = new ReadableStream({
        start: (controller) =>
          args[1]?.signal?.addEventListener('abort', () => controller.error(new Error('aborted'))),
      })
      return new Response(never, streamed)
    },
  })
  const title = follow(t, client, 'app.title')
  await settled(() => client.state === 'live')
  tick(39_999)
  t.same([client.state, opened], ['live', 1])
  tick(1)
  await settled(() => client.state === 'offline')
  tick(1500)
  await settled(() => client.state === 'live' && title.values.length === 1)
  t.equal(opened, 2)
})

test('own values that cannot be read delay no value of the application', async (t) => {
  const { tick, settled } = stopTime(t)
  const app = await start(t)
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  let isBroken = true
  const client = await clientOf(app, {
    fetch: async (...args: Parameters<typeof fetch>) =>
      isBroken && String(args[0]).endsWith('/me') ? new Response('', { status: 500 }) : fetch(...args),
  })
  const [theme, title] = [follow(t, client, 'app.theme'), follow(t, client, 'app.title')]
  await settled(() => title.values.length === 1)
  t.same(theme.values, [])
  isBroken = false
  tick(30_000)
  await settled(() => theme.values.length === 1)
  t.same(theme.values, ['dark'])
})

test('where values are polled, a change that the client makes shows at once', async (t) => {
  const { settled } = stopTime(t)
  const app = await start(t, { stream: false, selfService: true })
  await app.settings.set('app.theme', 'system', { userId: 'alice' })
  const client = await clientOf(app)
  const theme = follow(t, client, 'app.theme')
  await settled(() => client.state === 'polling' && theme.values.length === 1)
  await client.setMine('app.theme', 'dark')
  await settled(() => theme.values.length === 2)
  t.same(theme.values, ['system', 'dark'])
})

test('where values are polled, a caller who signed out is noticed, and nothing of theirs is kept', async (t) => {
  const { tick, settled } = stopTime(t)
  const app = await start(t)
  const caller = { 'x-caller': 'alice' }
  const client = await clientOf(app, {
    headers: () => caller,
    fetch: answerStreams(() => new Response('', { status: 404 })),
  })
  follow(t, client, 'app.title')
  await settled(() => client.known('app.title') === 'Fastify Modular')
  caller['x-caller'] = 'nobody'
  tick(90_000)
  await settled(() => client.state === 'offline')
  t.equal(client.known('app.title'), undefined)
})

test('of a long value that was reset the answer of an instance that still has the older one is not taken', async (t) => {
  const { tick, settled } = stopTime(t)
  const long = 'x'.repeat(5000)
  const text = setting.text('app.text', { displayName: 'Text', scope: Application, default: long })
  const app = await start(t, { definitions: [text] })
  await app.settings.set(text, 'stored')
  const older = await app.settings.record('app.text')
  let asked = 0
  const client = await clientOf(app, {
    fetch: async (...args: Parameters<typeof fetch>) =>
      String(args[0]).includes('/app.text') && ++asked === 1 ? Response.json(older) : fetch(...args),
  })
  const { values } = follow(t, client, 'app.text')
  await settled(() => values.length === 1)
  await app.settings.reset(text)
  await settled(() => asked === 1)
  await settled(() => {
    tick(30_000)
    return values.length > 1
  })
  t.same(values, ['stored', long])
  t.equal(asked, 2)
})
