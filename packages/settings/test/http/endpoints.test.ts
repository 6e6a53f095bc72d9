import { test } from 'tap'
import { as, createApp } from '../support/app.ts'

const shared = { updatedBy: 'editor', userId: null, locked: false }

test('S 4.1: PUT stores, GET reads, DELETE resets one setting', async (t) => {
  const app = await createApp(t)
  const editor = as(app, 'editor')
  const put = await editor('PUT', '', { key: 'app.title', scope: 1, value: 'Acme' })
  t.equal(put.status, 204)
  t.equal(put.headers.etag, '"r1"')
  t.equal(put.text, '')

  const got = await as(app, 'alice')('GET', '/app.title?scope=1')
  t.equal(got.status, 200)
  t.match(got.json, {
    ...shared,
    key: 'app.title',
    scope: 1,
    value: 'Acme',
    isOverridden: true,
    source: 'application',
    version: 1,
  })
  t.match(got.json.updatedAt, /^\d{4}-\d\d-\d\dT.*Z$/)
  t.equal(got.headers.etag, '"r1"')
  t.equal(got.headers['cache-control'], 'no-store')

  const reset = await editor('DELETE', '/app.title?scope=1')
  t.equal(reset.status, 204)
  t.equal(reset.headers.etag, '"r0"', 'decision 80: the tag of what GET answers now')
  const again = { key: 'app.title', scope: 1, value: 'Again' }
  const ifMatch = { 'if-match': String(reset.headers.etag) }
  t.equal((await editor('PUT', '', again, ifMatch)).status, 204)
  t.equal((await editor('PUT', '', again, ifMatch)).status, 412)
  t.equal((await editor('DELETE', '/app.title?scope=1')).status, 204)
  const after = await editor('GET', '/app.title?scope=1')
  t.match(after.json, {
    value: 'Fastify Modular',
    isOverridden: false,
    source: 'default',
    version: 0,
    updatedAt: null,
    updatedBy: null,
  })
})

test('S 4.1: /resolved is the bare JSON value of own, else application, else default', async (t) => {
  const app = await createApp(t, { selfService: true })
  const alice = as(app, 'alice')
  const steps: [string, () => Promise<{ status: number }>][] = [
    ['"light"', async () => ({ status: 204 })],
    ['"dark"', () => as(app, 'editor')('PUT', '', { key: 'app.theme', scope: 1, value: 'dark' })],
    ['"system"', () => alice('PUT', '/me', { key: 'app.theme', value: 'system' })],
    ['"dark"', () => alice('DELETE', '/me/app.theme')],
    ['"light"', () => as(app, 'editor')('DELETE', '/app.theme?scope=1')],
  ]
  for (const [expected, step] of steps) {
    t.equal((await step()).status, 204)
    const resolved = await alice('GET', '/app.theme/resolved')
    t.equal(resolved.text, expected)
    t.match(resolved.type, /^application\/json/)
    t.equal(resolved.headers['cache-control'], 'no-store')
  }
  t.equal((await alice('GET', '/app.banner/resolved')).text, 'null', 'no default')
  t.equal((await alice('GET', '/mail.port/resolved')).text, '587', 'decision 18: system settings resolve too')
  await as(app, 'admin')('PUT', '', { key: 'mail.port', scope: 0, value: 25 })
  t.equal((await alice('GET', '/mail.port/resolved')).text, '25')
})

test('S 4.1: bulk PUT writes System and Application entries in one revision', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  const bulk = await admin('PUT', '/bulk', [
    { key: 'app.title', scope: 1, value: 'Acme' },
    { key: 'mail.port', scope: 'system', value: 25 },
    { key: 'app.feature_json', scope: 'APPLICATION', value: { beta: [1, null, 'x'] } },
  ])
  t.equal(bulk.status, 204)
  t.equal(bulk.headers.etag, '"r1"')
  t.equal((await admin('GET', '/mail.port?scope=System')).json.version, 1)
  t.same((await admin('GET', '/app.feature_json?scope=1')).json.value, { beta: [1, null, 'x'] })
  const empty = await admin('PUT', '/bulk', [])
  t.equal(empty.status, 204, 'an empty bulk changes nothing')
  t.equal(empty.headers.etag, '"r1"')
})

test('S 4.1: GET /me lists the User settings with their fallbacks (decision 21)', async (t) => {
  const app = await createApp(t, { selfService: true })
  await as(app, 'editor')('PUT', '', { key: 'app.theme', scope: 1, value: 'dark' })
  await as(app, 'alice')('PUT', '/me', { key: 'app.theme', value: 'system', scope: 2 })
  await as(app, 'alice')('PUT', '/me', { key: 'user.token', value: 'hush-hush' })
  const mine = (await as(app, 'alice')('GET', '/me')).json
  t.same(
    mine.map((item: { key: string }) => item.key),
    ['user.token', 'app.theme', 'user.preferred_density'],
  )
  t.match(mine[0], { value: null, inheritedValue: null, isOverridden: true, source: 'user' }, 'sensitive')
  t.match(mine[1], {
    scope: 2,
    value: 'system',
    inheritedValue: 'dark',
    isOverridden: true,
    userId: 'alice',
    source: 'user',
  })
  t.match(mine[2], {
    value: 'comfortable',
    inheritedValue: 'comfortable',
    isOverridden: false,
    source: 'default',
    version: 0,
  })
  const bobs = (await as(app, 'bob')('GET', '/me')).json
  t.match(bobs[1], { value: 'dark', isOverridden: false, source: 'application', userId: 'bob' })
})

test('S 4.1: the list has every shared setting, sorted by group, order, key (decision 16)', async (t) => {
  const app = await createApp(t)
  await as(app, 'admin')('PUT', '', { key: 'app.api_secret', scope: 1, value: 'hunter2' })
  const list = await as(app, 'alice')('GET', '')
  t.equal(list.status, 200)
  t.same(
    list.json.map((dto: { key: string; scope: number }) => `${dto.key} ${dto.scope}`),
    [
      'app.api_secret 1',
      'app.feature_json 1',
      'system.maintenance_mode 0',
      'user.token 1',
      'app.primary_color 1',
      'app.theme 1',
      'user.preferred_density 1',
      'app.title 1',
      'app.support_email 1',
      'app.banner 1',
      'mail.password 0',
      'mail.port 0',
    ],
  )
  t.match(list.json[0], { value: null, isOverridden: true }, 'masked')
  t.notMatch(list.text, /hunter2/)
})

test('S 2.6: the list is filtered by scope and group, combined with AND', async (t) => {
  const app = await createApp(t)
  const alice = as(app, 'alice')
  const keys = async (query: string) =>
    (await alice('GET', query)).json.map((dto: { key: string }) => dto.key)
  t.same(await keys('?scope=0'), ['system.maintenance_mode', 'mail.password', 'mail.port'])
  t.same(await keys('?scope=system&group=Mail'), ['mail.password', 'mail.port'])
  t.same(await keys('?scope=1&group=Mail'), [])
  t.same(
    await keys('?group='),
    ['app.api_secret', 'app.feature_json', 'system.maintenance_mode', 'user.token'],
    'settings without a group',
  )
  t.same(await keys('?group=Nothing'), [], 'an unknown group')
  t.same(await keys('?group=mail'), [], 'groups are compared exactly')
})

test('decision 16: scope=2 lists the own rows of the caller and no others', async (t) => {
  const app = await createApp(t, { selfService: true })
  await as(app, 'alice')('PUT', '/me', { key: 'app.theme', value: 'dark' })
  await as(app, 'bob')('PUT', '/me', { key: 'app.theme', value: 'system' })
  const list = await as(app, 'alice')('GET', '?scope=2')
  t.equal(list.json.length, 1)
  t.match(list.json[0], { key: 'app.theme', scope: 2, value: 'dark', userId: 'alice' })
  t.equal((await as(app, 'alice')('GET', '/app.theme?scope=2')).json.value, 'dark')
  t.same((await as(app, 'admin')('GET', '?scope=2')).json, [], 'administrators have no other way in')
})

test('S 4.1.3: /definitions shows every definition, in the order of registration', async (t) => {
  const app = await createApp(t)
  const got = await as(app, 'alice')('GET', '/definitions')
  t.equal(got.json.length, 12)
  t.match(got.json[0], {
    key: 'app.title',
    displayName: 'Title',
    scope: 1,
    type: 0,
    defaultValue: 'Fastify Modular',
    required: true,
    sensitive: false,
    order: 0,
    allowedValues: null,
  })
  t.match(got.json[10], {
    key: 'mail.port',
    scope: 0,
    type: 1,
    defaultValue: '587',
    min: 1,
    max: 65535,
    group: 'Mail',
  })
  t.equal(got.headers['cache-control'], 'private, no-cache')
  const again = await as(app, 'bob')('GET', '/definitions', undefined, {
    'if-none-match': String(got.headers.etag),
  })
  t.equal(again.status, 304)
  t.equal(again.text, '')
})
