import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { Registry } from '#src/definitions/registry.js'
import { type SettingDefinition, SettingType } from '#src/setting-definition.js'
import { valueSchema } from '#src/values/value-schema.js'
import { define, problemsOf, registered } from '../registered.js'

const { Json, Text } = SettingType

const links = Type.Array(
  Type.Object(
    {
      label: Type.String({ title: 'Label', minLength: 1, maxLength: 20 }),
      port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
      kind: Type.Optional(Type.Union([Type.Literal('page'), Type.Literal('mail')])),
    },
    { additionalProperties: false },
  ),
  { maxItems: 3 },
)

function bootErrorOf(definition: SettingDefinition): string {
  const registry = new Registry()
  registry.add(definition, 'test')
  try {
    registry.check()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const refused: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['another type', { label: 'x' }, ['Enter a list.']],
  ['an item of another type', ['x'], ['/0: Enter an object.']],
  ['a missing member', [{}], ['/0/label: A value is required.']],
  ['an empty text', [{ label: '' }], ['/0/label: A value is required.']],
  ['a long text', [{ label: 'x'.repeat(21) }], ['/0/label: Enter at most 20 characters.']],
  ['text for a number', [{ label: 'x', port: '80' }], ['/0/port: Enter a whole number.']],
  ['a fraction', [{ label: 'x', port: 0.5 }], ['/0/port: Enter a whole number.']],
  ['a number out of bounds', [{ label: 'x', port: 0 }], ['/0/port: Enter a number of at least 1.']],
  ['another choice', [{ label: 'x', kind: 'fax' }], ['/0/kind: Enter one of: page, mail.']],
  [
    'an unknown member',
    [{ label: 'x', 'a/b': 1 }],
    ['/0/a~1b: Remove this property; it is not allowed here.'],
  ],
  ['too many items', Array.from({ length: 4 }, () => ({ label: 'x' })), ['Enter at most 3 items.']],
  [
    'several wrong parts',
    [{ label: '' }, { label: 'x' }, { label: 'y', port: -1 }],
    ['/0/label: A value is required.', '/2/port: Enter a number of at least 1.'],
  ],
]
for (const [name, value, problems] of refused) {
  test(`decision 73: a schema refuses ${name}, and says where`, async (t) => {
    t.same(problemsOf(registered(Json, { schema: links }), value), problems)
  })
}

test('decision 73: what fits the schema is accepted, and null clears', async (t) => {
  const setting = registered(Json, { schema: links })
  for (const value of [[], [{ label: 'a' }, { label: 'b', port: 80, kind: 'mail' }], null])
    t.same(problemsOf(setting, value), [])
})

test('a value with thousands of problems has twenty of them listed', async (t) => {
  const setting = registered(Json, { schema: Type.Array(Type.Integer()) })
  t.equal(
    problemsOf(
      setting,
      Array.from({ length: 5000 }, () => 'x'),
    ).length,
    20,
  )
})

test('a deeper schema is checked to its end', async (t) => {
  const tree = Type.Object({ routes: Type.Array(Type.Object({ hops: Type.Array(Type.Integer()) })) })
  const setting = registered(Json, { schema: tree })
  t.same(problemsOf(setting, { routes: [{ hops: [1] }, { hops: [1, 'x'] }] }), [
    '/routes/1/hops/1: Enter a whole number.',
  ])
})

test('a rule of the developer sees only what fits the schema', async (t) => {
  const seen: unknown[] = []
  const setting = registered(Json, { schema: links, validate: (value) => void seen.push(value) })
  problemsOf(setting, 'x')
  problemsOf(setting, [])
  t.same(seen, [[]])
})

test('clients get the schema as plain JSON, and what it was made of may change', async (t) => {
  const schema = Type.Array(Type.String({ maxLength: 5 }))
  const setting = registered(Json, { schema })
  t.same(valueSchema(setting.definition), {
    anyOf: [{ type: 'array', items: { type: 'string', maxLength: 5 } }, { type: 'null' }],
  })
  schema.items.maxLength = 1
  t.same(problemsOf(setting, ['four']), [])
  t.match(setting.definition.schema, { items: { maxLength: 5 } })
})

const unusable: readonly (readonly [string, unknown, RegExp])[] = [
  ['a number', 0, /schema must be a JSON Schema/],
  ['a part that is none', { type: 'array', items: 'text' }, /the schema cannot be used: /],
  ['a kind that JSON lacks', Type.Date(), /the schema cannot be used: schema is invalid: data\/type/],
  [
    'a pattern',
    Type.Array(Type.String({ pattern: '^a' })),
    /schema\.items has the keyword pattern, which takes too long on some values: check it in validate/,
  ],
  [
    'a pattern below a union, a definition and a name',
    { anyOf: [{ type: 'null' }, { properties: { pattern: { not: { pattern: '(a+)+$' } } } }] },
    /schema\.anyOf\.1\.properties\.pattern\.not has the keyword pattern/,
  ],
  ['a misspelt keyword', Type.Array(Type.String(), { maxItem: 5 }), /unknown keyword: "maxItem"/],
  ['an unknown format', Type.String({ format: 'no-such' }), /unknown format "no-such"/],
  ['a record', Type.Record(Type.String(), Type.String()), /schema has the keyword patternProperties/],
  [
    'items to compare without end',
    Type.Array(Type.Unknown(), { uniqueItems: true }),
    /add a maxItems of at most 1000/,
  ],
  ['a reference to nothing', { $ref: '#/definitions/no' }, /can't resolve reference/],
]
for (const [name, schema, message] of unusable) {
  test(`a schema that is or has ${name} stops the boot`, async (t) => {
    t.match(bootErrorOf({ ...define(Json), schema } as SettingDefinition), message)
  })
}

test('a schema of a setting that is no Json, and a default that breaks it, stop the boot', async (t) => {
  t.match(
    bootErrorOf(define(Text, { schema: Type.String() })),
    /the schema cannot be used: it belongs to a Json/,
  )
  t.match(
    bootErrorOf(define(Json, { schema: links, defaultValue: '[{"label":""}]' })),
    /its default breaks the definition: \/0\/label: A value is required\./,
  )
})

test('decision 91: any JSON Schema that Ajv reads is one, also without TypeBox', async (t) => {
  const setting = registered(Json, {
    schema: {
      type: 'object',
      definitions: { host: { type: 'string', format: 'hostname', examples: [{ pattern: 'an example' }] } },
      properties: {
        host: { $ref: '#/definitions/host' },
        level: { enum: ['low', 'high'] },
        pattern: { type: 'string' },
        ports: { type: 'array', items: { type: 'integer' }, uniqueItems: true, maxItems: 10 },
        either: {
          oneOf: [
            { type: 'object', required: ['a'] },
            { type: 'object', required: ['b'] },
          ],
        },
      },
      if: { properties: { level: { const: 'high' } } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['host'] },
    },
  })
  for (const value of [
    { level: 'low' },
    { host: 'example.com', level: 'high', pattern: '^a', either: { a: 1 } },
  ])
    t.same(problemsOf(setting, value), [], JSON.stringify(value))
  t.same(problemsOf(setting, { host: 'a b', level: 'mid', ports: [1, 1], either: {} }).toSorted(), [
    '/either: Enter a value of one of the types that are allowed here.',
    '/host: Enter text in the format hostname.',
    '/level: Enter one of: low, high.',
    '/ports: Enter each item once.',
  ])
  t.match(problemsOf(setting, { level: 'high' }), [/^\/host: A value is required\.$/, /.*/])
})

test('a check changes no value, and no message has one', async (t) => {
  const schema = Type.Object(
    { port: Type.Integer({ default: 25 }), on: Type.Boolean() },
    { additionalProperties: false },
  )
  const value = { on: 'hunter2', hunter3: 1 }
  const problems = problemsOf(registered(Json, { schema }), value)
  t.same(problems.toSorted(), [
    '/hunter3: Remove this property; it is not allowed here.',
    '/on: Enter a boolean: true or false.',
    '/port: A value is required.',
  ])
  t.same(value, { on: 'hunter2', hunter3: 1 })
})
