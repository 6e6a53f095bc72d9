import { test } from 'tap'
import { Registry } from '#src/definitions/registry.js'
import { setting } from '#src/definitions/tokens.js'
import { SettingScope, SettingType } from '#src/setting-definition.js'
import { problemsOf } from '../registered.js'

const common = { displayName: 'Test', scope: SettingScope.Application } as const

test('a token is a definition: plain data with the raw default', async (t) => {
  const port = setting.number('mail.port', {
    displayName: 'SMTP port',
    scope: SettingScope.System,
    default: 587,
    min: 1,
    max: 65535,
  })
  t.same(port, {
    key: 'mail.port',
    displayName: 'SMTP port',
    scope: 0,
    type: SettingType.Number,
    defaultValue: '587',
    min: 1,
    max: 65535,
  })
  t.ok(Object.isFrozen(port))
})

test('decision 4: a typed default is the raw one, for every type', async (t) => {
  const rows = [
    [setting.text('a.a', { ...common, default: '5' }), SettingType.Text, '5'],
    [setting.number('a.a', { ...common, default: 0 }), SettingType.Number, '0'],
    [setting.bool('a.a', { ...common, default: false }), SettingType.Bool, 'false'],
    [setting.json('a.a', { ...common, default: { a: [1] } }), SettingType.Json, '{"a":[1]}'],
    [setting.json('a.a', { ...common, default: 'text' }), SettingType.Json, '"text"'],
    [setting.json<{ a: number }>()('a.a', { ...common, default: { a: 1 } }), SettingType.Json, '{"a":1}'],
    [setting.select('a.a', { ...common, allowedValues: ['x', 'y'], default: 'x' }), SettingType.Select, 'x'],
    [setting.color('a.a', { ...common, default: '#000000' }), SettingType.Color, '#000000'],
    [
      setting.url('a.a', { ...common, default: 'https://example.com' }),
      SettingType.Url,
      'https://example.com',
    ],
    [setting.email('a.a', { ...common, default: 'a@example.com' }), SettingType.Email, 'a@example.com'],
    [setting.password('a.a', { ...common, default: 'secret' }), SettingType.Password, 'secret'],
    [setting.multilineText('a.a', { ...common, default: 'a\nb' }), SettingType.MultilineText, 'a\nb'],
    [
      setting.dateTime('a.a', { ...common, default: '2025-01-31T14:30' }),
      SettingType.DateTime,
      '2025-01-31T14:30',
    ],
    [setting.text('a.a', common), SettingType.Text, null],
    [setting.text('a.a', { ...common, default: null }), SettingType.Text, null],
    [setting.text('a.a', { ...common, default: '' }), SettingType.Text, ''],
  ] as const
  for (const [token, type, raw] of rows) {
    t.equal(token.type, type)
    t.equal(token.defaultValue, raw)
    t.notOk('default' in token)
  }
})

test('a typed default that JSON cannot carry is a boot error, not another value', async (t) => {
  for (const token of [
    setting.number('a.a', { ...common, default: Number.NaN }),
    setting.number('a.a', { ...common, default: Infinity }),
  ]) {
    const registry = new Registry()
    registry.add(token, 'test')
    t.throws(() => registry.check(), { code: 'FMOD_SETTINGS_INVALID_DEFINITIONS' })
  }
})

test('the rule of a token is asked with the type of its values', async (t) => {
  const registry = new Registry()
  registry.add(
    setting.select('a.a', {
      ...common,
      allowedValues: ['on', 'off', 'auto'],
      validate: (value) => (value === 'auto' ? 'Automatic is not available here.' : undefined),
    }),
    'test',
  )
  const registered = registry.find('a.a')
  t.ok(registered)
  if (registered) t.same(problemsOf(registered, 'auto'), ['Automatic is not available here.'])
})

test('a raw default that JavaScript passes to a token is its default, or a boot error, and never lost', async (t) => {
  const raw = { ...common, defaultValue: '587' }
  t.equal(setting.number('a.a', raw).defaultValue, '587')
  t.equal(setting.number('a.a', { ...raw, default: 25 }).defaultValue, '25')
  const registry = new Registry()
  registry.add(setting.number('a.a', { ...common, ...JSON.parse('{"defaultValue":587}') }), 'test')
  t.throws(() => registry.check(), { message: /defaultValue must be its raw text/ })
})
