/** Values of organisations over HTTP: who reads and writes them, and that no other organisation's values are in an answer. */
import { setting, SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { createApp as createWithout } from '../support/app.ts'
import { as, createApp, members, tenantsOf, tokens } from './app.ts'

const { Tenant } = SettingScope
const brand = (value: unknown, tenant = 'acme') => ({ key: 'org.brand', value, tenant })

test('a value of an organisation holds for its members, above the default of all and below their own', async (t) => {
  const app = await createApp(t)
  const [ada, bob, eve] = [as(app, 'ada', 'acme'), as(app, 'bob', 'acme'), as(app, 'eve', 'bolt')]
  const valueOf = async (who: typeof ada, key: string) => (await who('GET', `/${key}/resolved`)).json
  t.equal((await ada('PUT', '/tenant', brand('Acme'))).status, 204)
  t.equal((await ada('PUT', '/tenant', { key: 'user.theme', value: 'dark', tenant: 'acme' })).status, 204)
  t.same([await valueOf(bob, 'org.brand'), await valueOf(bob, 'user.theme')], ['Acme', 'dark'])
  t.same([await valueOf(eve, 'org.brand'), await valueOf(eve, 'user.theme')], ['None', 'light'])
  t.same(await valueOf(as(app, 'bob'), 'user.theme'), 'light', 'without an organisation')
  await bob('PUT', '/me', { key: 'user.theme', value: 'blue' })
  t.equal(await valueOf(bob, 'user.theme'), 'blue')
  t.match((await bob('GET', '/me')).json, [
    { value: 'blue', source: 'user', inheritedValue: 'dark', inheritedSource: 'tenant' },
  ])
  const inherited = { value: 'dark', isOverridden: false, source: 'tenant' }
  const prefer = { prefer: 'return=representation' }
  t.match((await bob('DELETE', '/me/user.theme', undefined, prefer)).json, inherited, 'cleared')
  t.match((await bob('GET', '/me')).json, [{ value: 'dark', isOverridden: false, source: 'tenant' }])
  const all = (await bob('GET', '/me?all=true')).json
  t.match(
    all.find(({ key }: { key: string }) => key === 'org.brand'),
    { value: 'Acme', tenant: 'acme', source: 'tenant', updatedBy: null },
  )
  t.equal((await ada('DELETE', '/tenant/org.brand?tenant=acme')).status, 204)
  t.equal(await valueOf(bob, 'org.brand'), 'None')
})

test('the right to write is that of the caller in this very organisation', async (t) => {
  const app = await createApp(t)
  const rows: readonly (readonly [number, string | null, string | undefined])[] = [
    [204, 'ada', 'acme'],
    [403, 'ada', 'bolt'],
    [403, 'bob', 'acme'],
    [404, 'bob', 'bolt'],
    [404, 'ada', undefined],
    [401, null, 'acme'],
    [204, 'root', 'bolt'],
    [404, 'editor', 'acme'],
  ]
  for (const [status, caller, tenant] of rows) {
    const request = as(app, caller, tenant)
    const name = `${caller} in ${tenant}`
    t.equal((await request('PUT', '/tenant', brand('x', tenant))).status, status, name)
    t.equal((await request('GET', '/tenant')).status, status === 204 ? 200 : status, name)
    t.equal((await request('DELETE', `/tenant/org.brand?tenant=${tenant}`)).status, status, name)
    for (const path of ['/org.brand?scope=3', '/org.brand/history?scope=3'])
      t.equal((await request('GET', path)).status, status === 204 ? 200 : status, `${name} ${path}`)
    const restore = { scope: 3, revision: 1, tenant }
    if (status !== 204)
      t.equal((await request('POST', '/org.brand/restore', restore)).status, status, `${name} restores`)
  }
  // A limit of a plan: no member has the permission that its definition names.
  const limit = { key: 'org.limit', value: 'more', tenant: 'acme' }
  t.equal((await as(app, 'ada', 'acme')('PUT', '/tenant', limit)).status, 403)
  await app.settings.set(tokens.limit, 'more', { tenant: 'acme' })
  t.equal((await app.settings.forTenant('acme')).get(tokens.limit), 'more')
})

test('an inspection shows a member what holds in the organisation, with the right to write it or without', async (t) => {
  const app = await createApp(t, { tenants: tenantsOf({ ...members, editor: { acme: [] } }) })
  await as(app, 'ada', 'acme')('PUT', '/tenant', brand('Acme'))
  const inspect = async (tenant?: string) =>
    (await as(app, 'editor', tenant)('GET', '/org.brand/inspect')).json
  t.equal((await as(app, 'editor', 'acme')('GET', '/org.brand/resolved')).json, 'Acme')
  t.match(await inspect('acme'), {
    value: 'Acme',
    source: 'tenant',
    layers: [
      { source: 'locked', isSet: false },
      { source: 'tenant', value: 'Acme', isSet: true },
      { source: 'application', isSet: false },
      { source: 'default', value: 'None' },
    ],
  })
  for (const tenant of ['bolt', undefined])
    t.match(await inspect(tenant), { value: 'None', source: 'default' })
})

test('what was meant for another organisation is refused, and nothing is written', async (t) => {
  const app = await createApp(t)
  const root = as(app, 'root', 'bolt')
  const requests = [
    root('PUT', '/tenant', brand('Acme')),
    root('PUT', '/tenant', [brand('Bolt', 'bolt'), { ...brand('Acme'), key: 'org.secret' }]),
    root('DELETE', '/tenant/org.brand?tenant=acme'),
    root('POST', '/org.brand/restore', { scope: 3, revision: 1, tenant: 'acme' }),
  ]
  for (const { status, json } of await Promise.all(requests)) {
    t.equal(status, 409)
    t.equal(json.code, 'TENANT_CHANGED')
  }
  const incomplete = [
    { body: { key: 'org.brand', value: 'x' }, field: 'tenant' },
    { body: [brand('Bolt', 'bolt'), { key: 'org.brand', value: 'x' }], field: '1.tenant' },
    { body: { ...brand('Bolt', 'bolt'), tenant: 5 }, field: 'tenant' },
  ]
  for (const { body, field } of incomplete) {
    const { status, json } = await root('PUT', '/tenant', body)
    t.same([status, Object.keys(json.errors)], [400, [field]])
  }
  t.equal((await root('DELETE', '/tenant/org.brand')).status, 400)
  t.same((await root('GET', '?scope=3')).json, [])
})

test('a list is written all or nothing, with conflicts and messages by key', async (t) => {
  const app = await createApp(t)
  const ada = as(app, 'ada', 'acme')
  const theme = { key: 'user.theme', value: 'dark', tenant: 'acme' }
  t.match((await ada('PUT', '/tenant?dryRun=true', [brand('Acme'), theme])).json, [
    { change: 'create' },
    { change: 'create' },
  ])
  const stale = await ada('PUT', '/tenant', [brand('Acme'), { ...theme, version: 7 }])
  t.match([stale.status, stale.json.conflicts], [409, [{ key: 'user.theme', scope: 3, version: 0 }]])
  const invalid = await ada('PUT', '/tenant', [brand('Acme'), { ...theme, value: 5 }])
  t.match([invalid.status, Object.keys(invalid.json.errors)], [422, ['user.theme']])
  t.same((await ada('GET', '?scope=3')).json, [])
  const prefer = { prefer: 'return=representation' }
  t.match((await ada('PUT', '/tenant', [brand('Acme'), theme], prefer)).json, [
    { key: 'org.brand', value: 'Acme', scope: 3, tenant: 'acme', source: 'tenant', userId: null },
    { key: 'user.theme', value: 'dark' },
  ])
  t.equal((await ada('PUT', '/tenant', { key: 'app.title', value: 'x', tenant: 'acme' })).status, 400)
  t.equal((await ada('PUT', '', { key: 'org.brand', value: 'x', scope: 3 })).status, 400)
  t.equal((await as(app, 'root')('PUT', '', { key: 'org.brand', value: 'All', scope: 1 })).status, 204)
  t.equal((await as(app, 'eve', 'bolt')('GET', '/org.brand/resolved')).json, 'All')
})

test('tags count the organisation: no answer of one is taken for that of another', async (t) => {
  const { now } = Date
  t.teardown(() => (Date.now = now))
  const app = await createApp(t)
  const start = now()
  Date.now = () => start // equal versions
  for (const tenant of ['acme', 'bolt'])
    await app.settings.set(tokens.brand, `only ${tenant}`, { tenant, actor: 'root' })
  Date.now = now
  for (const path of ['/me', '/me?all=true', '/tenant', '?scope=3', '/public', '/org.brand?scope=3']) {
    const first = await as(app, 'root', 'acme')('GET', path)
    const tag = String(first.headers.etag)
    t.equal(first.status, 200, path)
    const other = await as(app, 'root', 'bolt')('GET', path, undefined, { 'if-none-match': tag })
    t.equal(other.status, 200, path)
    t.not(other.headers.etag, tag)
    t.notMatch(other.text, /only acme/, path)
    if (path !== '/org.brand?scope=3') t.match(other.headers.vary, /settings-tenant/, path)
  }
  const { headers } = await as(app, 'root', 'acme')('GET', '/org.brand?scope=3')
  const condition = { 'if-match': String(headers.etag) }
  t.equal((await as(app, 'root', 'bolt')('PUT', '/tenant', brand('x', 'bolt'), condition)).status, 412)
  t.equal((await as(app, 'root', 'acme')('PUT', '/tenant', brand('x'), condition)).status, 204)
})

test('a secret of an organisation is in no answer, and its history has none', async (t) => {
  const app = await createApp(t)
  const ada = as(app, 'ada', 'acme')
  await ada('PUT', '/tenant', { key: 'org.secret', value: 'hush', tenant: 'acme' })
  t.equal((await app.settings.forTenant('acme')).get(tokens.secret), 'hush')
  for (const caller of ['ada', 'bob', 'root'])
    for (const path of [
      '/tenant',
      '?scope=3',
      '/me?all=true',
      '/org.secret/resolved',
      '/org.secret/inspect',
      '/org.secret/history?scope=3',
    ])
      t.notMatch((await as(app, caller, 'acme')('GET', path)).text, /hush/, `${caller} ${path}`)
  t.equal((await as(app, 'root', 'acme')('GET', '/org.secret/resolved')).status, 403)
})

test('strangers read what is public in the organisation, and nothing else', async (t) => {
  const app = await createApp(t)
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme' })
  await app.settings.set(tokens.theme, 'dark', { tenant: 'acme' })
  const stranger = as(app, null, 'acme')
  const { json, headers } = await stranger('GET', '/public')
  t.same(json, { 'org.brand': 'Acme' })
  t.match(
    [headers['cache-control'], headers.vary],
    ['private, no-cache', /Cookie, Authorization, settings-tenant/],
  )
  t.same((await as(app, null)('GET', '/public')).json, { 'org.brand': 'None' })
  t.equal((await stranger('GET', '/me')).status, 401)
})

test('history of an organisation: its own members have names, others do not', async (t) => {
  const app = await createApp(t)
  const ada = as(app, 'ada', 'acme')
  await ada('PUT', '/tenant', brand('One'))
  await app.settings.set(tokens.brand, 'Two', { tenant: 'acme', actor: 'operator', note: 'a note of ours' })
  const { entries } = (await ada('GET', '/org.brand/history?scope=3')).json
  t.match(entries, [
    { newValue: 'Two', actor: null, note: null, tenant: 'acme', userId: null },
    { newValue: 'One', actor: 'ada' },
  ])
  const tag = String((await ada('GET', '/org.brand?scope=3')).headers.etag)
  const restore = { scope: 3, revision: entries[1].revision, tenant: 'acme' }
  t.equal((await ada('POST', '/org.brand/restore', { ...restore, tenant: undefined })).status, 400)
  t.equal((await ada('POST', '/org.brand/restore', restore, { 'if-match': tag })).status, 204)
  t.equal((await app.settings.forTenant('acme')).get(tokens.brand), 'One')
  for (const path of ['/org.brand/history', '/changes', '/export'])
    t.notMatch((await as(app, 'editor')('GET', path)).text, /One|Two/, path)
})

test('without the option nothing of it exists', async (t) => {
  const perTenant = setting.text('x.y', { displayName: 'X', scope: Tenant })
  await t.rejects(createWithout(t, { definitions: [perTenant] }), /needs the option tenants/)
  const app = await createWithout(t)
  const request = async (method: 'GET' | 'PUT', url: string, payload?: object) =>
    (
      await app.inject({
        method,
        url: `/api/settings${url}`,
        headers: { 'x-caller': 'admin' },
        ...(payload && { payload }),
      })
    ).statusCode
  t.equal(await request('GET', '/tenant'), 400, 'a key, without its scope')
  t.equal(await request('GET', '?scope=3'), 400)
  t.equal(await request('GET', '?scope=Tenant'), 400)
  t.equal(await request('GET', '/app.theme?scope=3'), 400)
  t.equal(await request('PUT', '', { key: 'app.theme', scope: 3, value: 'dark' }), 400)
  await t.rejects(app.settings.set('app.theme', 'dark', { tenant: 'acme' }), { name: 'ArgumentException' })
  const openapi = JSON.stringify(app.settings.definitions.getDefinitions())
  t.notMatch(openapi, /enant/)
})

test('what the host answers for nobody does not count for somebody, and a failure is no answer', async (t) => {
  const asked: (string | null)[] = []
  const app = await createApp(t, {
    tenants: {
      of(_request, caller) {
        asked.push(caller?.id ?? null)
        if (caller?.id === 'eve') throw new Error('The directory is down.')
        if (caller?.id === 'ada') return Object.assign(Object.create(null), { id: 5 })
        return caller === null ? 'acme' : null
      },
    },
  })
  await app.settings.set(tokens.theme, 'dark', { tenant: 'acme' })
  t.equal((await as(app, 'bob', 'acme')('GET', '/user.theme/resolved')).json, 'light')
  t.same(asked, ['bob'], 'once a request')
  for (const caller of ['eve', 'ada'])
    t.equal((await as(app, caller, 'acme')('GET', '/user.theme/resolved')).status, 500, caller)
})
