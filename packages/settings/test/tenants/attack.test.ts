/** What another organisation, and people without a role in it, try with ids, tags, revisions and names. */
import { test } from 'tap'
import { as, createApp, tokens } from './app.ts'

const canary = 'canary-of-acme'

test('old values, changes and exports of an organisation are out of reach for others', async (t) => {
  const app = await createApp(t)
  await app.settings.set(tokens.brand, `${canary}-1`, { tenant: 'acme' })
  await app.settings.set(tokens.brand, `${canary}-2`, { tenant: 'acme' })
  await app.settings.set(tokens.brand, 'Bolt', { tenant: 'bolt' })
  const { entries } = await app.settings.history({ tenant: 'acme' })
  const revisions = entries.map(({ revision }) => revision)
  t.equal(revisions.length, 2)
  const eve = as(app, 'eve', 'bolt')
  const editor = as(app, 'editor')
  for (const revision of revisions) {
    for (const tenant of ['acme', 'bolt', undefined]) {
      const answer = await eve('POST', '/org.brand/restore', { revision, scope: 3, tenant })
      // Revisions of two organisations may be equal: then it is its own value that Bolt gets back.
      if (tenant !== 'bolt') t.ok(answer.status >= 400, `restore ${tenant} ${answer.status}`)
      t.equal((await app.settings.forTenant('bolt')).get(tokens.brand), 'Bolt')
      t.notMatch(answer.text, canary)
    }
    for (const request of [eve, editor, as(app, 'editor', 'acme')]) {
      for (const query of ['', '?dryRun=true', '?force=true']) {
        const answer = await request('POST', `/changes/${revision}/revert${query}`, {})
        t.ok(answer.status >= 400, `revert ${answer.status}`)
        t.notMatch(answer.text, canary)
      }
    }
  }
  const reads = [
    '/',
    '/?scope=3',
    '/tenant',
    '/changes',
    '/export',
    '/me?all=true',
    '/public',
    '/definitions',
  ]
  const ofKey = [
    '/org.brand?scope=3',
    '/org.brand/resolved',
    '/org.brand/history?scope=3',
    '/org.brand/history?scope=1',
  ]
  for (const request of [
    eve,
    editor,
    as(app, 'editor', 'acme'),
    as(app, 'eve', 'acme'),
    as(app, 'eve', 'ACME'),
    as(app, 'eve', 'acme '),
  ])
    for (const path of [...reads, ...ofKey]) t.notMatch((await request('GET', path)).text, canary, path)
  t.equal((await app.settings.forTenant('bolt')).get(tokens.brand), 'Bolt')
})

test('a condition of a list, or of a value of another organisation, is never passed over', async (t) => {
  const app = await createApp(t)
  const ada = as(app, 'ada', 'acme')
  await app.settings.set(tokens.brand, 'One', { tenant: 'acme' })
  const entry = { key: 'org.brand', value: 'Two', tenant: 'acme' }
  const tag = String((await ada('GET', '/org.brand?scope=3')).headers.etag)
  const foreign = String((await as(app, 'eve', 'bolt')('GET', '/org.brand?scope=3')).headers.etag)
  for (const condition of ['"r999"', foreign, '"other"']) {
    const single = await ada('PUT', '/tenant', entry, { 'if-match': condition })
    t.equal(single.status, 412, `single ${condition}`)
    t.notMatch(single.headers.etag, /^"r\d+"$/, 'its tag is that of the organisation')
    const list = await ada('PUT', '/tenant', [entry], { 'if-match': condition })
    t.ok(list.status >= 400, `list ${condition}: ${list.status}`)
    const removed = await ada('DELETE', '/tenant/org.brand?tenant=acme', undefined, { 'if-match': condition })
    t.equal(removed.status, 412)
  }
  t.equal((await app.settings.forTenant('acme')).get(tokens.brand), 'One')
  t.equal((await ada('PUT', '/tenant', entry, { 'if-match': tag })).status, 204)
})

test('ids with odd characters, and an id that is also that of a person, are other organisations', async (t) => {
  const ids = [
    'acme',
    'ACME',
    'acme ',
    'acm\u00e9',
    'acme\u0301',
    '__proto__',
    'constructor',
    'ada',
    "a'; --",
    'a/b?c',
    '\u{1F980}',
    '*',
    '%',
    'acme"',
  ]
  const app = await createApp(t, {
    tenants: { of: ({ headers }) => ids[Number(headers['x-at'] ?? -1)] ?? null },
  })
  const tags = new Set<unknown>()
  for (const id of ids) await app.settings.set(tokens.brand, `of ${id}`, { tenant: id })
  await app.settings.set(tokens.theme, 'dark', { userId: 'ada' })
  const ada = as(app, 'ada')
  for (const [at, id] of ids.entries()) {
    const headers = { 'x-at': String(at) }
    const { json } = await ada('GET', '/me?all=true', undefined, headers)
    t.equal(json.find(({ key }: { key: string }) => key === 'org.brand').value, `of ${id}`)
    const put = await ada('PUT', '/tenant', { key: 'org.brand', value: `by ada ${id}`, tenant: id }, headers)
    t.equal(put.status, 204, id)
    t.match(put.headers.etag, /^"r\d+-[\x21\x23-\x7e]+"$/, 'a tag of one piece (RFC 9110, 8.8.3)')
    tags.add(String(put.headers.etag).replace(/^"r\d+/, ''))
    t.equal((await app.settings.forTenant(id)).get(tokens.brand), `by ada ${id}`)
  }
  t.equal(tags.size, ids.length)
  await app.settings.eraseTenant('ada')
  t.equal((await app.settings.forUser('ada')).get(tokens.theme), 'dark')
  await app.settings.eraseUser('acme')
  t.equal((await app.settings.forTenant('acme')).get(tokens.brand), 'by ada acme')
})

test('an answer of the host that changes between calls counts once, for the whole request', async (t) => {
  let calls = 0
  const of = async () => ({ id: calls++ % 2 === 0 ? 'acme' : 'bolt', permissions: ['TenantSettings.Update'] })
  const app = await createApp(t, { tenants: { of } })
  const ada = as(app, 'ada')
  calls = 0
  t.equal((await ada('PUT', '/tenant', { key: 'org.brand', value: 'Acme', tenant: 'acme' })).status, 204)
  t.equal(calls, 1)
  t.equal((await ada('PUT', '/tenant', { key: 'org.brand', value: 'Acme', tenant: 'acme' })).status, 409)
  t.equal((await app.settings.forTenant('bolt')).get(tokens.brand), 'None')
})
