import { defineModule, type Module, modules as mountModules } from '@fastify-modular/core'
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { type Test, test } from 'tap'
import {
  type JsonValue,
  memoryStore,
  setting,
  settings,
  type SettingsOptions,
  SettingScope,
} from '@fastify-modular/settings'
import { logInto, rejection } from '../support/app.ts'

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

async function start(
  t: Test,
  options: SettingsOptions = {},
  modules: readonly Module[] = [module],
  server: FastifyServerOptions = {},
): Promise<FastifyInstance['settings']> {
  const app = fastify(server)
  t.teardown(() => app.close())
  await app.register(settings, options)
  await app.register(mountModules, { modules })
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

const limits = {
  min: setting.number('r.min', { displayName: 'Min', scope: Application, default: 1, env: 'T_RULE_MIN' }),
  max: setting.number('r.max', { displayName: 'Max', scope: Application, default: 10 }),
}
const limited = defineModule({
  name: 'limits',
  settings: (builder) =>
    builder
      .addAll(limits)
      .rule(limits, ({ min, max }) => (min > max ? `${min} must not exceed ${max}.` : undefined)),
})
const failing = defineModule({
  name: 'failing',
  settings: (builder) =>
    builder.addAll(mail).rule(mail, () => {
      throw new Error('The rule fails.')
    }),
})
const broken = defineModule({
  name: 'broken',
  settings: (builder) => builder.addAll(range).rule(range, () => 'Enter other values.'),
})

const faults: [
  what: string,
  Module[],
  SettingsOptions,
  Record<string, string>,
  code: string,
  message: RegExp,
][] = [
  [
    'a variable and a default',
    [limited],
    {},
    { T_RULE_MIN: '50' },
    'FMOD_SETTINGS_INVALID_ENVIRONMENT',
    /"r\.min" \(T_RULE_MIN\), "r\.max" \(default\) break a rule of the module "limits"/,
  ],
  [
    'overrides',
    [limited],
    { overrides: { 'r.min': 60, 'r.max': 50 } },
    {},
    'FMOD_SETTINGS_INVALID_OVERRIDES',
    /"r\.min" \(override\), "r\.max" \(override\) break/,
  ],
  [
    'defaults',
    [broken, failing],
    {},
    {},
    'FMOD_SETTINGS_INVALID_DEFINITIONS',
    /module "broken"\n.*"mail\.user" \(default\), .* module "failing"/,
  ],
]
for (const [what, modules, options, variables, code, message] of faults)
  test(`a rule that ${what} break stops the boot with the keys of each, and no value`, async (t) => {
    Object.assign(process.env, variables)
    t.teardown(() => Object.keys(variables).forEach((name) => delete process.env[name]))
    const { error } = await rejection(start(t, options, modules))
    t.match(error, { code, message })
    t.notMatch(String(error), /50|must not exceed|The rule fails/)
  })

test('a rule that a stored value breaks is a warning with its keys', async (t) => {
  const store = memoryStore()
  const before = await start(t, { store })
  await before.set(range.to, 5)
  const lines: string[] = []
  const locked = { store, overrides: { 'range.from': 6 } }
  const later = await start(t, locked, [module], logInto(lines))
  t.match(
    lines.filter((line) => line.includes('rule')),
    [/"keys":\["range.from","range.to"\]/],
  )
  t.equal(lines.filter((line) => line.includes('rule')).length, 1)

  await later.reset(range.to, { userId: 'alice' }) // nothing is stored
  await later.set(range.to, 5)
  await later.setMany([set('range.to', 5)])
  await t.rejects(later.set(range.to, 4), { errors: [/ends after/] })
  await t.rejects(later.setMany([set('range.to', 4)]), { errors: [/ends after/] })
  await later.set(range.to, 6)
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
