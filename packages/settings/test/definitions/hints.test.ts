import fc from 'fast-check'
import { test } from 'tap'
import { Registry } from '#src/definitions/registry.js'
import { setting } from '#src/definitions/tokens.js'
import { type SettingDefinition, SettingScope, SettingType } from '#src/setting-definition.js'
import { define, problemsOf, registered } from '../registered.js'

function registryOf(...definitions: readonly unknown[]): Registry {
  const registry = new Registry()
  for (const definition of definitions) registry.add(definition as SettingDefinition, 'test')
  return registry
}

function problemOf(...definitions: readonly unknown[]): string {
  try {
    registryOf(...definitions).check()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const options = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark', description: 'Easier at night' },
] as const
const theme = define(SettingType.Select, { key: 'app.theme', allowedValues: ['light', 'dark'], options })

test('S6: a definition without hints has their defaults', async (t) => {
  const { definition } = registered(SettingType.Text)
  const { unit, keywords, hidden, advanced, showWhen, confirm, restart, docsUrl } = definition
  const { options, patternHint } = definition
  t.same([options, unit, showWhen, confirm, docsUrl, patternHint], [null, null, null, null, null, null])
  t.same([keywords, hidden, advanced, restart], [[], false, false, false])
})

test('S6: the options of a Select are its allowed values, so that they need not be listed twice', async (t) => {
  const { options: shown, allowedValues } = registered(SettingType.Select, {
    allowedValues: null,
    options,
  }).definition
  t.same(allowedValues, ['light', 'dark'])
  t.same(shown, [{ ...options[0], description: null }, options[1]])
  t.ok(Object.isFrozen(shown) && Object.isFrozen(shown?.[0]) && Object.isFrozen(allowedValues))
})

test('S6: options need not stand in the order of the allowed values', async (t) => {
  t.equal(problemOf({ ...theme, options: options.toReversed() }), '')
})

test('S6: hints decide nothing about values', async (t) => {
  const members = { hidden: true, showWhen: { key: 'a.b', equals: true }, confirm: 'Really?', restart: true }
  const registry = registryOf(define(SettingType.Text, members), define(SettingType.Bool, { key: 'a.b' }))
  registry.check()
  const hinted = registry.find('test.key')
  t.same(hinted && problemsOf(hinted, 'x'), [])
})

const refused: readonly (readonly [string, Partial<Record<keyof SettingDefinition, unknown>>, RegExp])[] = [
  [
    'an option beside the allowed values',
    { options: [...options, { value: 'blue', label: 'Blue' }] },
    /each of the allowedValues once/,
  ],
  ['an allowed value without its option', { options: options.slice(1) }, /each of the allowedValues once/],
  ['options of a Text', { type: SettingType.Text }, /options belong to a Select/],
  ['an option twice', { options: [...options, options[0]] }, /each of the allowedValues once/],
  ['no options at all', { options: [] }, /options must be an array/],
  ['an option without a label', { options: [{ value: 'light' }, options[1]] }, /options must be an array/],
  ['an empty label', { options: [{ value: 'light', label: ' ' }, options[1]] }, /options must be an array/],
  ['an option that is a string', { options: ['light', 'dark'] }, /options must be an array/],
  ['options that are not an array', { options: 'light,dark' }, /options must be an array/],
  ['a unit that is not a string', { unit: 5 }, /unit must be a string of 1 to 30/],
  ['an empty unit', { unit: '' }, /unit must be a string of 1 to 30/],
  ['a long unit', { unit: 'x'.repeat(31) }, /unit must be a string of 1 to 30/],
  ['keywords that are a string', { keywords: 'mail' }, /keywords must be an array/],
  ['an empty keyword', { keywords: [' '] }, /keywords must be an array/],
  [
    'too many keywords',
    { keywords: Array.from({ length: 21 }, (_, index) => `k${index}`) },
    /keywords must be an array/,
  ],
  ['an empty hint', { patternHint: ' ' }, /patternHint must be a string/],
  ['hidden as a string', { hidden: 'yes' }, /hidden must be true or false/],
  ['advanced as a number', { advanced: 1 }, /advanced must be true or false/],
  ['restart as a string', { restart: 'yes' }, /restart must be true or false/],
  ['an empty confirmation', { confirm: ' ' }, /confirm must be a string/],
  ['a link over http', { docsUrl: 'http://example.com' }, /docsUrl must be an absolute https URL/],
  ['a link that is a script', { docsUrl: 'javascript:alert(1)' }, /docsUrl must be an absolute https URL/],
  ['a link without a host', { docsUrl: 'https://' }, /docsUrl must be an absolute https URL/],
  ['a relative link', { docsUrl: '/docs' }, /docsUrl must be an absolute https URL/],
  ['a condition without a value', { showWhen: { key: 'a.b' } }, /showWhen must be/],
  ['a condition that is a key', { showWhen: 'a.b' }, /showWhen must be/],
  ['a condition with a function', { showWhen: { key: 'a.b', equals: () => true } }, /showWhen must be/],
  ['a condition on itself', { showWhen: { key: 'app.theme', equals: 'dark' } }, /must name another setting/],
  [
    'a condition on an unknown setting',
    { showWhen: { key: 'no.such', equals: 1 } },
    /"no.such", which no module defines/,
  ],
  [
    'a condition on a secret',
    { showWhen: { key: 'a.secret', equals: 'x' } },
    /"a.secret", which is sensitive/,
  ],
  [
    'a condition that never holds',
    { showWhen: { key: 'a.flag', equals: 'yes' } },
    /"a.flag", and waits for a value that it never has/,
  ],
]
for (const [what, members, message] of refused) {
  test(`S6: ${what} is refused at boot`, async (t) => {
    const others = [
      define(SettingType.Bool, { key: 'a.flag' }),
      define(SettingType.Text, { key: 'a.secret', sensitive: true }),
    ]
    t.match(problemOf({ ...theme, ...members }, ...others), message)
  })
}

test('S6: a condition may name a setting that comes later, of any module', async (t) => {
  const shown = define(SettingType.Text, { showWhen: { key: 'z.last', equals: null } })
  t.equal(problemOf(shown, define(SettingType.Number, { key: 'z.last' })), '')
})

test('S6: later changes of a declaration have no effect', async (t) => {
  const equals = { deep: [1] }
  const showWhen = { key: 'a.json', equals }
  const keywords = ['mail']
  const registry = registryOf(
    define(SettingType.Text, { showWhen, keywords }),
    define(SettingType.Json, { key: 'a.json' }),
  )
  equals.deep.push(2)
  keywords.push('late')
  const definition = registry.getDefinition('test.key')
  t.same(definition?.showWhen, { key: 'a.json', equals: { deep: [1] } })
  t.same(definition?.keywords, ['mail'])
})

test('S6: tokens carry hints', async (t) => {
  const token = setting.select('a.b', {
    displayName: 'B',
    scope: SettingScope.User,
    options,
    default: 'dark',
  })
  t.equal(problemOf(token), '')
})

test('no hint makes the registry throw before check', async () => {
  const names = ['options', 'unit', 'keywords', 'hidden', 'advanced', 'showWhen', 'confirm', 'restart']
  names.push('docsUrl', 'patternHint', 'schema', 'flag')
  const hostile = fc.record(Object.fromEntries(names.map((name) => [name, fc.anything()])), {
    requiredKeys: [],
  })
  const nested = fc.record({
    options: fc.array(fc.oneof(fc.anything(), fc.record({ value: fc.anything(), label: fc.anything() }))),
    showWhen: fc.record({ key: fc.anything(), equals: fc.anything() }),
    keywords: fc.array(fc.anything()),
  })
  fc.assert(
    fc.property(fc.oneof(hostile, nested), (hints) => typeof problemOf({ ...theme, ...hints }) === 'string'),
    { numRuns: 500 },
  )
})
