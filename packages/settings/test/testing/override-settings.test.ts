import { test } from 'tap'
import { setting, SettingScope } from '@fastify-modular/settings'
import { overrideSettings } from '@fastify-modular/settings/testing'
import { as, createApp, definitions, rejection } from '../support/app.ts'

const { System, User } = SettingScope

test('S8: an override holds for every reader until its block ends', async (t) => {
  const app = await createApp(t)
  await app.settings.contract.setSetting('mail.port', 25, System)
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  {
    using _ = overrideSettings(app, { 'mail.port': 2525, 'app.theme': 'system' })
    t.equal(app.settings.get(definitions.port), 2525)
    t.equal((await app.settings.forUser('alice')).get(definitions.theme), 'system')
    t.equal(await app.settings.contract.resolveUserSettingElement('app.theme', 'bob'), 'system')
    t.match((await as(app, 'admin')('GET', '/mail.port?scope=0')).json, { value: 2525, source: 'locked' })
    t.equal(await app.settings.contract.getSetting('mail.port', System), '25', 'nothing is stored')
  }
  t.equal(app.settings.get(definitions.port), 25)
  t.equal((await app.settings.forUser('alice')).get(definitions.theme), 'dark')
})

test('S8: overrides lie upon each other and end in any order', async (t) => {
  const app = await createApp(t)
  const port = () => app.settings.get(definitions.port)
  const first = overrideSettings(app, { 'mail.port': 1, 'app.title': 'First' })
  const second = overrideSettings(app, { 'mail.port': 2 })
  const third = overrideSettings(app, { 'mail.port': 3 })
  t.equal(port(), 3)
  second[Symbol.dispose]()
  t.equal(port(), 3)
  third[Symbol.dispose]()
  t.equal(port(), 1)
  third[Symbol.dispose]()
  t.equal(port(), 1, 'twice is once')
  t.equal(app.settings.get(definitions.title), 'First')
  first[Symbol.dispose]()
  t.equal(port(), 587)
  t.equal(app.settings.get(definitions.title), 'Fastify Modular')
})

test("S8: an override lies above the host's own, which comes back", async (t) => {
  const app = await createApp(t, { overrides: { 'mail.port': 2525 } })
  {
    using _ = overrideSettings(app, { 'mail.port': 1 })
    t.equal(app.settings.get(definitions.port), 1)
  }
  t.equal(app.settings.get(definitions.port), 2525)
})

test('S8: listeners are notified of an override and of its end', async (t) => {
  const app = await createApp(t)
  const received: number[] = []
  app.settings.on(definitions.port, (port) => void received.push(port))
  overrideSettings(app, { 'mail.port': 1 })[Symbol.dispose]()
  t.same(received, [1, 587])
})

test('S8: writes of an overridden setting are refused, and no tag hides an override', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  const tag = String((await admin('GET', '')).headers.etag)
  const override = overrideSettings(app, { 'mail.port': 1 })
  t.match(await rejection(app.settings.contract.setSetting('mail.port', 2, System)), { status: 409 })
  t.equal((await admin('GET', '', undefined, { 'if-none-match': tag })).status, 200)
  override[Symbol.dispose]()
  t.equal((await admin('GET', '', undefined, { 'if-none-match': tag })).status, 304)
})

test('S8: null takes a value away; what does not fit is refused with all problems and no value', async (t) => {
  const app = await createApp(t)
  using _ = overrideSettings(app, { 'app.support_email': null })
  t.equal(app.settings.get(definitions.email), null)
  const anyKey: string = definitions.port.key
  const values = { 'no.such': 1, 'app.title': null, [anyKey]: 'hunter2' }
  const override = () => overrideSettings(app, values)
  t.throws(override, {
    code: 'FMOD_SETTINGS_CANNOT_OVERRIDE',
    message: /^(?!.*hunter2).*"no.such".*"app.title".*"mail.port"/,
  })
  t.equal(app.settings.get(definitions.title), 'Fastify Modular', 'none of them holds')
  // @ts-expect-error -- a required text is never null
  t.throws(() => overrideSettings(app, { 'app.title': null }), { code: 'FMOD_SETTINGS_CANNOT_OVERRIDE' })
})

test('S8: an override is a copy, frozen like every value', async (t) => {
  const app = await createApp(t)
  const value = { beta: [1] }
  using _ = overrideSettings(app, { 'app.feature_json': value })
  value.beta.push(2)
  t.same(app.settings.get(definitions.features), { beta: [1] })
  t.ok(Object.isFrozen(app.settings.get(definitions.features)))
})

test('S8: settings that this package did not make cannot be overridden', async (t) => {
  const app = await createApp(t)
  const wrapped = { settings: { ...app.settings } as typeof app.settings }
  t.throws(() => overrideSettings(wrapped, { 'mail.port': 1 }), { code: 'FMOD_SETTINGS_CANNOT_OVERRIDE' })
})

test('S8: settings that are not in SettingKeyMap are overridden by the key of their token', async (t) => {
  const own = {
    retries: setting.number('own.retries', { displayName: 'Retries', scope: System, default: 3 }),
  }
  const app = await createApp(t, { definitions: [own] })
  using _ = overrideSettings(app, { [own.retries.key]: 5 })
  t.equal(app.settings.get(own.retries), 5)
})
