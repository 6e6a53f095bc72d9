import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { ServiceUnavailableException } from '@fastify-modular/core'
import { test } from 'tap'
import { as, createApp, expectStatuses } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { memoryStore } from '../support/stores.js'

const put = (value: unknown) => ({ key: 'app.title', scope: 1, value })

test('decision 24: If-Match writes only what the caller saw; 412 carries the current tag', async (t) => {
  const app = await createApp(t)
  const editor = as(app, 'editor')
  t.equal((await editor('PUT', '', put('one'), { 'if-match': '"r0"' })).status, 204, '"r0" is unset')
  const stale = await editor('PUT', '', put('two'), { 'if-match': '"r0"' })
  t.match(stale, { status: 412, type: 'application/problem+json', json: { code: 'PRECONDITION_FAILED' } })
  t.equal(stale.headers.etag, '"r1"')
  t.notMatch(stale.text, /one/, 'the problem does not tell the value')
  t.equal((await editor('PUT', '', put('two'), { 'if-match': '"r7", "r1"' })).headers.etag, '"r2"')
  await expectStatuses(t, app, [
    [412, 'PUT', '', put('x'), 'editor', { 'if-match': 'W/"r2"' }], // weak tags never match strongly
    [412, 'PUT', '', put('x'), 'editor', { 'if-match': 'rubbish' }],
    [412, 'DELETE', '/app.title?scope=1', undefined, 'editor', { 'if-match': '"r1"' }],
    [204, 'DELETE', '/app.title?scope=1', undefined, 'editor', { 'if-match': '"r2"' }],
    [412, 'PUT', '', put('three'), 'editor', { 'if-match': '"r2"' }], // created again is not the same
  ])
})

test('decision 24: If-None-Match: * writes only what is unset', async (t) => {
  await expectStatuses(t, await createApp(t), [
    [204, 'PUT', '', put('one'), 'editor', { 'if-none-match': '*' }],
    [412, 'PUT', '', put('two'), 'editor', { 'if-none-match': '*' }],
    [412, 'PUT', '', put('two'), 'editor', { 'if-none-match': '"r1"' }],
    [204, 'PUT', '', put('two'), 'editor', { 'if-none-match': '"r9"' }],
  ])
})

test('decision 24: of many conditional writes at once exactly one wins', async (t) => {
  const app = await createApp(t)
  const editor = as(app, 'editor')
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => editor('PUT', '', put(`v${index}`), { 'if-none-match': '*' })),
  )
  t.equal(answers.filter(({ status }) => status === 204).length, 1)
  t.equal(answers.filter(({ status }) => status === 412).length, 19)
  t.equal(app.settings.status.revision, 1)
})

test('decision 24: a stale version in a bulk is 409 with the conflicts, and nothing is written', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  await admin('PUT', '', put('one'))
  const got = await admin('PUT', '/bulk', [
    { ...put('two'), version: 1 },
    { key: 'mail.port', scope: 0, value: 25, version: 4 },
  ])
  t.match(got, {
    status: 409,
    type: 'application/problem+json',
    json: { code: 'CONFLICT', conflicts: [{ key: 'mail.port', scope: 0, version: 0 }] },
  })
  t.equal((await admin('GET', '/app.title?scope=1')).json.value, 'one')
  const port = { key: 'mail.port', scope: 0, value: 25, version: 0 }
  await expectStatuses(t, app, [[204, 'PUT', '/bulk', [{ ...put('two'), version: 1 }, port]]])
})

test('decision 27: writing an equal value is a no-op that keeps the revision', async (t) => {
  const app = await createApp(t)
  const editor = as(app, 'editor')
  await editor('PUT', '', put('one'))
  const again = await editor('PUT', '', put('one'))
  t.equal(again.status, 204)
  t.equal(again.headers.etag, '"r1"')
  const nothing = await editor('DELETE', '/app.support_email?scope=1')
  t.equal(nothing.status, 204, 'decision 14: DELETE of nothing stored')
  t.equal(nothing.headers.etag, '"r0"')
  t.equal(app.settings.status.revision, 1)
})

test('decision 10: null clears what is not required, as DELETE does', async (t) => {
  const app = await createApp(t)
  const editor = as(app, 'editor')
  await editor('PUT', '', { key: 'app.banner', scope: 1, value: 'hello' })
  const cleared = await editor('PUT', '', { key: 'app.banner', scope: 1, value: null })
  t.equal(cleared.status, 204)
  t.equal(cleared.headers.etag, '"r0"', 'the row is unset')
  t.match((await editor('GET', '/app.banner?scope=1')).json, { isOverridden: false, value: null })
  t.equal((await editor('PUT', '', { key: 'app.banner', scope: 1, value: '' })).status, 204)
  t.match((await editor('GET', '/app.banner?scope=1')).json, { isOverridden: true, value: '' })
})

test('decision 14: Prefer: return=representation shows no secret', async (t) => {
  const secret = { key: 'app.api_secret', scope: 1, value: 'hunter2' }
  const written = await as(await createApp(t), 'editor')('PUT', '', secret, {
    prefer: 'return=representation',
  })
  t.match(written, { status: 200, json: { value: null, isOverridden: true } })
  t.notMatch(written.text, /hunter2/)
})

test('decision 25: a dry run answers what would change and writes nothing', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  await admin('PUT', '/bulk', [put('one'), { key: 'app.banner', scope: 1, value: 'hello' }])
  const dry = await admin('PUT', '/bulk?dryRun=true', [
    put('two'),
    { key: 'app.banner', scope: 1, value: null },
    { key: 'mail.port', scope: 0, value: 25 },
    { key: 'app.api_secret', scope: 1, value: 'hunter2' },
  ])
  t.equal(dry.status, 200)
  t.same(dry.json, [
    { key: 'app.title', scope: 1, change: 'update', oldValue: 'one', newValue: 'two' },
    { key: 'app.banner', scope: 1, change: 'delete', oldValue: 'hello', newValue: null },
    { key: 'mail.port', scope: 0, change: 'create', oldValue: null, newValue: 25 },
    { key: 'app.api_secret', scope: 1, change: 'create', oldValue: null, newValue: null },
  ])
  t.equal(dry.headers.etag, '"r1"')
  t.match((await admin('PUT', '/bulk?dryRun=true', [put('one')])).json, [{ change: 'none' }])
  t.equal((await admin('PUT', '/bulk?dryRun=true', [{ key: 'mail.port', scope: 0, value: 0 }])).status, 422)
  t.equal(app.settings.status.revision, 1)
})

test('a list that the database does not answer for varies by caller, too', async (t) => {
  const read = () => Promise.reject(new ServiceUnavailableException())
  const app = await createApp(t, { store: changedStore(memoryStore(), { owned: { read } }) })
  for (const path of ['?scope=2', '/me']) {
    const { status, headers } = await as(app, 'alice')('GET', path)
    t.match([status, headers.vary], [503, /^Cookie, Authorization/], path)
    t.equal(headers['cache-control'], 'no-store', path)
  }
})

test('decision 26: the list answers 304 until something changes, and varies by caller', async (t) => {
  const app = await createApp(t, { selfService: true })
  const alice = as(app, 'alice')
  const first = await alice('GET', '')
  t.equal(first.headers['cache-control'], 'private, no-cache')
  t.equal(first.headers.vary, 'Cookie, Authorization, Accept-Encoding')
  const tag = String(first.headers.etag)
  t.equal((await alice('GET', '', undefined, { 'if-none-match': `"other", W/${tag}` })).status, 304)
  await as(app, 'editor')('PUT', '', put('one'))
  const second = await alice('GET', '', undefined, { 'if-none-match': tag })
  t.equal(second.status, 200)
  t.match(second.text, /"one"/)

  const mine = String((await alice('GET', '?scope=2')).headers.etag)
  t.equal((await alice('GET', '?scope=2', undefined, { 'if-none-match': mine })).status, 304)
  await expectStatuses(t, app, [[200, 'GET', '?scope=2', undefined, 'bob', { 'if-none-match': mine }]])
})

test('definitions and lists are compressed as the client takes it, under a weak tag; nothing is written by that', async (t) => {
  const app = await createApp(t, { selfService: true })
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync }
  for (const path of ['/definitions', '', '?scope=2', '/public']) {
    const url = `/api/settings${path}`
    const get = (headers: object = {}) => app.inject({ url, headers: { 'x-caller': 'alice', ...headers } })
    const plain = await get()
    t.match(String(plain.headers.etag), /^"/, 'strong')
    t.equal(plain.headers['content-encoding'], undefined)
    for (const encoding of ['br', 'gzip'] as const) {
      const accepted = { 'accept-encoding': encoding }
      const answers = await Promise.all([get(accepted), get(accepted)]) // both while none is made yet
      for (const { headers, rawPayload } of answers) {
        t.match(headers, { 'content-encoding': encoding, etag: `W/${plain.headers.etag}` }, path)
        t.equal(String(unpack[encoding](rawPayload)), plain.payload, path)
      }
      const again = await get({ ...accepted, 'if-none-match': answers[0].headers.etag })
      t.equal(again.statusCode, 304)
      t.equal(again.headers.etag, answers[0].headers.etag)
      t.equal(again.headers['content-encoding'], undefined)
    }
  }
  const { headers } = await app.inject({
    url: '/api/settings',
    headers: { 'x-caller': 'alice', 'accept-encoding': 'br' },
  })
  const write = await as(app, 'editor')('PUT', '', put('x'), { 'if-match': String(headers.etag) })
  t.equal(write.status, 412, 'the tag of a list is not that of a setting')
})

test('other definitions or overrides of the same revision have other tags', async (t) => {
  const plain = await createApp(t)
  const locked = await createApp(t, { overrides: { 'app.title': 'Locked' } })
  const tag = String((await as(plain, 'alice')('GET', '')).headers.etag)
  t.equal((await as(locked, 'alice')('GET', '', undefined, { 'if-none-match': tag })).status, 200)
})

test('decision 24: bulks, imports and restores on a condition that does not hold write nothing', async (t) => {
  const app = await createApp(t)
  const editor = as(app, 'editor')
  await editor('PUT', '', put('one'))
  await editor('PUT', '', put('two'))
  const writes = [
    ['PUT', '/bulk', [put('three')]],
    ['PUT', '/bulk?dryRun=true', [put('three')]],
    ['POST', '/import', { format: 1, settings: [put('three')] }],
    ['POST', '/app.title/restore', { scope: 1, revision: 1 }],
  ] as const
  for (const [method, path, body] of writes) {
    for (const header of [{ 'if-match': '"r1"' }, { 'if-none-match': '"r2"' }]) {
      const refused = await editor(method, path, body, header)
      t.match(refused, { status: 412, json: { code: 'PRECONDITION_FAILED' } }, `${method} ${path}`)
      t.equal((await editor('GET', '/app.title?scope=1')).json.value, 'two')
    }
  }
  const empty = { format: 1, settings: [] }
  const target = { scope: 1, revision: 1 }
  const refused = await editor('POST', '/app.title/restore', target, { 'if-match': '"r1"' })
  t.equal(refused.headers.etag, '"r2"')
  await expectStatuses(t, app, [
    [400, 'POST', '/import?revision=2', empty],
    [412, 'POST', '/import', empty, 'editor', { 'if-match': '"r1"' }],
    [204, 'POST', '/app.title/restore', target, 'editor', { 'if-match': '"r2"' }],
    [204, 'PUT', '/bulk', [put('three')], 'editor', { 'if-match': '"r3"' }],
    [200, 'POST', '/import', { format: 1, settings: [put('four')] }, 'editor', { 'if-match': '"r4"' }],
  ])
})

test('HEAD answered 304 says nothing of the length of the content', async (t) => {
  const app = await createApp(t)
  const head = (headers = {}) => app.inject({ method: 'HEAD', url: '/api/settings/public', headers })
  const { headers } = await head()
  const unchanged = await head({ 'if-none-match': headers.etag })
  t.equal(unchanged.statusCode, 304)
  t.equal(unchanged.headers['content-length'], undefined)
  t.equal(unchanged.headers['content-type'], undefined)
  t.equal(unchanged.headers.etag, headers.etag)
})
