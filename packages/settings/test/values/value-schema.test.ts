import fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { type SettingDefinition, SettingType } from '#src/setting-definition.js'
import { valueSchema } from '#src/values/value-schema.js'
import { allTypes, problemsOf, registered } from '../registered.js'

const texts =
  '| |text|compact|1234|#3b82f6|#FFF|https://example.com|HTTP://bücher.example/ü|user@example.com|info@bücher.example|2025-01-31T14:30:00Z|2025-02-30T14:30|a-b|😀'
const samples: readonly unknown[] = [
  ...texts.split('|'),
  'x'.repeat(300),
  0,
  4,
  5,
  7.5,
  10,
  11,
  true,
  false,
  null,
  [],
  {},
  { a: [1, null] },
]

/** Validates with a real JSON Schema validator, the one of Fastify. */
async function validator(
  app: FastifyInstance,
  definition: SettingDefinition,
): Promise<(value: unknown) => boolean> {
  const { definition: complete } = registered(definition.type, definition)
  let check: ((value: unknown) => boolean) | undefined
  await app.register(async (scope) => {
    scope.get('/', (request) => {
      const compiled = request.compileValidationSchema({ ...valueSchema(complete) })
      check = (value) => compiled(value) === true
      return {}
    })
  })
  const answer = await app.inject('/')
  if (!check) throw new Error(answer.body)
  return check
}

const variants: readonly (readonly [string, Partial<SettingDefinition>])[] = [
  ['', {}],
  [', required', { required: true }],
  [', patterned', { pattern: String.raw`^\d{4}$` }],
  [', of a length', { maxLength: 4 }],
  [', patterned and of a length', { pattern: 'a', maxLength: 4 }],
  [', bounded', { min: 5, max: 10 }],
]
for (const [name, type] of allTypes) {
  for (const [variant, members] of variants) {
    test(`the schema of a ${name}${variant} admits every value that the setting accepts`, async (t) => {
      const app = fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } })
      t.teardown(() => app.close())
      const setting = registered(type, members)
      const check = await validator(app, setting.definition)
      for (const value of samples) {
        if (problemsOf(setting, value).length === 0) t.ok(check(value), JSON.stringify(value))
      }
    })
  }
}

test('the schema refuses what has the wrong type, shape or bounds', async (t) => {
  const rows: readonly (readonly [SettingType, Partial<SettingDefinition>, readonly unknown[]])[] = [
    [SettingType.Text, {}, [5, true, {}, []]],
    [SettingType.Text, { required: true }, [null, '']],
    [SettingType.Text, { pattern: '^a' }, ['b']],
    [SettingType.Text, { maxLength: 4 }, ['abcde']],
    [SettingType.Text, { pattern: '^a', maxLength: 4 }, ['abcde', 'b']],
    [SettingType.Number, { min: 5, max: 10 }, ['7', 4, 11, true]],
    [SettingType.Number, { required: true }, [null]],
    [SettingType.Bool, {}, ['true', 1, '']],
    [SettingType.Select, {}, ['enormous', 5, '']],
    [SettingType.Json, {}, ['']],
    [SettingType.Json, { required: true }, [null]],
    [SettingType.Color, {}, ['red', '#fff']],
    [SettingType.Url, {}, ['/x', 'ftp://h']],
    [SettingType.Email, {}, ['user', '@', `${'a'.repeat(250)}@b.cd`]],
    [SettingType.DateTime, {}, ['2025-01-31', '1']],
  ]
  for (const [type, members, refused] of rows) {
    const app = fastify({ ajv: { customOptions: { coerceTypes: false } } })
    t.teardown(() => app.close())
    const check = await validator(app, registered(type, members).definition)
    for (const value of refused) t.notOk(check(value), `${type} ${JSON.stringify(value)}`)
  }
})
