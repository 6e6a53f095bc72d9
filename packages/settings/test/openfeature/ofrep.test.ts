/** The OpenFeature Remote Evaluation Protocol, as its clients see it. */
import { type JsonValue, setting, settings, SettingScope } from '@fastify-modular/settings'
import { ofrep, openFeatureProvider } from '@fastify-modular/settings/openfeature'
import fc from 'fast-check'
import Fastify from 'fastify'
import { test } from 'tap'
import { callerByHeader, logInto, rejection } from '../support/app.ts'
import { engines } from '../support/engines.ts'
import { createShop, evaluate, flags } from './flags.ts'
import { memoryStore } from '../support/stores.js'

const { User } = SettingScope

test('a flag is evaluated for the caller: the own value, the shared one, the default', async (t) => {
  const app = await createShop(t)
  const expectFlag = async (key: string, expected: object) => {
    const { status, headers, body } = await evaluate(app, 'alice', key)
    t.equal(status, 200)
    t.equal(headers['content-type'], 'application/json; charset=utf-8')
    t.equal(headers['cache-control'], 'private, no-store')
    t.same(body, { key, ...expected })
  }
  await expectFlag('shop.theme', { value: 'light', reason: 'DEFAULT' })
  await app.settings.set(flags.theme, 'dim')
  await expectFlag('shop.theme', { value: 'dim', reason: 'STATIC' })
  await app.settings.set(flags.theme, 'dark', { userId: 'alice' })
  await expectFlag('shop.theme', { value: 'dark', reason: 'TARGETING_MATCH' })
  await app.settings.set(flags.limit, 20)
  await expectFlag('shop.limit', { value: 20, reason: 'STATIC' })
  await expectFlag('shop.checkout', { value: false, reason: 'DEFAULT' })
})

test('the bulk has every flag, as the caller would get it alone, and nothing else', async (t) => {
  const app = await createShop(t, {
    settingsOptions: { definitions: [flags], overrides: { 'shop.limit': 3 } },
  })
  await app.settings.set(flags.theme, 'dark', { userId: 'alice' })
  const { status, headers, body } = await evaluate(app, 'alice')
  t.equal(status, 200)
  t.equal(headers['cache-control'], 'private, no-store')
  const keys = body.flags.map(({ key }: { readonly key: string }) => key)
  t.same(keys.toSorted(), ['shop.checkout', 'shop.layout', 'shop.limit', 'shop.theme'])
  for (const flag of body.flags) t.same((await evaluate(app, 'alice', flag.key)).body, flag)
  t.match(
    body.flags.find(({ key }: { readonly key: string }) => key === 'shop.limit'),
    {
      value: 3,
      reason: 'STATIC',
    },
  )
})

test('what a user has stored of a setting that is not a User setting is not evaluated', async (t) => {
  const store = memoryStore()
  const older = setting.bool('shop.checkout', { displayName: 'Checkout', scope: User })
  const before = await createShop(t, { settingsOptions: { definitions: [older], store } })
  await before.settings.set(older, true, { userId: 'alice' })
  const app = await createShop(t, { settingsOptions: { definitions: [flags], store } })
  t.match(await evaluate(app, 'alice', 'shop.checkout'), { body: { value: false, reason: 'DEFAULT' } })
  t.match((await evaluate(app, 'alice')).body.flags, [{ key: 'shop.checkout', value: false }])
})

test('a setting that is not a flag is as unknown as one that does not exist', async (t) => {
  const app = await createShop(t)
  for (const key of ['shop.title', 'shop.unknown', '__proto__', 'SHOP.LIMIT']) {
    const { status, headers, body } = await evaluate(app, 'admin', key)
    t.equal(status, 404, key)
    t.equal(headers['content-type'], 'application/problem+json')
    t.equal(headers['cache-control'], 'no-store')
    const detail = body.detail.replace(key, '…')
    t.same(
      { ...body, detail, errorDetails: body.errorDetails.replace(key, '…') },
      {
        type: 'urn:problem:not-found',
        title: body.title,
        status: 404,
        detail,
        instance: `/ofrep/v1/evaluate/flags/${key}`,
        code: 'NOT_FOUND',
        requestId: body.requestId,
        key,
        errorCode: 'FLAG_NOT_FOUND',
        errorDetails: detail,
      },
    )
  }
})

test('targetingKey is absent or the id of the caller; anybody else is 403, for administrators too', async (t) => {
  const app = await createShop(t)
  await app.settings.set(flags.theme, 'dark', { userId: 'alice' })
  for (const context of [
    {},
    { targetingKey: '' },
    { targetingKey: 'alice' },
    { targetingKey: 'alice', plan: { name: 'free' } },
  ])
    t.match(await evaluate(app, 'alice', 'shop.theme', context), { status: 200, body: { value: 'dark' } })
  for (const caller of ['bob', 'admin'] as const) {
    for (const key of ['shop.theme', 'shop.limit', 'shop.unknown', undefined]) {
      const { status, payload } = await evaluate(app, caller, key, { targetingKey: 'alice' })
      t.equal(status, 403, `${caller} ${key}`)
      t.notMatch(payload, /dark/)
    }
  }
  t.equal((await evaluate(app, null, 'shop.theme')).status, 401)
  t.equal((await evaluate(app, null, undefined, { targetingKey: 'alice' })).status, 401)
})

test('with evaluateForOthers its holders evaluate for others, which is logged', async (t) => {
  const lines: string[] = []
  const app = await createShop(t, { evaluateForOthers: 'Settings.Update', server: logInto(lines, 'info') })
  await app.settings.set(flags.theme, 'dark', { userId: 'alice' })
  for (const key of ['shop.theme', undefined]) {
    const context = { targetingKey: 'alice' }
    t.equal((await evaluate(app, 'bob', key, context)).status, 403)
    lines.length = 0
    const { status, payload } = await evaluate(app, 'editor', key, context)
    t.equal(status, 200)
    t.match(payload, /dark/)
    const audited = lines.filter((line) => line.includes('flags.evaluate'))
    t.match(JSON.parse(String(audited)), {
      audit: 'flags.evaluate',
      actor: 'editor',
      user: 'alice',
      reqId: /./,
    })
    lines.length = 0
    t.equal((await evaluate(app, 'editor', key)).status, 200)
    t.notMatch(lines.join(), 'flags.evaluate')
  }
  for (const targetingKey of ['\0', '\ud800', 'x\0y']) {
    const answered = await evaluate(app, 'editor', 'shop.theme', { targetingKey })
    t.match(answered, { status: 400, body: { errorCode: 'INVALID_CONTEXT', key: 'shop.theme' } })
  }
})

const json = { 'content-type': 'application/json' }
const refused: readonly (readonly [
  name: string,
  payload: string,
  headers: Record<string, string>,
  errorCode: string,
])[] = [
  ['no JSON', '{', json, 'PARSE_ERROR'],
  ['a prototype', '{"__proto__":{"context":{}}}', json, 'PARSE_ERROR'],
  ['another media type', '<context/>', { 'content-type': 'text/xml' }, 'PARSE_ERROR'],
  ['more than a megabyte', `{"context":{"a":"${'x'.repeat(2 ** 20)}"}}`, json, 'PARSE_ERROR'],
  ['an empty body of JSON', '', json, 'PARSE_ERROR'],
  ['null', 'null', json, 'INVALID_CONTEXT'],
  ['an array', '[]', json, 'INVALID_CONTEXT'],
  ['a context that is not an object', '{"context":"alice"}', json, 'INVALID_CONTEXT'],
  ['a context of null', '{"context":null}', json, 'INVALID_CONTEXT'],
  ['a targetingKey of null', '{"context":{"targetingKey":null}}', json, 'INVALID_CONTEXT'],
  ['a targetingKey that is a number', '{"context":{"targetingKey":5}}', json, 'INVALID_CONTEXT'],
  ['a targetingKey that is a list', '{"context":{"targetingKey":["alice"]}}', json, 'INVALID_CONTEXT'],
  ['a long targetingKey', `{"context":{"targetingKey":"${'x'.repeat(256)}"}}`, json, 'INVALID_CONTEXT'],
]

test('whatever cannot be read is 400, in the words of the protocol', async (t) => {
  const app = await createShop(t)
  for (const url of ['/ofrep/v1/evaluate/flags', '/ofrep/v1/evaluate/flags/shop.theme']) {
    for (const [name, payload, headers, errorCode] of refused) {
      const { statusCode, body } = await app.inject({
        method: 'POST',
        url,
        payload,
        headers: { 'x-caller': 'alice', ...headers },
      })
      const problem = JSON.parse(body)
      t.match(problem, { status: 400, errorCode, errorDetails: problem.detail }, `${name} to ${url}`)
      t.equal(statusCode, 400)
      t.equal(problem.key, url.endsWith('flags') ? undefined : 'shop.theme')
    }
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers: { 'x-caller': 'alice' } })
    t.match([statusCode, JSON.parse(body)], [400, { errorCode: 'INVALID_CONTEXT' }], 'no body at all')
  }
})

test('where the database does not answer, flags of users are 500 GENERAL, and shared ones come from memory', async (t) => {
  const store = memoryStore()
  const lines: string[] = []
  const app = await createShop(t, {
    settingsOptions: { definitions: [flags], store },
    server: logInto(lines, 'error'),
  })
  store.owned.read = () => Promise.reject(new Error('psql://user:hush@db is down'))
  for (const key of ['shop.theme', undefined]) {
    const { status, headers, payload, body } = await evaluate(app, 'alice', key)
    t.equal(status, 500)
    t.equal(headers['content-type'], 'application/problem+json')
    t.match(body, { code: 'INTERNAL_SERVER_ERROR', errorCode: 'GENERAL', errorDetails: body.detail })
    t.equal(body.key, key)
    t.notMatch(payload, /hush/)
    t.match(lines.at(-1), /db is down/, 'the log says what happened')
  }
  t.match(await evaluate(app, 'alice', 'shop.limit'), { status: 200, body: { value: 10 } })
})

test('the tag of the bulk belongs to its caller, its targetingKey and its content', async (t) => {
  const app = await createShop(t, { evaluateForOthers: 'Settings.Update' })
  const tagOf = async (...args: [caller: 'alice' | 'bob' | 'editor', context?: object]) => {
    const { headers } = await evaluate(app, args[0], undefined, args[1])
    return String(headers.etag)
  }
  const ask = async (caller: 'alice' | 'bob' | 'editor', etag: string, context?: object) => {
    const { status, payload } = await evaluate(app, caller, undefined, context, { 'if-none-match': etag })
    return [status, payload.length > 0]
  }
  const first = await tagOf('alice')
  t.match(first, /^"[\w-]{16}"$/)
  t.same(await ask('alice', first), [304, false])
  t.same(await ask('alice', `W/${first}`), [304, false])
  t.same(await ask('alice', first, { targetingKey: 'alice', page: 7 }), [304, false], 'the same question')
  t.same(await ask('bob', first), [200, true], 'equal content of another caller')
  t.same(await ask('editor', await tagOf('editor'), { targetingKey: 'alice' }), [200, true])
  t.same(await ask('editor', first, { targetingKey: 'alice' }), [200, true])

  await app.settings.set(flags.theme, 'dark', { userId: 'bob' })
  t.same(await ask('alice', first), [304, false], 'a value of another user')
  await app.settings.set(flags.theme, 'dark', { userId: 'alice' })
  t.same(await ask('alice', first), [200, true], 'an own value')
  const second = await tagOf('alice')
  await app.settings.set(flags.checkout, true)
  t.same(await ask('alice', second), [200, true], 'a shared value')
  await app.settings.reset(flags.checkout)
  t.same(await ask('alice', second), [304, false], 'the content is what it was')
})

test('a compressed bulk has a weak tag, which is compared all the same', async (t) => {
  const app = await createShop(t)
  const headers = { 'accept-encoding': 'gzip' }
  const { headers: sent } = await app.inject({
    method: 'POST',
    url: '/ofrep/v1/evaluate/flags',
    headers: { 'x-caller': 'alice', ...headers },
    payload: {},
  })
  t.match(sent, { 'content-encoding': 'gzip', etag: /^W\/"/, vary: /accept-encoding/i })
  const again = { ...headers, 'if-none-match': String(sent.etag) }
  t.equal((await evaluate(app, 'alice', undefined, {}, again)).status, 304)
})

test("what others have stored is in no body, header and line of the log of a user's requests", async (t) => {
  const lines: string[] = []
  const app = await createShop(t, { evaluateForOthers: 'Settings.Update', server: logInto(lines, 'trace') })
  const canary = 'canary-of-bob'
  await app.settings.set(flags.theme, canary, { userId: 'bob' })
  await app.settings.set(flags.layout, { [canary]: canary }, { userId: 'bob' })
  t.match((await evaluate(app, 'bob')).payload, canary)
  const bobs = String((await evaluate(app, 'bob')).headers.etag)
  lines.length = 0
  const contexts = [
    undefined,
    {},
    { targetingKey: 'alice' },
    { targetingKey: 'bob' },
    { targetingKey: 'bob ' },
  ]
  for (const caller of ['alice', 'admin', null] as const) {
    for (const key of ['shop.theme', 'shop.layout', 'shop.title', undefined]) {
      for (const context of [...contexts, { user: 'bob', userId: 'bob' }, { targetingKey: ['bob'] }]) {
        if (caller === 'admin' && context && 'targetingKey' in context && context.targetingKey === 'bob')
          continue
        const answer = await evaluate(app, caller, key, context, { 'if-none-match': bobs })
        t.notMatch(JSON.stringify([answer.headers, answer.payload]), canary)
        t.not(answer.headers.etag, bobs)
        t.not(answer.status, 304)
      }
    }
  }
  t.notMatch(lines.join(), canary)
})

const isSafe = (n: number): boolean => !Number.isInteger(n) || Number.isSafeInteger(n)
const storable: readonly (readonly [
  key: string,
  values: fc.Arbitrary<JsonValue>,
  place: { userId?: string },
])[] = [
  ['shop.checkout', fc.boolean(), {}],
  [
    'shop.limit',
    fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isSafe)),
    {},
  ],
  ['shop.theme', fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')), {}],
  ['shop.theme', fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')), { userId: 'alice' }],
  ['shop.layout', fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonValue>, {}],
  ['shop.layout', fc.array(fc.jsonValue()) as fc.Arbitrary<JsonValue>, { userId: 'alice' }],
]

for (const [key, values, place] of storable) {
  test(`what is read of ${key} is what was stored for ${place.userId ?? 'all'}: random values`, async (t) => {
    const app = await createShop(t)
    const reader = 'userId' in place ? 'alice' : 'bob'
    const runs = fc.asyncProperty(values, async (value) => {
      const refusal = await rejection(app.settings.set(key as string, value, place))
      fc.pre(refusal.status !== 422) // not a value that can be stored, such as one with a member __proto__
      t.equal(refusal.name, 'none')
      const one = (await evaluate(app, reader, key)).body.value
      const { flags: all } = (await evaluate(app, reader)).body
      const [{ value: inBulk }] = all.filter((each: { readonly key: string }) => each.key === key)
      const expected = JSON.stringify(value)
      return JSON.stringify(one) === expected && JSON.stringify(inBulk) === expected
    })
    await t.resolves(fc.assert(runs, { numRuns: 150 }))
  })
}

for (const [name, makeDatabase] of Object.entries(engines)) {
  test(`${name}: one instance evaluates what another one has stored, and hostile ids are refused`, async (t) => {
    const open = await makeDatabase(t)
    const create = () =>
      createShop(t, {
        evaluateForOthers: 'Settings.Update',
        settingsOptions: { definitions: [flags], store: open() },
      })
    const [here, there] = [await create(), await create()]
    const text = 'ä\u2028"\\\u{1f600}'
    await here.settings.set(flags.theme, text, { userId: 'alice' })
    await here.settings.set(flags.layout, [text, { [text]: null }])
    await there.settings.refresh()
    const { headers, body } = await evaluate(there, 'alice')
    t.match(body.flags, [
      { key: 'shop.checkout', value: false, reason: 'DEFAULT' },
      { key: 'shop.layout', value: [text, { [text]: null }], reason: 'STATIC' },
      { key: 'shop.limit' },
      { key: 'shop.theme', value: text, reason: 'TARGETING_MATCH' },
    ])
    const tag = { 'if-none-match': String(headers.etag) }
    t.equal(
      (await evaluate(here, 'alice', undefined, {}, tag)).status,
      304,
      'the tag is that of all instances',
    )
    await here.settings.set(flags.theme, 'dim', { userId: 'alice' })
    await there.settings.refresh()
    t.equal((await evaluate(there, 'alice', undefined, {}, tag)).status, 200)
    for (const targetingKey of ['\0', '\ud800', "'; drop table settings_value; --", '%', 'x'.repeat(255)]) {
      const { status } = await evaluate(there, 'editor', 'shop.theme', { targetingKey })
      t.equal(status, targetingKey.isWellFormed() && targetingKey !== '\0' ? 200 : 400)
    }
  })
}

test('flags need the settings of this package; ofrep needs them before it, and names an option that it cannot use', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(ofrep)
  await t.rejects(async () => app.ready(), /'settings'/)
  await t.rejects(createShop(t, { evaluateForOthers: '' }), {
    code: 'FMOD_CORE_INVALID_OPTION',
    message: /evaluateForOthers must be the name of a permission/,
  })
  const shop = await createShop(t)
  t.throws(() => openFeatureProvider({ settings: { ...shop.settings } }), {
    code: 'FMOD_CORE_INVALID_OPTION',
  })
})

test('a prefix stands before the paths of the protocol', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(settings, { definitions: [flags], findCaller: callerByHeader })
  app.register(ofrep, { findCaller: callerByHeader, prefix: '/shop' })
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/shop/ofrep/v1/evaluate/flags/shop.limit',
    headers: { 'x-caller': 'alice' },
    payload: {},
  })
  t.match([statusCode, JSON.parse(body)], [200, { value: 10 }])
})
