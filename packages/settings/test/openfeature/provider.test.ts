/** The provider in process, as the server SDK of OpenFeature uses it. */
import { memoryStore, SettingScope } from '@fastify-modular/settings'
import { settingsProvider } from '@fastify-modular/settings/openfeature'
import { overrideSettings } from '@fastify-modular/settings/testing'
import { ErrorCode, OpenFeature, ProviderEvents } from '@openfeature/server-sdk'
import fc from 'fast-check'
import { type Test, test } from 'tap'
import { createShop, evaluate, flags } from './flags.ts'

const { Application } = SettingScope

async function createClient(t: Test, options: Parameters<typeof createShop>[1] = {}) {
  const app = await createShop(t, options)
  const provider = settingsProvider(app)
  await OpenFeature.setProviderAndWait(t.name, provider)
  return { app, provider, client: OpenFeature.getClient(t.name) }
}

test('the server SDK reads flags by their types: shared ones, and those of the targetingKey', async (t) => {
  const { app, client } = await createClient(t)
  await app.settings.set(flags.theme, 'dark', { userId: 'alice' })
  t.match(await client.getBooleanDetails('shop.checkout', true), { value: false, reason: 'STATIC' })
  t.equal(await client.getNumberValue('shop.limit', 0), 10)
  t.match(await client.getStringDetails('shop.theme', ''), { value: 'light', reason: 'STATIC' })
  const alice = { targetingKey: 'alice' }
  t.match(await client.getStringDetails('shop.theme', '', alice), {
    value: 'dark',
    reason: 'TARGETING_MATCH',
  })
  t.equal(await client.getStringValue('shop.theme', '', { targetingKey: 'bob' }), 'light')
  t.same(await client.getObjectValue('shop.layout', {}, alice), { columns: 2 })
})

test('shared flags come from memory, and those of a user from one query', async (t) => {
  const store = memoryStore()
  const { client } = await createClient(t, { settingsOptions: { definitions: [flags], store } })
  const read = store.users.read.bind(store.users)
  const asked: string[] = []
  store.users.read = (userId) => {
    asked.push(userId)
    return read(userId)
  }
  const alice = { targetingKey: 'alice' }
  await client.getStringValue('shop.theme', '')
  await client.getNumberValue('shop.limit', 0, alice)
  t.same(asked, [])
  await client.getStringValue('shop.theme', '', alice)
  await client.getObjectValue('shop.layout', {}, alice)
  t.same(asked, ['alice'])
})

test('what is wrong is the error code of the evaluation, beside the fallback', async (t) => {
  const store = memoryStore()
  const { client } = await createClient(t, { settingsOptions: { definitions: [flags], store } })
  const rows = [
    ['shop.unknown', {}, ErrorCode.FLAG_NOT_FOUND],
    ['shop.title', {}, ErrorCode.FLAG_NOT_FOUND],
    ['__proto__', {}, ErrorCode.FLAG_NOT_FOUND],
    ['shop.limit', {}, ErrorCode.TYPE_MISMATCH],
    ['shop.layout', {}, ErrorCode.TYPE_MISMATCH],
    ['shop.theme', { targetingKey: '' }, ErrorCode.INVALID_CONTEXT],
    ['shop.theme', { targetingKey: 'x'.repeat(256) }, ErrorCode.INVALID_CONTEXT],
    ['shop.theme', { targetingKey: 5 as unknown as string }, ErrorCode.INVALID_CONTEXT],
  ] as const
  for (const [key, context, errorCode] of rows)
    t.match(await client.getStringDetails(key, 'none', context), {
      value: 'none',
      reason: 'ERROR',
      errorCode,
    })
  store.users.read = () => Promise.reject(new Error('psql://user:hush@db is down'))
  const failed = await client.getStringDetails('shop.theme', 'none', { targetingKey: 'alice' })
  t.match(failed, { value: 'none', errorCode: ErrorCode.GENERAL })
  t.notMatch(failed.errorMessage, /hush/)
})

test('a change of a shared flag is an event with its key; no other change is one', async (t) => {
  const { app, client } = await createClient(t)
  const changed: unknown[] = []
  client.addHandler(
    ProviderEvents.ConfigurationChanged,
    (details) => void changed.push(details?.flagsChanged),
  )
  await app.settings.set(flags.theme, 'secret-of-alice', { userId: 'alice' })
  await app.settings.set(flags.title, 'Store')
  await app.settings.set(flags.limit, 20)
  await app.settings.set(flags.limit, 20)
  await app.settings.set(flags.theme, 'dim')
  const override = overrideSettings(app, { 'shop.checkout': true })
  override[Symbol.dispose]()
  await app.settings.setMany([
    { key: 'shop.limit', scope: SettingScope.System, value: 30 },
    { key: 'shop.checkout', scope: Application, value: true },
  ])
  await new Promise((resolve) => setImmediate(resolve)) // the SDK calls handlers later
  t.same(changed, [
    ['shop.limit'],
    ['shop.theme'],
    ['shop.checkout'],
    ['shop.checkout'],
    ['shop.limit'],
    ['shop.checkout'],
  ])
})

test('a provider that was replaced reports nothing, and one that returns reports each change once', async (t) => {
  const { app, provider } = await createClient(t)
  const { events } = provider
  let reported = 0
  events.addHandler(ProviderEvents.ConfigurationChanged, () => ++reported)
  await OpenFeature.setProviderAndWait(t.name, settingsProvider(await createShop(t)))
  await app.settings.set(flags.limit, 20)
  t.equal(reported, 0)
  await OpenFeature.setProviderAndWait(t.name, provider)
  await app.settings.set(flags.limit, 30)
  t.equal(reported, 1)
  events.removeAllHandlers(ProviderEvents.Ready)
  t.not(events.getHandlers(ProviderEvents.ConfigurationChanged).length, 0)
  events.removeAllHandlers()
  t.equal(events.getHandlers(ProviderEvents.ConfigurationChanged).length, 0)
})

test('a handler that throws stops neither the others nor the write', async (t) => {
  const { app, client } = await createClient(t)
  const changed: unknown[] = []
  client.addHandler(ProviderEvents.ConfigurationChanged, () => {
    throw new Error('a handler failed')
  })
  client.addHandler(
    ProviderEvents.ConfigurationChanged,
    (details) => void changed.push(details?.flagsChanged),
  )
  await app.settings.set(flags.limit, 20)
  await new Promise((resolve) => setImmediate(resolve))
  t.same(changed, [['shop.limit']])
})

test('the provider and the protocol agree: random texts, shared and own', async (t) => {
  const { app, client } = await createClient(t)
  const runs = fc.asyncProperty(
    fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
    fc.constantFrom({}, { userId: 'alice' }),
    async (value, place) => {
      await app.settings.set(flags.theme, value, place)
      const inProcess = await client.getStringValue('shop.theme', 'none', { targetingKey: 'alice' })
      return inProcess === (await evaluate(app, 'alice', 'shop.theme')).body.value
    },
  )
  await t.resolves(fc.assert(runs, { numRuns: 150 }))
})
