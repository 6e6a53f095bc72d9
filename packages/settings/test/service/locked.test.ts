import { test } from 'tap'
import { memoryStore, readEnvironment, SettingScope } from '@fastify-modular/settings'
import { as, createApp, definitions, rejection } from '../support/app.ts'

const { System } = SettingScope

test('locked values win over everything, are shown as locked and cannot be written', async (t) => {
  const store = memoryStore()
  const before = await createApp(t, { store })
  await before.settings.contract.setSetting('mail.port', 25, System)
  await before.settings.contract.setSetting('app.theme', 'dark', SettingScope.User, 'alice')

  const app = await createApp(t, {
    store,
    overrides: { 'mail.port': 2525, 'app.theme': 'system', 'mail.password': 'hunter2' },
    selfService: true,
  })
  t.equal(app.settings.get(definitions.port), 2525)
  t.equal((await app.settings.forUser('alice')).get(definitions.theme), 'system')
  t.equal(await app.settings.contract.resolveUserSettingElement('app.theme', 'alice'), 'system')
  const admin = as(app, 'admin')
  t.match((await admin('GET', '/mail.port?scope=0')).json, {
    value: 2525,
    source: 'locked',
    locked: true,
    isOverridden: true,
  })
  t.match((await as(app, 'alice')('GET', '/me')).json[1], {
    key: 'app.theme',
    value: 'system',
    source: 'locked',
    locked: true,
  })
  t.match((await admin('GET', '/mail.password?scope=0')).json, { value: null, source: 'locked' })
  for (const write of [
    admin('PUT', '', { key: 'mail.port', scope: 0, value: 1 }),
    admin('DELETE', '/mail.port?scope=0'),
    admin('PUT', '/bulk', [
      { key: 'app.title', scope: 1, value: 'x' },
      { key: 'mail.port', scope: 0, value: 1 },
    ]),
  ]) {
    t.match(await write, { status: 409, json: { code: 'CONFLICT', locked: ['mail.port'] } })
  }
  t.equal((await as(app, 'alice')('PUT', '/me', { key: 'app.theme', value: 'dark' })).status, 409)
  t.match(await rejection(app.settings.contract.setSetting('mail.port', 1, System)), {
    name: 'SettingLockedException',
    status: 409,
  })
  t.equal(await app.settings.contract.getSetting('mail.port', System), '25', 'the stored value stays beneath')
})

test('overrides come from SM_SETTINGS_OVERRIDES too, which wins', async (t) => {
  process.env.SM_SETTINGS_OVERRIDES = '{"mail.port":2600}'
  t.teardown(() => delete process.env.SM_SETTINGS_OVERRIDES)
  const app = await createApp(t, { overrides: { 'mail.port': 2525, 'app.title': 'Fixed' } })
  t.equal(app.settings.get(definitions.port), 2600)
  t.equal(app.settings.get(definitions.title), 'Fixed')
  const inspected = await as(app, 'admin')('GET', '/mail.port/inspect')
  t.equal(inspected.json.lockedBy, 'environment', 'inspect names the place that fixes it')
  t.match(await app.settings.inspect('app.title'), { lockedBy: 'option' })
  t.match(await app.settings.inspect('app.theme'), { lockedBy: null })
  for (const [key, scope, lockedBy] of [
    ['mail.port', 0, 'environment'],
    ['app.title', 1, 'option'],
    ['app.banner', 1, null],
  ] as const)
    t.match((await as(app, 'alice')('GET', `/${key}?scope=${scope}`)).json, {
      lockedBy,
      locked: lockedBy !== null,
    })
})

for (const text of [
  '{a.b=1}',
  '{broken hunter2',
  '{"a":"hunter2"',
  '{"a":1,}',
  '{"a":"hunter2"}}',
  'hunter2',
]) {
  test(`SM_SETTINGS_OVERRIDES that is not JSON stops the boot and is not quoted: ${text}`, async (t) => {
    process.env.SM_SETTINGS_OVERRIDES = text
    t.teardown(() => delete process.env.SM_SETTINGS_OVERRIDES)
    const { error } = await rejection(createApp(t))
    const message = /^(?!.*hunter2).*it is not valid JSON(?: at position \d+)?\./
    t.match(error, { code: 'FMOD_CORE_INVALID_OPTION', message })
  })
}

test('SM_SETTINGS_OVERRIDES is one object', async (t) => {
  t.teardown(() => delete process.env.SM_SETTINGS_OVERRIDES)
  for (const text of ['[1]', 'null']) {
    process.env.SM_SETTINGS_OVERRIDES = text
    const { error } = await rejection(createApp(t))
    t.match(error, { code: 'FMOD_CORE_INVALID_OPTION', message: /SM_SETTINGS_OVERRIDES/ }, text)
  }
})

test('overrides that do not fit stop the boot with all problems and no value', async (t) => {
  const overrides = { 'mail.port': 'hunter2', 'no.such': 1, 'app.title': null }
  const { error } = await rejection(createApp(t, { overrides }))
  t.match(error, {
    code: 'FMOD_SETTINGS_INVALID_OVERRIDES',
    message: /^(?!.*hunter2)[^]*mail\.port[^]*no\.such[^]*app\.title/,
  })
})

const deepText = '['.repeat(30_000) + ']'.repeat(30_000)
const circular: { self?: object } = {}
circular.self = circular

for (const [name, value, problem] of [
  ['nested too deep to be frozen', JSON.parse(deepText), /nested at most 32 levels deep/],
  ['part of itself', circular, /nested at most 32 levels deep/],
  ['a function', () => 'hunter2', /Enter a JSON value/],
  ['a symbol', Symbol('hunter2'), /Enter a JSON value/],
  ['undefined', undefined, /Enter a JSON value/],
] as const)
  test(`an override that is ${name} is a problem like any other`, async (t) => {
    const overrides = { 'app.feature_json': value as never, 'mail.port': 'x' }
    const { error } = await rejection(createApp(t, { overrides }))
    t.match(error, { code: 'FMOD_SETTINGS_INVALID_OVERRIDES', message: problem })
    t.match(error, { message: /^(?!.*hunter2)[^]*app\.feature_json[^]*mail\.port/ })
  })

test('SM_SETTINGS_OVERRIDES that is nested too deep is a problem like any other', async (t) => {
  process.env.SM_SETTINGS_OVERRIDES = `{"app.feature_json":${deepText},"no.such":${deepText}}`
  t.teardown(() => delete process.env.SM_SETTINGS_OVERRIDES)
  const { error } = await rejection(createApp(t))
  const code = 'FMOD_SETTINGS_INVALID_OVERRIDES'
  t.match(error, { code, message: /app\.feature_json.*nested at most 32 levels deep[^]*no\.such/ })
  t.throws(() => readEnvironment(definitions), { code })
  t.same(readEnvironment({ port: definitions.port }), { port: 587 }, 'keys of others are not looked at')
})

test('what the host fixes is a copy that nobody can change', async (t) => {
  const features = { beta: [true] }
  const app = await createApp(t, { overrides: { 'app.feature_json': features } })
  features.beta.push(false)
  t.same(app.settings.get(definitions.features), { beta: [true] })
  t.ok(Object.isFrozen(Object(app.settings.get(definitions.features)).beta))
})
