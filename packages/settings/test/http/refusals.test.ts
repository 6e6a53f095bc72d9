import { readFile } from 'node:fs/promises'
import { ServiceUnavailableException } from '@fastify-modular/core'
import { test } from 'tap'
import { as, type CallerName, createApp, expectStatuses } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { memoryStore } from '../support/stores.js'

const title = { key: 'app.title', scope: 1, value: 'Acme' }

test('S 5.2: writes need Settings.Update, System rows an administrator', async (t) => {
  const app = await createApp(t)
  const port = { key: 'mail.port', scope: 0, value: 25 }
  await expectStatuses(t, app, [
    [403, 'PUT', '', title, 'alice'],
    [403, 'DELETE', '/app.title?scope=1', undefined, 'alice'],
    [204, 'PUT', '', title, 'editor'],
    [403, 'PUT', '', port, 'editor'],
    [403, 'DELETE', '/mail.port?scope=0', undefined, 'editor'],
  ])
  const mixed = await as(app, 'editor')('PUT', '/bulk', [{ ...title, value: 'Other' }, port])
  t.match(mixed, { status: 403, type: 'application/problem+json', json: { title: 'Forbidden' } })
  t.match(
    (await as(app, 'alice')('GET', '/app.title?scope=1')).json,
    { value: 'Acme' },
    'nothing was written',
  )
  await expectStatuses(t, app, [[204, 'PUT', '', port]])
})

test('decision 23: /me writes need Settings.Update unless selfService is true', async (t) => {
  const own = { key: 'app.theme', value: 'dark' }
  await expectStatuses(t, await createApp(t), [
    [403, 'PUT', '/me', own, 'alice'],
    [403, 'DELETE', '/me/app.theme', undefined, 'alice'],
    [204, 'PUT', '/me', own, 'editor'],
  ])
  await expectStatuses(t, await createApp(t, { selfService: true }), [
    [204, 'PUT', '/me', own, 'alice'],
    [204, 'DELETE', '/me/app.theme', undefined, 'alice'],
  ])
})

test('S 4.1.1: User-scoped PUT, DELETE and bulk are 400 before anything else is looked at', async (t) => {
  const app = await createApp(t)
  for (const [method, path, body] of [
    ['PUT', '', { key: 'app.theme', scope: 2, value: 'dark' }],
    ['PUT', '', { key: 'no.such', scope: 'user', value: 'dark' }],
    ['PUT', '', { scope: 'USER', extra: 1 }],
    ['DELETE', '/app.theme?scope=2'],
    ['DELETE', '/no.such?scope=User'],
    ['PUT', '/bulk', [title, { key: 'app.theme', scope: 2, value: 'dark' }]],
    ['PUT', '/bulk', [{ bad: true }, { scope: 2 }]],
    ['POST', '/import', { format: 1, settings: [{ key: 'app.theme', scope: 2, value: 'dark' }] }],
  ] as const) {
    const got = await as(app, 'alice')(method, path, body)
    const where = `${method} ${path} ${JSON.stringify(body)}`
    t.equal(got.status, 400, where)
    t.equal(got.json.title, 'Invalid scope', where)
    t.equal(got.json.code, 'INVALID_SCOPE', where)
    t.equal(got.json.detail, 'Use /api/settings/me to set user-scoped settings.', where)
  }
  t.equal((await as(app, 'alice')('GET', '/app.title?scope=1')).json.isOverridden, false)
})

test('decision 17: GET and DELETE of one setting need a valid scope', async (t) => {
  const app = await createApp(t)
  for (const path of [
    '/app.title',
    '/app.title?scope=',
    '/app.title?scope=9',
    '/app.title?scope=abc',
    '/app.title?scope=0&scope=1',
    '/app.title?scope=01',
  ]) {
    const read = await as(app, 'admin')('GET', path)
    t.match(read, { status: 400, type: 'application/problem+json' }, path)
    t.same(Object.keys(read.json.errors), ['scope'], path)
    t.equal((await as(app, 'admin')('DELETE', path)).status, 400, path)
  }
})

test('decision 20: a setting is read in the scopes of its definition', async (t) => {
  const app = await createApp(t)
  for (const path of [
    '/mail.port?scope=1',
    '/mail.port?scope=2',
    '/app.title?scope=0',
    '/app.title?scope=User',
  ])
    t.match(await as(app, 'admin')('GET', path), { status: 400, json: { code: 'ARGUMENT' } }, path)
  await expectStatuses(t, app, [
    [400, 'GET', '/app.theme?scope=0'],
    [200, 'GET', '/mail.port?scope=0', undefined, 'alice'],
    [200, 'GET', '/app.title?scope=1', undefined, 'alice'],
    [200, 'GET', '/app.theme?scope=1', undefined, 'alice'],
    [200, 'GET', '/app.theme?scope=2', undefined, 'alice'],
  ])
})

test('decision 12: a misspelt query parameter of a read is 400', async (t) => {
  const admin = as(await createApp(t), 'admin')
  for (const path of ['?scop=1', '?scope[]=1', '/definitions?tags=mail', '/app.title/history?limt=1'])
    t.match(await admin('GET', path), { status: 400, json: { code: 'VALIDATION' } }, path)
})

test('decision 17: an unknown key is 404 "Resource not found", and is never stored', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  const hostile = [
    'no.such',
    '__proto__',
    'constructor',
    'toString',
    'app.title%00',
    'a%2Fb',
    'a..b',
    'APP.TITLE',
    ' app.title',
  ]
  for (const key of hostile) {
    for (const [method, path, body] of [
      ['GET', `/${key}?scope=1`],
      ['GET', `/${key}/resolved`],
      ['GET', `/${key}/history`],
      ['GET', `/${key}/inspect`],
      ['DELETE', `/${key}?scope=1`],
      ['DELETE', `/me/${key}`],
      ['PUT', '', { key: decodeURIComponent(key), scope: 1, value: 'x' }],
      ['PUT', '/me', { key: decodeURIComponent(key), value: 'x' }],
    ] as const) {
      const got = await admin(method, path, body)
      const json = { title: 'Resource not found', code: 'NOT_FOUND' }
      t.match(got, { status: 404, type: 'application/problem+json', json }, `${method} ${path}`)
    }
  }
  t.same(await app.settings.orphans(), [])
})

test('decision 20: the scope of a write must fit the definition', async (t) => {
  await expectStatuses(t, await createApp(t), [
    [400, 'DELETE', '/mail.port?scope=1'],
    [204, 'PUT', '', { key: 'app.theme', scope: 1, value: 'dark' }], // the inherited default
    [400, 'PUT', '/me', { key: 'app.title', value: 'x' }],
    [400, 'DELETE', '/me/mail.port'],
  ])
})

test('the path that a refusal names is where the routes are', async (t) => {
  const app = await createApp(t, { prefix: '/admin/prefs' })
  const url = '/admin/prefs/app.theme?scope=2'
  const refused = await app.inject({ method: 'DELETE', url, headers: { 'x-caller': 'admin' } })
  t.match(refused.json(), {
    code: 'INVALID_SCOPE',
    detail: 'Use /admin/prefs/me to set user-scoped settings.',
  })
})

/** Each breaks its own rule and, where it can, later ones. */
const failures: readonly (readonly [
  failure: string,
  caller: CallerName | null,
  path: string,
  body: unknown,
  headers?: Record<string, string>,
])[] = [
  ['401 UNAUTHORIZED', null, '', '{ malformed'],
  [
    '415 FST_ERR_CTP_INVALID_MEDIA_TYPE',
    'alice',
    '/bulk',
    `{ malformed ${'x'.repeat(600_000)}`,
    { 'content-type': 'application/xml' },
  ],
  ['413 FST_ERR_CTP_BODY_TOO_LARGE', 'alice', '/bulk', `{ malformed ${'x'.repeat(600_000)}`],
  ['400 FST_ERR_CTP_INVALID_JSON_BODY', 'alice', '', '{"scope":2'],
  ['400 INVALID_SCOPE', 'alice', '', { scope: 2, extra: 1 }],
  ['400 VALIDATION', 'alice', '/bulk', [title, title, { bad: true }]],
  ['400 ARGUMENT', 'alice', '/bulk', [title, title]],
  ['403 FORBIDDEN', 'alice', '', { key: 'no.such', scope: 1, value: 1 }],
  ['404 NOT_FOUND', 'admin', '', { key: 'no.such', scope: 0, value: 1 }],
  ['400 ARGUMENT', 'admin', '', { key: 'app.banner', scope: 0, value: 5 }, { 'if-match': '"r99"' }],
  ['409 CONFLICT', 'admin', '', { key: 'app.banner', scope: 1, value: 5 }, { 'if-match': '"r99"' }],
  ['412 PRECONDITION_FAILED', 'admin', '', { ...title, value: 5 }, { 'if-match': '"r99"' }],
  ['422 SETTING_VALIDATION', 'admin', '', { ...title, value: 5 }],
  ['503 SERVICE_UNAVAILABLE', 'admin', '', title],
]

test('decision 22: the failures of writes are those of the reference, in its order', async (t) => {
  const inner = memoryStore()
  const store = changedStore(inner, {
    async write(request, write) {
      await write(request) // refuses what is stale or not valid
      throw new ServiceUnavailableException()
    },
  })
  const app = await createApp(t, { store, overrides: { 'app.banner': 'fixed' } })
  const got: string[] = []
  for (const [, caller, path, body, headers] of failures) {
    const { status, json } = await as(app, caller)('PUT', path, body, headers)
    got.push(`${status} ${json.code}`)
  }
  t.same(
    got,
    failures.map(([failure]) => failure),
  )
  const reference = await readFile(
    new URL('../../../../docs/reference/settings-http.md', import.meta.url),
    'utf8',
  )
  const rows = [...reference.matchAll(/^\| (\d{3}) \| `(\w*)` \|/gm)]
  t.same(
    rows.map(([, status, code]) => `${status} ${code}`),
    got,
  )
})

test('a write other than a bulk or import takes bodies of up to 1 MiB; text/plain is refused by its shape', async (t) => {
  const admin = as(await createApp(t), 'admin')
  const long = { ...title, value: 'x'.repeat(600_000) }
  t.match(await admin('PUT', '', long), { status: 422, json: { code: 'SETTING_VALIDATION' } })
  const longer = { ...title, value: 'x'.repeat(1_100_000) }
  t.match(await admin('PUT', '', longer), { status: 413, json: { code: 'FST_ERR_CTP_BODY_TOO_LARGE' } })
  const text = await admin('PUT', '', 'key=app.title', { 'content-type': 'text/plain' })
  t.match(text, { status: 400, json: { code: 'VALIDATION' } })
})
