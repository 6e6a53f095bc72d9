import { setting, SettingScope } from '@fastify-modular/settings'
import type { InjectOptions } from 'fastify'
import { test } from 'tap'
import { z } from 'zod'
import { as, createApp, expectStatuses } from '../support/app.ts'

type Method = NonNullable<InjectOptions['method']>

const title = { key: 'app.title', scope: 1, value: 'Acme' }

test('decision 12: a body of the wrong shape is 400 with errors by field, without coercion', async (t) => {
  const app = await createApp(t)
  for (const [path, body, field] of [
    ['', { scope: 1, value: 1 }, 'key'],
    ['', { key: 5, scope: 1, value: 1 }, 'key'],
    ['', { key: 'app.title', value: 'x' }, 'scope'],
    ['', { key: 'app.title', scope: 9, value: 'x' }, 'scope'],
    ['', { key: 'app.title', scope: '1', value: 'x' }, 'scope'],
    ['', { key: 'app.title', scope: 'application ', value: 'x' }, 'scope'],
    ['', { key: 'app.title', scope: 1 }, 'value'],
    ['', { ...title, extra: true }, 'extra'],
    ['', [], 'body'],
    ['', null, 'body'],
    ['/bulk', {}, 'body'],
    ['/bulk', null, 'body'],
    ['/bulk', [title, { key: 'mail.port', scope: 0 }], '1.value'],
    ['/bulk', [{ ...title, version: -1 }], '0.version'],
    ['/bulk', [{ ...title, version: '1' }], '0.version'],
    ['/me', { key: 'app.theme' }, 'value'],
    ['/me', { key: 'app.theme', value: 'dark', scope: 1 }, 'scope'],
    ['/me', { key: 'app.theme', value: 'dark', userId: 'bob' }, 'userId'],
  ] as const) {
    const got = await as(app, 'admin')('PUT', path, body)
    const where = `${path} ${JSON.stringify(body)}`
    const json = { title: 'Validation Error', code: 'VALIDATION' }
    t.match(got, { status: 400, type: 'application/problem+json', json }, where)
    t.same(Object.keys(got.json.errors), [field], where)
    t.match(got.json.errors[field][0], /\.$/, where)
  }
})

test('decision 12: the message of a field says what is expected, or that the field is missing or unknown', async (t) => {
  const app = await createApp(t)
  for (const [path, body, errors] of [
    ['', { ...title, scope: 9 }, { scope: ['Expected 0, 1 or 2, or System, Application or User.'] }],
    ['', { ...title, key: 5 }, { key: ['Expected the key of a setting, such as mail.port.'] }],
    ['', { key: 'app.title', value: 'x' }, { scope: ['Expected required property.'] }],
    ['', { ...title, extra: 1 }, { extra: ['Unexpected property.'] }],
    ['/bulk?dryRun=1', [title], { dryRun: ['Expected true or false.'] }],
    ['/bulk', [title, { ...title, version: -1 }], { '1.version': ['Expected a revision, 0 or greater.'] }],
  ] as const) {
    const { json } = await as(app, 'admin')('PUT', path, body)
    t.same(json.errors, errors, JSON.stringify(body))
  }
})

const other = { key: 'x.rule', scope: 1, value: 'b' }
const shown = { prefer: 'return=representation' }
/** How often the definition's own rule runs in one request; `seed` makes a value to begin with. */
const writes: readonly (readonly [string, Method, string, unknown, Record<string, string>?])[] = [
  ['a first value', 'PUT', '', { key: 'x.first', scope: 1, value: 'b' }],
  ['another value', 'PUT', '', other],
  ['an equal value', 'PUT', '', { ...other, value: 'seed' }],
  ['a value that is shown', 'PUT', '', other, shown],
  ['an equal one that is shown', 'PUT', '', { ...other, value: 'seed' }, shown],
  ['a conditional write', 'PUT', '', other, { 'if-match': '"r1"' }],
  ['a bulk', 'PUT', '/bulk', [other], shown],
  ['a dry run', 'PUT', '/bulk?dryRun=true', [other]],
  ['an own value', 'PUT', '/me', { key: 'x.mine', value: 'b' }, shown],
  ['an import', 'POST', '/import', { format: 1, settings: [other], omitted: [] }],
  ['a rollback', 'POST', '/x.rule/restore', { scope: 1, revision: 1 }],
  ['a removal', 'DELETE', '/x.rule?scope=1', undefined],
]
for (const [what, method, path, body, headers] of writes) {
  test(`decision 79: the rule of a definition runs at most twice for ${what}`, async (t) => {
    let runs = 0
    const validate = (): undefined => void runs++
    const common = { displayName: 'X', pattern: '.', validate }
    const app = await createApp(t, {
      definitions: [
        setting.text('x.first', { ...common, scope: SettingScope.Application }),
        setting.text('x.rule', { ...common, scope: SettingScope.Application }),
        setting.text('x.mine', { ...common, scope: SettingScope.User }),
      ],
    })
    app.settings.on('*', () => {})
    await app.settings.contract.setSetting('x.rule', 'seed', SettingScope.Application)
    await app.settings.forUser('admin')
    runs = 0
    const { status, text } = await as(app, 'admin')(method, path, body, headers)
    t.ok(status < 300, text)
    t.ok(runs <= 2, `${runs} times`)
  })
}

const common = { displayName: 'Costly', scope: SettingScope.Application } as const
const costly = Array.from({ length: 8 }, (_, index) =>
  setting.multilineText(`x.costly-${index}`, {
    ...common,
    pattern: '^(?:[ab]{900}c|[^])*$',
  }),
)

test('decision 79: a text that is too long for its pattern is 422 with the length that fits', async (t) => {
  const admin = as(await createApp(t, { definitions: costly }), 'admin')
  const long = await admin('PUT', '', { key: 'x.costly-0', scope: 1, value: 'd'.repeat(60_000) })
  t.match(long, { status: 422, json: { errors: { 'x.costly-0': [/^Enter at most \d{4} characters\.$/] } } })
  t.equal((await admin('PUT', '', { key: 'x.costly-0', scope: 1, value: 'd'.repeat(4000) })).status, 204)
})

test('decision 79: a bulk whose texts take too long together is 422 and names those that are left', async (t) => {
  const admin = as(await createApp(t, { definitions: costly }), 'admin')
  const update = (value: string) => ({ key: `x.costly-${value}`, scope: 1, value: 'd'.repeat(4300) + value })
  const all = costly.map((_, index) => update(String(index)))
  const refused = await admin('PUT', '/bulk', all)
  t.match(refused, { status: 422, json: { errors: { 'x.costly-7': [/^Save this value alone/] } } })
  t.notOk(Object.hasOwn(refused.json.errors, 'x.costly-0'))
  for (const half of [all.slice(0, 4), all.slice(4)]) t.equal((await admin('PUT', '/bulk', half)).status, 204)
  t.match((await admin('PUT', '/bulk?dryRun=true', all)).status, 422)
})

test('decision 79: the event loop has a turn between the values of a bulk that patterns and schemas check', async (t) => {
  const lists = [
    setting.json('x.json', { ...common, schema: { type: 'array' } }),
    setting.schema('x.zod', z.array(z.string()), common),
  ]
  const app = await createApp(t, { definitions: [...costly, ...lists] })
  const updates = [
    ...costly.map(({ key }) => ({ key, scope: SettingScope.Application, value: 'd' })),
    ...lists.map(({ key }) => ({ key, scope: SettingScope.Application, value: ['d'] })),
  ]
  let turns = 0
  let isRunning = true
  const count = (): void => {
    turns++
    if (isRunning) setImmediate(count)
  }
  setImmediate(count)
  await app.settings.setMany(updates)
  isRunning = false
  t.ok(turns >= 9, `${turns}`)
})

test('S 7.3: values that break their definitions are 422 with errors by key, never repeated', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  for (const [key, scope, value, message] of [
    ['system.maintenance_mode', 0, 'hunter2', /boolean/],
    ['app.support_email', 1, 'hunter2', /email/],
    ['app.primary_color', 1, 'hunter2', /a colour like/],
    ['mail.port', 0, 70000, /65535/],
    ['mail.port', 0, '587', /number/],
    ['app.title', 1, null, /required/],
    ['app.title', 1, ' ', /required/],
    ['app.theme', 1, 'hunter2', /one of/],
  ] as const) {
    const got = await admin('PUT', '', { key, scope, value })
    const json = { title: 'Validation Error', status: 422 }
    t.match(got, { status: 422, type: 'application/problem+json', json }, key)
    t.match(got.json.errors[key][0], message)
    t.notMatch(got.text, /hunter2/)
  }
  t.match((await admin('PUT', '/me', { key: 'user.preferred_density', value: 'giant' })).json.errors, {
    'user.preferred_density': [/one of/],
  })
  t.equal(app.settings.status.revision, 0, 'nothing was written')
})

test('decision 12: a bulk reports every broken and unknown key, and writes nothing', async (t) => {
  const app = await createApp(t)
  const got = await as(app, 'admin')('PUT', '/bulk', [
    title,
    { key: 'mail.port', scope: 0, value: 0 },
    { key: 'app.support_email', scope: 1, value: 'nobody' },
    { key: '__proto__', scope: 1, value: 1 },
    { key: 'no.such', scope: 0, value: 1 },
  ])
  t.equal(got.status, 422)
  t.same(Object.keys(got.json.errors).toSorted(), ['__proto__', 'app.support_email', 'mail.port', 'no.such'])
  t.same(got.json.errors['no.such'], ['Unknown setting.'])
  t.equal((await as(app, 'alice')('GET', '/app.title?scope=1')).json.isOverridden, false)
})

test('decision 11: what no text of a setting may be is 422', async (t) => {
  const admin = as(await createApp(t), 'admin')
  t.match(await admin('PUT', '', { ...title, value: 'x'.repeat(17 * 1024) }), { status: 422 })
  t.match(await admin('PUT', '', { ...title, value: 'a\0b' }), { status: 422 })
  t.match(await admin('PUT', '', '{"key":"app.title","scope":1,"value":"\\ud800"}'), { status: 422 })
})

test('a body that would change prototypes is 400', async (t) => {
  const poisoned = '{"__proto__":{"isAdmin":true},"key":"app.title","scope":1,"value":"x"}'
  await expectStatuses(t, await createApp(t), [[400, 'PUT', '', poisoned]])
})

test('a bulk and an import take 500 entries, or as many as the host allows', async (t) => {
  const app = await createApp(t, { limits: { bodyBytes: 32e6 } })
  const settings = Array.from({ length: 200_000 }, (_, index) => ({ key: `k${index}`, scope: 1, value: 1 }))
  const errors = ['Send at most 500 entries at once.']
  t.match(await as(app, 'admin')('PUT', '/bulk', settings), {
    status: 422,
    json: { errors: { bulk: errors } },
  })
  const path = '/import?dryRun=true'
  const refused = { status: 422, json: { errors: { import: errors } } }
  t.match(await as(app, 'admin')('POST', path, { format: 1, settings }), refused)
  const wide = await createApp(t, { limits: { bodyBytes: 32e6, bulkEntries: 200_000 } })
  const imported = await as(wide, 'admin')('POST', path, { format: 1, settings })
  t.equal(imported.status, 200)
  t.equal(imported.json.unknown.length, 200_000)
})
