import { test } from 'tap'
import { Registry } from '#src/definitions/registry.js'
import { SettingsBuilder } from '#src/definitions/builder.js'
import { type SettingDefinition, SettingScope, SettingType } from '#src/setting-definition.js'
import { define } from '../registered.js'

const text = (key: string, scope: SettingScope = SettingScope.Application): SettingDefinition =>
  define(SettingType.Text, { key, scope })

function filled(...definitions: readonly SettingDefinition[]): Registry {
  const registry = new Registry()
  new SettingsBuilder(registry, 'test').addAll(...definitions)
  registry.check()
  return registry
}

test('S 4.2: getDefinitions gives all in the order of registration, or those of one scope', async (t) => {
  const registry = filled(
    text('z.a', SettingScope.System),
    text('a.z'),
    text('m.m', SettingScope.User),
    text('b.b'),
  )
  const keys = (scope?: SettingScope): string[] => registry.getDefinitions(scope).map(({ key }) => key)
  t.same(keys(), ['z.a', 'a.z', 'm.m', 'b.b'])
  t.same(keys(SettingScope.System), ['z.a'])
  t.same(keys(SettingScope.Application), ['a.z', 'b.b'])
  t.same(keys(SettingScope.User), ['m.m'])
  t.same(new Registry().getDefinitions(SettingScope.System), [])
})

test('S 4.2: getDefinition gives one definition or null', async (t) => {
  const registry = filled(define(SettingType.Text, { key: 'smtp.host', displayName: 'SMTP Host' }))
  t.match(registry.getDefinition('smtp.host'), { displayName: 'SMTP Host' })
  for (const unknown of ['nonexistent', 'SMTP.HOST', '__proto__', 'toString', '']) {
    t.equal(registry.getDefinition(unknown), null, unknown)
    t.equal(registry.find(unknown), undefined, unknown)
  }
})

test('decision 1: required and sensitive are false and order is 0 unless said otherwise', async (t) => {
  t.same(filled(text('a.b')).getDefinition('a.b'), {
    key: 'a.b',
    displayName: 'Test',
    description: null,
    group: null,
    scope: 1,
    defaultValue: null,
    type: 0,
    allowedValues: null,
    min: null,
    max: null,
    pattern: null,
    maxLength: null,
    required: false,
    sensitive: false,
    order: 0,
    placeholder: null,
    public: false,
    env: null,
    writePermission: null,
    options: null,
    unit: null,
    keywords: [],
    hidden: false,
    advanced: false,
    showWhen: null,
    confirm: null,
    restart: false,
    docsUrl: null,
    patternHint: null,
    schema: null,
    flag: false,
  })
})

test('definitions are read-only at run time, also for the module that declared them', async (t) => {
  const allowedValues = ['a', 'b']
  const declared = { ...define(SettingType.Select, { key: 'a.b' }), allowedValues }
  const registry = filled(declared)
  declared.displayName = 'Changed'
  allowedValues.push('c')
  t.match(registry.getDefinition('a.b'), { displayName: 'Test', allowedValues: ['a', 'b'] })
  const returned = registry.getDefinition('a.b')
  t.throws(() => Object.assign(returned ?? {}, { sensitive: true }), TypeError)
  t.throws(() => Object.assign(returned?.allowedValues ?? [], ['c']), TypeError)
  ;(registry.getDefinitions() as unknown[]).length = 0
  ;(registry.all() as unknown[]).length = 0
  t.equal(registry.getDefinitions().length, 1)
  t.equal(registry.all().length, 1)
})

test('decision 4: defaults are decoded once, and deep-frozen', async (t) => {
  const registry = filled(
    define(SettingType.Number, { key: 'a.number', defaultValue: '587' }),
    define(SettingType.Json, { key: 'a.json', defaultValue: '{"a":[1]}' }),
    text('a.none'),
  )
  t.equal(registry.find('a.number')?.defaultValue, 587)
  t.same(registry.find('a.json')?.defaultValue, { a: [1] })
  t.throws(() => Object.assign(registry.find('a.json')?.defaultValue ?? {}, { a: 2 }), TypeError)
  t.equal(registry.find('a.none')?.defaultValue, null)
})

test('decision 3: the very same object may be added twice', async (t) => {
  const registry = new Registry()
  const shared = text('a.shared')
  registry.add(shared, 'first')
  registry.add(shared, 'second')
  registry.check()
  t.equal(registry.getDefinitions().length, 1)
  t.equal(registry.find('a.shared')?.module, 'first')
})

test('decision 3: one key defined by two modules is a boot error that names both', async (t) => {
  const registry = new Registry()
  registry.add(text('a.key'), 'first')
  registry.add(text('a.key'), 'second')
  t.throws(() => registry.check(), {
    code: 'FMOD_SETTINGS_INVALID_DEFINITIONS',
    message: /"a\.key" \(module "second"\).*"first"/,
  })
})

test('decision 2: keys that differ in case only are a boot error that names both', async (t) => {
  const registry = new Registry()
  registry.add(text('a.key'), 'first')
  registry.add(text('a.Key'), 'second')
  t.throws(() => registry.check(), {
    message: /"a\.Key" \(module "second"\).*"first" defines it as "a\.key"/,
  })
})

test('decision 3: the problems of all modules are in one error', async (t) => {
  const registry = new Registry()
  registry.add(text('good.one'), 'good')
  registry.reserve('/me/:key')
  registry.add(text('me'), 'first')
  registry.add(define(SettingType.Number, { key: 'n.n', min: 10, max: 5, defaultValue: '7' }), 'second')
  registry.add(define(SettingType.Email, { key: 'e.e', defaultValue: 'not-an-email' }), 'third')
  try {
    registry.check()
    t.fail('check accepted them')
  } catch (error) {
    const { message } = error as Error
    t.equal(message.split('\n').length, 5, 'a head, three problems and the address')
    for (const name of ['"me"', '"n.n"', '"e.e"', '"first"', '"second"', '"third"']) t.match(message, name)
    t.notMatch(message, 'good.one')
  }
  t.throws(
    () => registry.check(),
    { code: 'FMOD_SETTINGS_INVALID_DEFINITIONS' },
    'and again when asked again',
  )
})

test('decision 5: after freeze nothing is added', async (t) => {
  const registry = filled(text('a.b'))
  registry.freeze()
  t.throws(() => new SettingsBuilder(registry, 'late').add(text('late.one')), {
    code: 'FMOD_CORE_ADDED_LATE',
    message: /"late\.one"/,
  })
  t.equal(registry.getDefinition('late.one'), null)
})

test('the closest key is found for a mistyped one, and none for a foreign one', async (t) => {
  const registry = filled(text('mail.port'), text('mail.host'), text('app.title'))
  t.equal(registry.closest('mail.prot'), 'mail.port')
  t.equal(registry.closest('Mail.Host'), 'mail.host')
  t.equal(registry.closest('app.titel'), 'app.title')
  t.equal(registry.closest('billing.currency'), undefined)
  t.equal(registry.closest(''), undefined)
  t.equal(registry.closest('x'.repeat(1_000_000)), undefined)
})

test('what is probably not meant is a warning, not an error', async (t) => {
  const registry = filled(
    text('a.camelCase'),
    define(SettingType.Url, { key: 'a.url', pattern: '[never compiled' }),
    define(SettingType.Text, { key: 'a.text', min: 1, max: 2, allowedValues: ['x'] }),
  )
  const warnings = registry.warnings().join('\n')
  for (const part of [
    '"a.camelCase"',
    'lower case',
    '"a.url" (module "test"): pattern',
    'allowedValues',
    'min',
    'max',
  ])
    t.ok(warnings.includes(part), part)
  t.same(filled(text('a.fine')).warnings(), [])
})
