/** Json settings whose schema is a validator of Standard Schema. */
import {
  memoryStore,
  setting,
  SettingScope,
  SettingType,
  type SettingDefinition,
} from '@fastify-modular/settings'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { test } from 'tap'
import * as v from 'valibot'
import { z } from 'zod'
import { as, createApp, logInto, rejection } from '../support/app.ts'

const common = { displayName: 'Routes', scope: SettingScope.Application } as const
const canary = 'c4n4ry-Secret'

/** The same rule by each vendor: a list of routes. */
const byVendor = {
  zod: z.array(
    z.object({
      to: z.email(),
      weight: z.number().min(100).optional(),
      kind: z.enum(['in', 'out']).optional(),
    }),
  ),
  valibot: v.array(
    v.object({
      to: v.pipe(v.string(), v.email()),
      weight: v.optional(v.pipe(v.number(), v.minValue(100))),
      kind: v.optional(v.picklist(['in', 'out'])),
    }),
  ),
  arktype: type({ to: 'string.email', 'weight?': 'number >= 100', 'kind?': "'in' | 'out'" }).array(),
}

for (const [vendor, schema] of Object.entries(byVendor)) {
  const routes = setting.schema('mail.routes', schema, { ...common, default: [{ to: 'a@example.org' }] })

  test(`${vendor}: values are checked, and what is refused is told at its path`, async (t) => {
    const app = await createApp(t, { definitions: [{ routes }] })
    t.same(app.settings.get(routes), [{ to: 'a@example.org' }])
    await app.settings.set(routes, [{ to: 'b@example.org', weight: 100 }])
    t.equal(app.settings.get(routes)[0]?.weight, 100)
    const refused = await as(app, 'admin')('PUT', '', {
      key: 'mail.routes',
      scope: 1,
      value: [{ to: 'b@example.org' }, { to: 'no' }, { to: 'c@example.org', weight: 5 }, {}],
    })
    t.equal(refused.status, 422)
    const messages: string[] = refused.json.errors['mail.routes']
    t.same(
      messages.map((message) => message.split(':')[0]),
      ['/1/to', '/2/weight', '/3/to'],
    )
    const whole = await as(app, 'admin')('PUT', '', { key: 'mail.routes', scope: 1, value: 7 })
    t.notMatch(whole.json.errors['mail.routes'][0], /^\/|^\d/, 'the whole has no path')
    t.ok(messages.every((message) => message.length > '/1/to: '.length))
  })

  test(`${vendor}: a refused value is in no body, header, log or error`, async (t) => {
    const lines: string[] = []
    const app = await createApp(t, { definitions: [{ routes }] }, logInto(lines, 'trace'))
    const told: unknown[] = []
    const values = [
      [{ to: canary }],
      [{ to: ` ${canary.toUpperCase()} ` }],
      [{ to: `x"${canary}"\n` }],
      [{ to: 'b@example.org', kind: canary }],
      [{ to: 'b@example.org', weight: canary }],
      [canary],
      canary,
      { [canary.slice(0, 2)]: canary },
    ]
    for (const value of values) {
      const entry = { key: 'mail.routes', scope: 1, value }
      for (const answer of [
        await as(app, 'admin')('PUT', '', entry),
        await as(app, 'admin')('PUT', '/bulk', [entry]),
        await as(app, 'admin')('POST', '/import', { format: 1, settings: [entry] }),
      ]) {
        t.equal(answer.status, 422, JSON.stringify(value))
        told.push(answer.headers, answer.text)
      }
      const { error } = await rejection(app.settings.set('mail.routes' as string, value as never))
      told.push(String(error), (error as Error).stack, Object(error).errors)
    }
    t.notMatch(JSON.stringify([told, lines]).toLowerCase(), canary.toLowerCase())
    t.equal(app.settings.status.revision, 0, 'nothing was committed, which is what events tell')
  })

  test(`${vendor}: a sensitive setting, and a variable, tell nothing of their validator; a value beside an unset variable does`, async (t) => {
    t.teardown(() => delete process.env['T_ROUTES'])
    const messagesOf = async (more: { readonly sensitive?: boolean; readonly env?: string }) => {
      const token = setting.schema('mail.routes', schema, { ...common, ...more })
      const app = await createApp(t, { definitions: [{ token }] })
      const value = [{ to: 'a' }, { to: 'a@example.org', weight: 1 }]
      const answer = await as(app, 'admin')('PUT', '', { key: 'mail.routes', scope: 1, value })
      return answer.json.errors['mail.routes']
    }
    t.same(await messagesOf({ sensitive: true }), ['This value does not fit.'])
    t.match(await messagesOf({}), [/^\/0\/to: /, /^\/1\/weight: /])
    t.same(await messagesOf({ env: 'T_ROUTES' }), await messagesOf({}))
    process.env['T_ROUTES'] = JSON.stringify([{ to: canary }])
    const fixed = setting.schema('mail.routes', schema, { ...common, env: 'T_ROUTES' })
    const { error } = await rejection(createApp(t, { definitions: [{ fixed }] }))
    t.match(error, { message: /T_ROUTES: This value does not fit\./ })
    t.notMatch(String((error as Error).stack), canary)
  })
}

test('forms get the JSON Schema of what a validator takes, where it can say; a secret has none', async (t) => {
  const described = {
    zod: setting.schema('a.zod', byVendor.zod, common),
    valibot: setting.schema('a.valibot', toStandardJsonSchema(byVendor.valibot), common),
    arktype: setting.schema('a.arktype', byVendor.arktype, common),
  }
  const silent = {
    plain: setting.schema('b.valibot', byVendor.valibot, common),
    date: setting.schema('b.date', z.object({ at: z.date().optional() }), common),
    secret: setting.schema('b.secret', z.object({ a: z.string().default(canary) }), {
      ...common,
      sensitive: true,
    }),
  }
  const app = await createApp(t, { definitions: [described, silent] })
  const answer = await as(app, 'admin')('GET', '/definitions')
  const definitions: readonly { key: string; schema: unknown; valueSchema: unknown }[] = answer.json
  for (const { key, schema, valueSchema } of definitions)
    if (key.startsWith('b.')) t.equal(schema, null, key)
    else {
      t.match(
        schema,
        { type: 'array', items: { type: 'object', properties: { to: { type: 'string' } } } },
        key,
      )
      t.same(valueSchema, { anyOf: [schema, { type: 'null' }] })
    }
  t.notMatch(answer.text, canary)
})

test('the output is stored: trimmed, in lower case, with defaults; the same again changes nothing', async (t) => {
  const shape = z.object({ name: z.string().trim().toLowerCase(), size: z.number().default(1) })
  const token = setting.schema('app.shape', shape, { ...common, default: { name: ' A ' } as never })
  const store = memoryStore()
  const app = await createApp(t, { store, definitions: [{ token }] })
  t.same(app.settings.get(token), { name: 'a', size: 1 }, 'a default is what the validator makes of it')
  const put = (value: unknown) =>
    as(app, 'admin')('PUT', '', { key: 'app.shape', scope: 1, value }, { prefer: 'return=representation' })
  t.match((await put({ name: ' Bob ' })).json, { value: { name: 'bob', size: 1 }, version: 1 })
  t.match((await put({ name: 'BOB', size: 1 })).json, { version: 1 }, 'an equal value is no change')
  t.same(app.settings.get(token), { name: 'bob', size: 1 })
  t.throws(() => Object.assign(app.settings.get(token), { name: 'x' }), TypeError)

  const older = await createApp(t, {
    store,
    definitions: [
      {
        token: setting.schema(
          'app.shape',
          z.object({ name: z.string(), size: z.number(), more: z.boolean().default(false) }),
          common,
        ),
      },
    ],
  })
  t.same(
    older.settings.get('app.shape' as string),
    { name: 'bob', size: 1, more: false },
    'a stored value is read by the schema of today',
  )

  process.env['SM_SETTINGS_OVERRIDES'] = '{"app.shape":{"name":" Fixed "}}'
  t.teardown(() => delete process.env['SM_SETTINGS_OVERRIDES'])
  const locked = await createApp(t, { definitions: [{ token }] })
  t.same(locked.settings.get(token), { name: 'fixed', size: 1 })
})

test('a validator may change what it is given, and give its own default: both stay as they are', async (t) => {
  const shared = { list: [1] }
  const schema = standard((value) => {
    if (Array.isArray(value)) value.push('changed')
    return { value: Array.isArray(value) ? shared : value }
  })
  const token = setting.schema('app.list', schema, common)
  const app = await createApp(t, { definitions: [{ token }] })
  const given = ['a']
  await app.settings.set('app.list' as string, given)
  t.same(given, ['a'])
  shared.list.push(2)
  t.same(app.settings.get('app.list' as string), { list: [1] })
})

const unsettled = {
  'a conversion to another type': z.string().transform((text) => text.length),
  'a number that becomes another one': z.number().transform((number) => number + 1),
  'a date': z.coerce.date(),
  'a member that is undefined': z.string().transform((text) => ({ text, none: undefined })),
  'not a number': z.any().transform(() => Number.NaN),
  'a map': z.any().transform(() => new Map()),
  'null, which would remove the value': z.any().transform(() => null),
  'an empty text, which no Json stores': z.any().transform(() => ''),
  'a big integer': z.any().transform(() => 1n),
  'an instance of a class': z.any().transform(() => new (class Money {})()),
  'something new each time': z.any().transform(() => Math.random()),
}

for (const [name, schema] of Object.entries(unsettled))
  test(`a validator that makes ${name} of a value: 422, and one error log that names the key`, async (t) => {
    const lines: string[] = []
    const app = await createApp(
      t,
      { definitions: [setting.schema('app.odd', schema, common)] },
      logInto(lines, 'error'),
    )
    const value = name.includes('number that') ? 41 : '2025-01-01'
    const answer = await as(app, 'admin')('PUT', '', { key: 'app.odd', scope: 1, value })
    t.match(answer, {
      status: 422,
      json: { errors: { 'app.odd': ['This value cannot be stored as it is checked.'] } },
    })
    t.equal(lines.length, 1)
    t.match(JSON.parse(lines[0] ?? ''), { level: 50, key: 'app.odd' })
    t.notMatch(lines[0], '2025')
    t.equal(app.settings.get('app.odd' as string), null)
    const definition: SettingDefinition = {
      ...common,
      key: 'app.odd',
      type: SettingType.Json,
      schema,
      defaultValue: JSON.stringify(value),
    }
    const { error } = await rejection(createApp(t, { definitions: [definition] }))
    t.match(error, {
      message: /its default breaks the definition: This value cannot be stored as it is checked\./,
    })
  })

for (const [name, validate, reason] of [
  ['throws', throwCanary, 'its schema throws'],
  ['rejects', () => Promise.reject(new Error(canary)), 'its schema is asynchronous'],
  ['resolves', async () => ({ value: 1 }), 'its schema is asynchronous'],
  [
    'returns a promise of its own, which throws',
    () => ({ then: throwCanary }), // oxlint-disable-line unicorn/no-thenable -- which is what it is about
    'its schema is asynchronous',
  ],
  [
    'makes something that throws when it is read',
    () => ({
      value: {
        get a() {
          return throwCanary()
        },
      },
    }),
    'its schema throws',
  ],
] as const)
  test(`a validator that ${name} is a 500 that names the key, and nothing else`, async (t) => {
    const lines: string[] = []
    const rejections: unknown[] = []
    const onRejection = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', onRejection)
    t.teardown(() => process.off('unhandledRejection', onRejection))
    const app = await createApp(
      t,
      { definitions: [setting.schema('app.odd', standard(validate), common)] },
      logInto(lines, 'error'),
    )
    const answer = await as(app, 'admin')('PUT', '', { key: 'app.odd', scope: 1, value: canary })
    t.equal(answer.status, 500)
    const { error } = await rejection(app.settings.set('app.odd' as string, canary))
    t.match(error, {
      code: 'FMOD_SETTINGS_INVALID_RULE_RESULT',
      message: new RegExp(`app\\.odd cannot be checked: ${reason}`),
    })
    await new Promise((done) => setImmediate(done))
    t.same(rejections, [])
    t.match(lines.join('\n'), 'app.odd')
    t.notMatch(JSON.stringify([answer, lines, String(error), (error as Error).stack]), canary)
    const { error: atBoot } = await rejection(
      createApp(t, {
        definitions: [{ ...setting.schema('app.odd', standard(validate), common), defaultValue: '1' }],
      }),
    )
    t.match(atBoot, {
      code: 'FMOD_SETTINGS_INVALID_DEFINITIONS',
      message: new RegExp(`app\\.odd.*${reason}`),
    })
  })

test('issues of any form become messages', async (t) => {
  const issues = [
    { message: 'One.', path: ['a/b', { key: '~c' }, 0] },
    { message: 'Two.', path: ['a/b', '~c', '0'] },
    { message: `Has ${canary}.`, path: [Symbol('s')] },
    { message: 7 },
    null,
    ...Array.from({ length: 50 }, (_, index) => ({ message: 'Many.', path: [index] })),
  ]
  // A million of them are not looked at.
  issues.length = 1_000_000
  Object.defineProperty(issues, 1000, { get: throwCanary })
  const app = await createApp(t, {
    definitions: [
      setting.schema(
        'app.odd',
        standard(() => ({ issues })),
        common,
      ),
    ],
  })
  const answer = await as(app, 'admin')('PUT', '', { key: 'app.odd', scope: 1, value: canary })
  const messages: string[] = answer.json.errors['app.odd']
  t.same(messages.slice(0, 4), [
    '/a~1b/~0c/0: One.',
    '/Symbol(s): This value does not fit.',
    'This value does not fit.',
    '/0: Many.',
  ])
  t.equal(messages.length, 20)
})

test('looking for what a message quotes takes time that grows with the value, not with its square', async (t) => {
  const issues = Array.from({ length: 300 }, () => ({ message: 'Enter something else.' }))
  const token = setting.schema(
    'app.odd',
    standard(() => ({ issues })),
    common,
  )
  const app = await createApp(t, { definitions: [{ token }] })
  const value = Array.from({ length: 300 }, (_, index) => `part ${index}`)
  const compared = t.capture(String.prototype, 'toLowerCase', String.prototype.toLowerCase)
  await rejection(app.settings.set('app.odd' as string, value))
  compared.restore()
  const calls = compared().length
  t.ok(calls < 3 * value.length, `${calls} texts of 300 parts and 300 issues were compared`)
})

test('showWhen waits for a value as the validator leaves it', async (t) => {
  const mode = setting.schema('app.mode', z.string().trim().toLowerCase(), common)
  const waitingFor = (equals: string) =>
    createApp(t, {
      definitions: [mode, setting.text('app.part', { ...common, showWhen: { key: 'app.mode', equals } })],
    })
  await waitingFor('dark')
  const { error } = await rejection(waitingFor(' Dark '))
  t.match(error, {
    code: 'FMOD_SETTINGS_INVALID_DEFINITIONS',
    message:
      /"app\.part".* waits for a value that it never has: This value cannot be stored as it is checked\./,
  })
})

test('a schema belongs to a Json, and is one of the two kinds', async (t) => {
  for (const [schema, type, message] of [
    [{ '~standard': { version: 1, vendor: 'test' } }, SettingType.Json, /the schema cannot be used/],
    [{ '~standard': null }, SettingType.Json, /the schema cannot be used/],
    [z.string(), SettingType.Text, /the schema cannot be used: it belongs to a Json/],
    [() => true, SettingType.Json, /schema must be a JSON Schema/],
    ['text', SettingType.Json, /schema must be a JSON Schema/],
    [[], SettingType.Json, /schema must be a JSON Schema/],
    [new Map(), SettingType.Json, /schema must be a JSON Schema/],
  ] as const) {
    const definition = { ...common, key: 'app.odd', type, schema } as unknown as SettingDefinition
    const { error } = await rejection(createApp(t, { definitions: [definition] }))
    t.match(error, { code: 'FMOD_SETTINGS_INVALID_DEFINITIONS', message })
  }
})

function standard(validate: (value: unknown) => unknown) {
  return { '~standard': { version: 1, vendor: 'test', validate } } as never as typeof byVendor.zod
}

function throwCanary(): never {
  throw new Error(canary)
}
