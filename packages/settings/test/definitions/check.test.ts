import fc from 'fast-check'
import { test } from 'tap'
import { Registry } from '#src/definitions/registry.js'
import { type SettingDefinition, SettingScope, SettingType } from '#src/setting-definition.js'
import { define } from '../registered.js'

function problemOf(definition: unknown): string {
  const registry = new Registry()
  registry.add(definition as SettingDefinition, 'test')
  try {
    registry.check()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test('decision 2: keys follow the grammar and have at most 100 characters', async (t) => {
  const good = [
    'a',
    'app.title',
    'app.camelCase',
    'a.b.c.d',
    'a-b.c_d',
    'a.1',
    'a.-',
    'a'.repeat(100),
    'smtp.host2',
  ]
  for (const key of good) t.equal(problemOf(define(SettingType.Text, { key })), '', key)
  const bad = [
    '',
    '.',
    'app.',
    '.app',
    'a..b',
    '1a',
    '_a',
    'INVALID KEY!',
    'a b',
    'a/b',
    'a%2eb',
    '../x',
    'a\n',
    'ü',
    'a.ü',
    '__proto__',
    'a'.repeat(101),
  ]
  for (const key of bad) t.match(problemOf(define(SettingType.Text, { key })), /key/, JSON.stringify(key))
})

test('decision 79: a pattern that is too large, or too large for its maxLength, is refused with what fits', async (t) => {
  const large = { pattern: '(?:abcdefghij){200}' }
  t.match(problemOf(define(SettingType.Text, large)), /the pattern compiles to \d{4} steps, more than 2000/)
  t.equal(problemOf(define(SettingType.Url, large)), '', 'which ignores it')
  const slug = { pattern: '^[a-z0-9-]{3,40}$' } // 81 steps
  t.match(
    problemOf(define(SettingType.Text, { ...slug, maxLength: 50_000 })),
    /the pattern takes too long on 50000 characters: use a maxLength of at most 49382/,
  )
  t.equal(problemOf(define(SettingType.Text, { ...slug, maxLength: 49_382 })), '')
  t.equal(problemOf(define(SettingType.Text, { maxLength: 1_000_000 })), '', 'without a pattern')
})

const refused: readonly (readonly [string, SettingType, Partial<SettingDefinition>, RegExp])[] = [
  [
    'an invalid pattern',
    SettingType.Text,
    { pattern: '[unclosed' },
    /the pattern is not a regular expression with the flag u/,
  ],
  [
    'a pattern that looks ahead',
    SettingType.Text,
    { pattern: '^(?=a)a+$' },
    /the pattern looks ahead or behind, .*: use maxLength/,
  ],
  [
    'a default that is longer than maxLength',
    SettingType.Text,
    { maxLength: 2, defaultValue: 'abc' },
    /2 char/,
  ],
  ['min above max', SettingType.Number, { min: 10, max: 5 }, /min 10 is greater than max 5/],
  [
    'a Select without allowedValues',
    SettingType.Select,
    { allowedValues: null },
    /Select needs allowedValues/,
  ],
  ['a Select with an empty list', SettingType.Select, { allowedValues: [] }, /Select needs allowedValues/],
  ['an empty allowed value', SettingType.Select, { allowedValues: ['a', ''] }, /strings that are not empty/],
  ['an allowed value twice', SettingType.Select, { allowedValues: ['a', 'a'] }, /twice/],
  ['public together with sensitive', SettingType.Text, { public: true, sensitive: true }, /cannot be public/],
  [
    'a flag that is sensitive',
    SettingType.Text,
    { flag: true, sensitive: true, defaultValue: 'a' },
    /sensitive setting cannot be a flag/,
  ],
  ['a flag without a default', SettingType.Bool, { flag: true, required: true }, /a flag always has a value/],
  ['a flag of null', SettingType.Json, { flag: true, defaultValue: ' null\n' }, /a flag always has a value/],
  [
    'a Number default that is not a number',
    SettingType.Number,
    { defaultValue: '' },
    /default breaks the definition: Write a number/,
  ],
  ['a Number default out of bounds', SettingType.Number, { min: 1, defaultValue: '0' }, /at least 1/],
  ['a Number default beyond all numbers', SettingType.Number, { defaultValue: '1e400' }, /Enter a number/],
  ['a Bool default that is not a boolean', SettingType.Bool, { defaultValue: 'yes' }, /true or false/],
  [
    'a default that its pattern refuses',
    SettingType.Text,
    { pattern: '^a', defaultValue: 'b' },
    /its default breaks the definition: .* format/,
  ],
  [
    'a required setting with an empty default',
    SettingType.Text,
    { required: true, defaultValue: ' ' },
    /required/,
  ],
  [
    'a default that its own rule refuses',
    SettingType.Text,
    { defaultValue: 'x', validate: () => 'Not x.' },
    /Not x\./,
  ],
]
for (const [what, type, members, message] of refused) {
  test(`decision 3: ${what} is refused at boot`, async (t) => {
    t.match(problemOf(define(type, members)), message)
  })
}

test('decision 3: what looks like a problem and is not boots', async (t) => {
  const fine: readonly (readonly [SettingType, Partial<SettingDefinition>])[] = [
    [SettingType.Text, { required: true }],
    [SettingType.Text, { defaultValue: '' }],
    [SettingType.Url, { defaultValue: '' }],
    [SettingType.Number, { min: 5, max: 5, defaultValue: '5' }],
    [SettingType.Number, { min: 0, max: null }],
    [SettingType.Json, { defaultValue: 'null' }],
    [SettingType.Text, { pattern: '^a+$', maxLength: 2, defaultValue: 'aa' }],
    [SettingType.Password, { sensitive: true, required: true }],
    [SettingType.Text, { public: true }],
  ]
  for (const [type, members] of fine) t.equal(problemOf(define(type, members)), '', JSON.stringify(members))
})

test('JavaScript modules get an error for a member of the wrong type', async (t) => {
  const base = define(SettingType.Text)
  const wrong: Record<string, unknown[]> = {
    displayName: [undefined, '', ' ', 5, null],
    scope: [undefined, 3, -1, '1', 'User', null, 0.5],
    type: [undefined, 11, -1, 'Text', null],
    description: [5, {}],
    group: [5],
    placeholder: [false],
    defaultValue: [587, true, {}],
    pattern: [/x/, 5],
    maxLength: ['5', 0, -1, 0.5, Number.NaN],
    min: ['1', Number.NaN, Infinity],
    max: ['1', Number.NaN],
    order: ['1', Number.NaN],
    required: ['false', 0],
    sensitive: ['no', 1],
    public: [1],
    allowedValues: ['a,b', {}, [1], [null]],
  }
  for (const [member, values] of Object.entries(wrong)) {
    for (const value of values)
      t.match(problemOf({ ...base, [member]: value }), member, `${member}: ${String(value)}`)
  }
  for (const nothing of [
    undefined,
    null,
    5,
    'app.title',
    Symbol('s'),
    { ...base, key: undefined },
    { ...base, key: 5 },
  ])
    t.match(problemOf(nothing), /not a setting definition/)
})

test('JavaScript modules get an error for a rule that is not a function', async (t) => {
  const base = define(SettingType.Text)
  for (const validate of [0, '', false, 'x', {}, []])
    t.match(problemOf({ ...base, validate }), /validate must be a function/, JSON.stringify(validate))
  for (const validate of [undefined, null]) t.equal(problemOf({ ...base, validate }), '')
})

test('a definition is read once: getters that change their answer change nothing', async (t) => {
  let reads = 0
  const declared = { ...define(SettingType.Text), sensitive: true }
  Object.defineProperty(declared, 'sensitive', { get: () => reads++ === 0 })
  const registry = new Registry()
  registry.add(declared, 'test')
  registry.check()
  t.equal(registry.getDefinition('test.key')?.sensitive, true)
  t.equal(reads, 1)
})

test('no definition makes the registry throw before check', async () => {
  const hostile = fc.record(
    Object.fromEntries(
      Object.keys({
        ...define(SettingType.Select),
        min: 1,
        max: 1,
        pattern: '',
        validate: 1,
        required: true,
      }).map((name) => [name, fc.anything()]),
    ),
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(hostile, (definition) => typeof problemOf(definition) === 'string'),
    { numRuns: 500 },
  )
})

test('no problem repeats a sensitive default', async (t) => {
  const problem = problemOf(
    define(SettingType.Password, { sensitive: true, defaultValue: 'hunter2', pattern: '^x' }),
  )
  t.match(problem, /a sensitive setting has no default: leave its default out/)
  t.notMatch(problem, 'hunter2')
  t.match(problemOf(define(SettingType.Password, { sensitive: true, defaultValue: '' })), /has no default/)
})

test('S 2.2, S 2.3: scopes and types are the integers of the specification', async (t) => {
  t.same(SettingScope, { System: 0, Application: 1, User: 2, Tenant: 3 })
  t.same(Object.values(SettingType), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

const withOptions = { allowedValues: null, options: [{ value: 'a', label: 'A' }] }
const misspelt: readonly (readonly [SettingType, object, string])[] = [
  [SettingType.Text, { sensitve: true }, 'unknown member sensitve (did you mean sensitive?)'],
  [SettingType.Text, { Required: true }, 'unknown member Required (did you mean required?)'],
  [
    SettingType.Select,
    {
      ...withOptions,
      options: [
        { value: 'a', label: 'A' },
        { value: 'b', label: 'B', descripton: 'b' },
      ],
    },
    'unknown member options.1.descripton (did you mean options.1.description?)',
  ],
  [
    SettingType.Text,
    { showWhen: { key: 'a.flag', equals: true, equal: false } },
    'unknown member showWhen.equal (did you mean showWhen.equals?)',
  ],
]
for (const [type, members, message] of misspelt) {
  test(`a misspelt member stops the boot, and is not ignored with its protection: ${message}`, async (t) => {
    t.match(problemOf(define(type, members)), `setting "test.key" (module "test"): ${message}`)
  })
}

test('an unknown member that is close to no member is refused with the names of all members', async (t) => {
  const message = problemOf({ ...define(SettingType.Text), default: 'x' })
  t.match(message, /unknown member default; expected one of key, displayName, .*defaultValue, .*validate$/m)
})

test('members of the JSON value of a condition are not members of a definition', async (t) => {
  const registry = new Registry()
  registry.add(define(SettingType.Json, { key: 'a.json' }), 'test')
  registry.add(define(SettingType.Text, { showWhen: { key: 'a.json', equals: { sensitve: 1 } } }), 'test')
  t.doesNotThrow(() => registry.check())
})

test('each member that definitions have is accepted, so that the list of names is complete', async (t) => {
  const registry = new Registry()
  registry.add(define(SettingType.Text, { validate: () => undefined }), 'test')
  registry.check()
  const [complete] = registry.getDefinitions()
  t.ok(complete)
  t.equal(problemOf(complete), '')
})

test('a flag has a default of any type, the text null and the empty text among them', async (t) => {
  for (const [type, defaultValue] of [
    [SettingType.Bool, 'false'],
    [SettingType.Number, '0'],
    [SettingType.Text, 'null'],
    [SettingType.Text, ''],
    [SettingType.Json, '[null]'],
  ] as const)
    t.equal(problemOf(define(type, { flag: true, defaultValue })), '')
})
