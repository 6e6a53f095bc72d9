import { defineModule, modules } from '@fastify-modular/core'
import fastify, { type FastifyInstance } from 'fastify'
import { type Test, test } from 'tap'
import {
  type JsonValue,
  setting,
  settings,
  type SettingsOptions,
  SettingScope,
} from '@fastify-modular/settings'

const { System, Application, User } = SettingScope

const mail = {
  user: setting.text('mail.user', { displayName: 'User', scope: System }),
  password: setting.password('mail.password', {
    displayName: 'Password',
    scope: System,
    sensitive: true,
  }),
}
const range = {
  from: setting.number('range.from', { displayName: 'From', scope: User, default: 1 }),
  to: setting.number('range.to', { displayName: 'To', scope: User, default: 10 }),
}
const module = defineModule({
  name: 'ranges',
  settings: (builder) =>
    builder
      .addAll(mail, range)
      .rule(mail, ({ user, password }) =>
        user !== null && password === null ? 'Enter a password too.' : undefined,
      )
      .rule(range, ({ from, to }) => (from > to ? ['Enter a range that ends after it begins.'] : undefined)),
})

async function start(t: Test, options: SettingsOptions = {}): Promise<FastifyInstance['settings']> {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(settings, options)
  await app.register(modules, { modules: [module] })
  await app.ready()
  return app.settings
}

const set = (key: string, value: JsonValue, scope: typeof System | typeof Application = Application) => ({
  key,
  scope,
  value,
})

test('a write that breaks a rule about several settings is refused at each of its keys', async (t) => {
  const { setMany, get } = await start(t)
  await t.rejects(setMany([set('range.from', 9), set('range.to', 3)]), {
    code: 'SETTING_VALIDATION',
    statusCode: 422,
    errorsByKey: {
      'range.from': ['Enter a range that ends after it begins.'],
      'range.to': ['Enter a range that ends after it begins.'],
    },
  })
  t.equal(get(range.from), 1)
  t.equal(get(range.to), 10)
})

test('a rule sees stored values and defaults beside the ones that are written', async (t) => {
  const { contract, setMany } = await start(t)
  await t.rejects(
    contract.setSetting('range.from', 11, Application),
    { errors: [/ends after/] },
    'the default of the other end',
  )
  await contract.setSetting('range.to', 20, Application)
  await contract.setSetting('range.from', 11, Application)
  await t.rejects(contract.setSetting('range.to', 10, Application), {
    code: 'SETTING_VALIDATION',
    errorsByKey: { 'range.to': [/ends after/] },
  })
  await setMany([set('range.from', 100), set('range.to', 200)])
})

test('settings that depend on each other change together in one bulk', async (t) => {
  const { contract, setMany, get } = await start(t)
  await t.rejects(contract.setSetting('mail.user', 'robot', System), {
    code: 'SETTING_VALIDATION',
    errorsByKey: { 'mail.user': ['Enter a password too.'] },
  })
  await setMany([set('mail.user', 'robot', System), set('mail.password', 's3cr3t', System)])
  t.equal(get(mail.user), 'robot')
  await t.rejects(contract.setSetting('mail.password', null, System), { errors: ['Enter a password too.'] })
})

test('resetting to the default is a change that rules check', async (t) => {
  const { setMany, contract, get } = await start(t)
  await setMany([set('range.from', 15), set('range.to', 20)])
  await t.rejects(contract.deleteSetting('range.to', Application), { errors: [/ends after/] })
  t.equal(get(range.to), 20)
  await contract.deleteSetting('range.from', Application)
  await contract.deleteSetting('range.to', Application)
})

test("a user's own value is checked together with what that user inherits, and with no other user's values", async (t) => {
  const { contract, forUser } = await start(t)
  await contract.setSetting('range.to', 50, User, 'alice')
  await contract.setSetting('range.from', 40, User, 'alice')
  await t.rejects(contract.setSetting('range.from', 40, User, 'bob'), { errors: [/ends after/] })
  await t.rejects(contract.setSetting('range.to', 39, User, 'alice'), { errors: [/ends after/] })
  t.equal((await forUser('alice')).get(range.from), 40)
  t.equal((await forUser('bob')).get(range.from), 1)
})

test('a locked value is the one that a rule sees', async (t) => {
  const { contract } = await start(t, { overrides: { 'range.to': 5 } })
  await t.rejects(contract.setSetting('range.from', 6, Application), { errors: [/ends after/] })
  await contract.setSetting('range.from', 5, Application)
})

test('of two writes at once that break a rule together, one is refused', async (t) => {
  const { contract, setMany, get } = await start(t)
  await setMany([set('range.from', 10), set('range.to', 20)])
  const results = await Promise.allSettled([
    contract.setSetting('range.from', 19, Application),
    contract.setSetting('range.to', 11, Application),
  ])
  t.same(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  t.ok(get(range.from) <= get(range.to))
})
