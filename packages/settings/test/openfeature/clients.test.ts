/** The official clients of the OpenFeature Remote Evaluation Protocol against the plugin, over HTTP. */
import { OFREPProvider } from '@openfeature/ofrep-provider'
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider'
import { ErrorCode, OpenFeature as server } from '@openfeature/server-sdk'
import {
  type EvaluationContext,
  OpenFeature as web,
  type Provider,
  ProviderEvents,
} from '@openfeature/web-sdk'
import { type Test, test } from 'tap'
import { createShop, flags } from './flags.ts'

/** A provider of the server SDK, for one caller of the shop. */
async function serverClient(t: Test, baseUrl: string, caller: string) {
  const provider = new OFREPProvider({ baseUrl, headers: [['x-caller', caller]] })
  await server.setProviderAndWait(t.name, provider)
  return server.getClient(t.name)
}

test('ofrep-provider reads each flag, with its type, for the callers that it may ask for', async (t) => {
  const app = await createShop(t, { evaluateForOthers: 'Settings.Update' })
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  await app.settings.set(flags.theme, 'dark', { userId: 'alice' })
  await app.settings.set(flags.layout, { columns: 3 }, { userId: 'alice' })
  const alice = { targetingKey: 'alice' }

  const service = await serverClient(t, baseUrl, 'editor')
  t.equal(await service.getBooleanValue('shop.checkout', true), false)
  t.equal(await service.getNumberValue('shop.limit', 0), 10)
  t.equal(await service.getStringValue('shop.theme', ''), 'light')
  t.match(await service.getStringDetails('shop.theme', '', alice), {
    value: 'dark',
    reason: 'TARGETING_MATCH',
  })
  t.same(await service.getObjectValue('shop.layout', {}, alice), { columns: 3 })
  t.match(await service.getStringDetails('shop.limit', 'none'), {
    value: 'none',
    errorCode: ErrorCode.TYPE_MISMATCH,
  })
  t.match(await service.getStringDetails('shop.title', 'none'), {
    value: 'none',
    errorCode: ErrorCode.FLAG_NOT_FOUND,
  })
  const invalid = await service.getStringDetails('shop.theme', 'none', { targetingKey: 'x'.repeat(300) })
  t.match(invalid, { value: 'none', errorCode: ErrorCode.INVALID_CONTEXT })
})

test('ofrep-provider gets nothing of another user', async (t) => {
  const app = await createShop(t)
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  await app.settings.set(flags.theme, 'dark', { userId: 'alice' })
  const bob = await serverClient(t, baseUrl, 'bob')
  t.match(await bob.getStringDetails('shop.theme', 'none', { targetingKey: 'alice' }), {
    value: 'none',
    errorCode: ErrorCode.GENERAL,
  })
  t.equal(await bob.getStringValue('shop.theme', 'none', { targetingKey: 'bob' }), 'light')
})

/**
 * A provider of the web SDK in a browser where users sign in and out: `session.user` is the caller of each request, as a
 * cookie would be. `bulks` are the requests, with the tag that they sent and the status of the answer.
 */
async function openBrowser(t: Test, { pollInterval = 0 } = {}) {
  const bulks: { readonly tag: string | undefined; readonly status: number }[] = []
  const app = await createShop(t, {
    before: (shop) => {
      shop.addHook('onResponse', async ({ headers }, { statusCode }) => {
        bulks.push({ tag: headers['if-none-match'], status: statusCode })
      })
    },
  })
  const session = { user: 'alice' }
  const provider = new OFREPWebProvider({
    baseUrl: await app.listen({ port: 0, host: '127.0.0.1' }),
    pollInterval,
    headersFactory: async () => [['x-caller', session.user]],
  })
  t.teardown(() => provider.onClose?.())
  await app.settings.set(flags.theme, 'dark', { userId: 'alice' })
  await app.settings.set(flags.theme, 'blue', { userId: 'bob' })
  // Its declarations do not know exactOptionalPropertyTypes.
  const setProvider = (context: EvaluationContext) =>
    web.setProviderAndWait(t.name, provider as Provider, context)
  return { app, bulks, session, provider, setProvider, client: web.getClient(t.name) }
}

test('ofrep-web-provider reads all flags at once, and again what has changed, by the tag', async (t) => {
  const { app, bulks, setProvider, client } = await openBrowser(t, { pollInterval: 20 })
  await setProvider({ targetingKey: 'alice' })
  t.match(client.getStringDetails('shop.theme', ''), { value: 'dark', reason: 'TARGETING_MATCH' })
  t.equal(client.getBooleanValue('shop.checkout', true), false)
  t.equal(client.getNumberValue('shop.limit', 0), 10)
  t.same(client.getObjectValue('shop.layout', {}), { columns: 2 })
  t.match(client.getStringDetails('shop.title', 'none'), {
    value: 'none',
    errorCode: ErrorCode.FLAG_NOT_FOUND,
  })

  const changed = new Promise((resolve) => {
    client.addHandler(ProviderEvents.ConfigurationChanged, (details) => resolve(details?.flagsChanged))
  })
  await until(() => bulks.filter(({ status }) => status === 304).length > 1)
  t.ok(bulks.every(({ tag, status }) => (status === 304) === (tag !== undefined)))
  await app.settings.set(flags.limit, 20)
  t.same(await changed, ['shop.limit'])
  t.equal(client.getNumberValue('shop.limit', 0), 20)
})

/** Waits for what the provider does by itself. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

for (const named of [true, false]) {
  test(`two users in turn on one web provider never see each other's flags, ${named ? 'with' : 'without'} targetingKey`, async (t) => {
    const { app, bulks, session, provider, setProvider, client } = await openBrowser(t)
    const contextOf = (user: string) => (named ? { targetingKey: user } : {})
    await setProvider(contextOf('alice'))
    const themes = { alice: 'dark', bob: 'blue' }
    for (const user of ['bob', 'alice', 'alice', 'bob'] as const) {
      const before = bulks.length
      const isSame = session.user === user
      session.user = user
      await web.setContext(t.name, contextOf(user))
      t.equal(client.getStringValue('shop.theme', 'none'), themes[user])
      t.notMatch(JSON.stringify(provider.flagCache), user === 'bob' ? 'dark' : 'blue')
      t.match(bulks.slice(before), [{ status: isSame ? 304 : 200 }])
      if (!named) t.ok(bulks.at(-1)?.tag, 'the tag of the user before was sent')
    }
    await app.close()
  })
}

test("with targetingKey, flags that the browser stores are not the next user's either", async (t) => {
  const stored = new Map<string, string>()
  Object.defineProperty(globalThis, 'localStorage', {
    configurable: true,
    value: {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => void stored.set(name, value),
      removeItem: (name: string) => void stored.delete(name),
    },
  })
  t.teardown(() => Reflect.deleteProperty(globalThis, 'localStorage'))
  const { session, provider, setProvider, client } = await openBrowser(t)
  await setProvider({ targetingKey: 'alice' })
  t.match([...stored.values()].join(), 'dark')
  for (const [user, own, other] of [
    ['bob', 'blue', 'dark'],
    ['alice', 'dark', 'blue'],
  ] as const) {
    session.user = user
    await web.setContext(t.name, { targetingKey: user })
    t.equal(client.getStringValue('shop.theme', 'none'), own)
    t.notMatch(JSON.stringify([provider.flagCache, ...stored.values()]), other)
  }
})

test('a web provider that asks for another user than the one who is signed in is refused', async (t) => {
  const { bulks, provider, setProvider, client } = await openBrowser(t)
  await t.rejects(setProvider({ targetingKey: 'bob' }))
  t.equal(client.getStringValue('shop.theme', 'none'), 'none')
  t.match(bulks, [{ status: 403 }])
  t.same(provider.flagCache, {})
})
