/** The provider in process, as the server SDK of OpenFeature uses it, and that it agrees with the protocol. */
import { randomBytes } from 'node:crypto'
import { type JsonValue, type SettingDefinition, SettingScope, SettingType } from '@fastify-modular/settings'
import { openFeatureProvider } from '@fastify-modular/settings/openfeature'
import { overrideSettings } from '@fastify-modular/settings/testing'
import { ErrorCode, OpenFeature, ProviderEvents } from '@openfeature/server-sdk'
import fc from 'fast-check'
import { type Test, test } from 'tap'
import { createShop, evaluate, flags } from './flags.ts'
import { memoryStore, sqlite } from '../support/stores.js'

const { Application, System, User } = SettingScope

async function createClient(t: Test, options: Parameters<typeof createShop>[1] = {}) {
  const app = await createShop(t, options)
  const provider = openFeatureProvider(app)
  await OpenFeature.setProviderAndWait(t.name, provider)
  return { app, provider, client: OpenFeature.getClient(t.name) }
}

test('the server SDK reads flags by their types: shared ones, and those of the targetingKey', async (t) => {
  const { app, client } = await createClient(t)
  await app.settings.set(flags.theme, 'dark', { userId: 'alice' })
  t.match(await client.getBooleanDetails('shop.checkout', true), { value: false, reason: 'DEFAULT' })
  t.equal(await client.getNumberValue('shop.limit', 0), 10)
  t.match(await client.getStringDetails('shop.theme', ''), { value: 'light', reason: 'DEFAULT' })
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
  const read = store.owned.read.bind(store.owned)
  const asked: string[] = []
  store.owned.read = (owner) => {
    asked.push(owner.id)
    return read(owner)
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
    ['shop.theme', { targetingKey: 'x'.repeat(256) }, ErrorCode.INVALID_CONTEXT],
    ['shop.theme', { targetingKey: '\0' }, ErrorCode.INVALID_CONTEXT],
    ['shop.theme', { targetingKey: 5 as unknown as string }, ErrorCode.INVALID_CONTEXT],
  ] as const
  for (const [key, context, errorCode] of rows)
    t.match(await client.getStringDetails(key, 'none', context), {
      value: 'none',
      reason: 'ERROR',
      errorCode,
    })
  store.owned.read = () => Promise.reject(new Error('psql://user:hush@db is down'))
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
  await OpenFeature.setProviderAndWait(t.name, openFeatureProvider(await createShop(t)))
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

const kinds = {
  boolean: { type: SettingType.Bool, values: [false, true] },
  number: { type: SettingType.Number, values: [1, 2] },
  string: { type: SettingType.Text, values: ['a', 'b'] },
  object: { type: SettingType.Json, values: [{ a: 1 }, { b: 2 }] },
} satisfies Record<string, { readonly type: SettingType; readonly values: readonly [JsonValue, JsonValue] }>
const sources = ['default', 'shared', 'own', 'locked'] as const
const places = { system: System, application: Application, user: User }

/** A flag of each type in each scope with a value from each source; `own` is alice's. */
const table = Object.entries(kinds).flatMap(([kind, { type, values }]) =>
  Object.entries(places).flatMap(([place, scope]) =>
    sources
      .filter((source) => source !== 'own' || scope === User)
      .map((source) => ({ kind, source, key: `${place}.${kind}.${source}`, scope, type, values })),
  ),
)

test('the provider and the protocol agree about every type, scope, source and user, also of a silent database', async (t) => {
  const store = memoryStore()
  const definitions = table.map(({ key, scope, type, values }): SettingDefinition => {
    const raw = typeof values[0] === 'string' ? values[0] : JSON.stringify(values[0])
    return { key, displayName: key, scope, type, defaultValue: raw, flag: true }
  })
  const locked = table.filter(({ source }) => source === 'locked')
  const overrides = Object.fromEntries(locked.map(({ key, values }) => [key, values[1]]))
  const app = await createShop(t, { settingsOptions: { definitions, store, overrides } })
  for (const { key, source, values } of table) {
    if (source === 'shared') await app.settings.set(key as string, values[1])
    if (source === 'own') await app.settings.set(key as string, values[1], { userId: 'alice' })
  }
  const provider = openFeatureProvider(app)
  const resolvers: Readonly<Record<string, (...asked: readonly [string, never, object]) => Promise<object>>> =
    {
      boolean: provider.resolveBooleanEvaluation,
      number: provider.resolveNumberEvaluation,
      string: provider.resolveStringEvaluation,
      object: provider.resolveObjectEvaluation,
    }
  const reasons = { default: 'DEFAULT', shared: 'STATIC', locked: 'STATIC', own: 'TARGETING_MATCH' }
  const users = [
    ['alice', 'alice'],
    ['bob', 'bob'],
    ['bob', ''],
  ] as const
  async function compare([caller, targetingKey]: (typeof users)[number]): Promise<void> {
    const context = { targetingKey }
    const { body } = await evaluate(app, caller, undefined, context)
    t.equal(body.flags.length, table.length)
    for (const { key, kind, source, values } of table) {
      const held = source === 'own' && caller === 'bob' ? 'default' : source
      const expected = { value: values[held === 'default' ? 0 : 1], reason: reasons[held] }
      const name = `${key} of ${caller} as "${targetingKey}"`
      t.same(await resolvers[kind]?.(key, undefined as never, context), expected, name)
      t.same((await evaluate(app, caller, key, context)).body, { key, ...expected }, name)
      t.same(
        body.flags.find((flag: { readonly key: string }) => flag.key === key),
        { key, ...expected },
        `${name}, in the bulk`,
      )
    }
  }
  for (const user of users) await compare(user)
  store.owned.read = () => Promise.reject(new Error('the database is silent'))
  for (const user of users) await compare(user)
  for (const { key, kind, scope } of table) {
    const unknown = { targetingKey: 'editor' } // is not in memory
    const inProcess = async () => resolvers[kind]?.(key, undefined as never, unknown)
    const { status, body } = await evaluate(app, 'editor', key, unknown)
    if (scope !== User) t.match(await inProcess(), { value: body.value, reason: body.reason })
    else await t.rejects(inProcess, { code: body.errorCode }, `${key} ${status}`)
  }
})

test('a value that was encrypted before the setting became a flag is not shown', async (t) => {
  const file = `${t.testdir()}/settings.db`
  const encryption = { keys: [{ id: 'k1', key: randomBytes(32) }] }
  const { theme, checkout, limit } = flags
  const secret = { ...theme, flag: false, sensitive: true, defaultValue: null }
  const before = await createShop(t, {
    settingsOptions: { definitions: [secret], store: sqlite({ file }), encryption },
  })
  await before.settings.set('shop.theme', 'hush-bob', { userId: 'bob' })
  await before.settings.set('shop.theme', 'hush-all')
  await before.close()

  const app = await createShop(t, {
    evaluateForOthers: 'Settings.Update',
    settingsOptions: { definitions: [theme, checkout, limit], store: sqlite({ file }), encryption },
  })
  for (const [caller, targetingKey] of [
    ['alice', undefined],
    ['bob', undefined],
    ['editor', 'bob'],
  ] as const) {
    const context = targetingKey === undefined ? {} : { targetingKey }
    const one = await evaluate(app, caller, 'shop.theme', context)
    t.match(one, { status: 500, body: { key: 'shop.theme', errorCode: 'GENERAL' } })
    const all = await evaluate(app, caller, undefined, context)
    t.equal(all.status, 200)
    const failure = { key: 'shop.theme', errorCode: 'GENERAL', errorDetails: 'The flag cannot be read.' }
    t.same(all.body.flags, [
      { key: 'shop.checkout', value: false, reason: 'DEFAULT' },
      { key: 'shop.limit', value: 10, reason: 'DEFAULT' },
      failure,
    ])
    t.notMatch(one.payload + all.payload, /hush/)
  }
  const provider = openFeatureProvider(app)
  for (const context of [{}, { targetingKey: 'alice' }, { targetingKey: 'bob' }])
    await t.rejects(provider.resolveStringEvaluation('shop.theme', 'none', context), { code: 'GENERAL' })
})
