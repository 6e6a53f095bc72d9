/** Where values of organisations meet other features: each pair does what the one or the other says, and nothing in between. */
import { defineModule, modules } from '@fastify-modular/core'
import { setting, SettingScope, settings, type SettingsBuilder } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Test, test } from 'tap'
import { memoryStore } from '../support/stores.js'
import { as, createApp, findCaller, members, tenantsOf, tokens } from './app.ts'

const { Application, Tenant } = SettingScope
const more = {
  hidden: setting.text('org.hidden', { displayName: 'Hidden', scope: Tenant, hidden: true, default: 'no' }),
  locked: setting.text('org.locked', { displayName: 'Locked', scope: Tenant, public: true, default: 'no' }),
  needed: setting.text('org.needed', {
    displayName: 'Needed',
    scope: Tenant,
    required: true,
    default: 'yes',
  }),
}
const brand = { key: 'org.brand', value: 'Ours', tenant: 'acme' }

/** An application in which acme has values, and so had the locked one before the host fixed it. */
async function start(t: Test): Promise<FastifyInstance> {
  const app = await createApp(t, { definitions: [tokens, more], overrides: { 'org.locked': 'fixed' } })
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme', actor: 'ada' })
  return app
}

interface Row {
  readonly request: readonly ['GET' | 'PUT' | 'POST' | 'DELETE', string, object?]
  readonly status: number
  readonly code?: string
}

const rows: Readonly<Record<string, Row>> = {
  'a window of a write': { request: ['PUT', '/tenant?confirmWithin=60', brand], status: 400 },
  'a window of a reset': {
    request: ['DELETE', '/tenant/org.brand?tenant=acme&confirmWithin=60'],
    status: 400,
  },
  'a window of a restore': {
    request: ['POST', '/org.brand/restore?confirmWithin=60', { scope: 3, revision: 1, tenant: 'acme' }],
    status: 400,
  },
  'an import': {
    request: ['POST', '/import', { format: 1, settings: [{ key: 'org.brand', scope: 3, value: 'x' }] }],
    status: 400,
    code: 'INVALID_SCOPE',
  },
  'a bulk': {
    request: ['PUT', '/bulk', [{ key: 'org.brand', scope: 3, value: 'x' }]],
    status: 400,
    code: 'INVALID_SCOPE',
  },
  'a locked value': {
    request: ['PUT', '/tenant', { key: 'org.locked', value: 'x', tenant: 'acme' }],
    status: 409,
    code: 'CONFLICT',
  },
  'a reset of a locked value': { request: ['DELETE', '/tenant/org.locked?tenant=acme'], status: 409 },
  'a list with a locked value': {
    request: ['PUT', '/tenant', [brand, { key: 'org.locked', value: 'x', tenant: 'acme' }]],
    status: 409,
  },
  'null for a required value': {
    request: ['PUT', '/tenant', { key: 'org.needed', value: null, tenant: 'acme' }],
    status: 422,
    code: 'SETTING_VALIDATION',
  },
  'a reset of a required value': { request: ['DELETE', '/tenant/org.needed?tenant=acme'], status: 204 },
  'a hidden setting': {
    request: ['PUT', '/tenant', { key: 'org.hidden', value: 'x', tenant: 'acme' }],
    status: 204,
  },
  'a setting of everybody': {
    request: ['PUT', '/tenant', { key: 'app.title', value: 'x', tenant: 'acme' }],
    status: 400,
    code: 'ARGUMENT',
  },
  'one key twice': { request: ['PUT', '/tenant', [brand, brand]], status: 400, code: 'ARGUMENT' },
  'an unknown key': {
    request: ['PUT', '/tenant', { key: 'org.none', value: 'x', tenant: 'acme' }],
    status: 404,
  },
  'an unknown key in a list': {
    request: ['PUT', '/tenant', [{ key: 'org.none', value: 'x', tenant: 'acme' }]],
    status: 422,
  },
  'an organisation that is no text': { request: ['PUT', '/tenant', { ...brand, tenant: null }], status: 400 },
}

for (const [name, { request, status, code }] of Object.entries(rows)) {
  test(`an organisation meets ${name}: ${status}`, async (t) => {
    const app = await start(t)
    const answer = await as(app, 'root', 'acme')(...request)
    t.equal(answer.status, status, answer.text)
    if (code !== undefined) t.equal(answer.json.code, code)
    const acme = await app.settings.forTenant('acme')
    t.same([acme.get(tokens.brand), acme.get(more.locked)], ['Acme', 'fixed'], 'what was there is there')
  })
}

test('a locked value wins over that of an organisation in every face, and says so', async (t) => {
  const app = await start(t)
  const root = as(app, 'root', 'acme')
  for (const path of ['/tenant', '/me?all=true'])
    t.match(
      (await root('GET', path)).json.find(({ key }: { key: string }) => key === 'org.locked'),
      { value: 'fixed', locked: true, source: 'locked' },
      path,
    )
  t.equal((await as(app, null, 'acme')('GET', '/public')).json['org.locked'], 'fixed')
  t.equal((await root('GET', '/org.locked/resolved')).json, 'fixed')
})

test('export, import and revert leave values of organisations where they are', async (t) => {
  const app = await start(t)
  await app.settings.set(tokens.brand, 'Everybody', { actor: 'root' })
  const root = as(app, 'root', 'acme')
  const file = (await root('GET', '/export')).json
  t.match(file.settings, [{ key: 'org.brand', scope: Application, value: 'Everybody' }])
  t.equal(file.settings.length, 1)
  const empty = { format: 1, settings: [] }
  t.equal((await root('POST', '/import?mode=replace', empty)).status, 200)
  t.equal((await app.settings.forTenant('acme')).get(tokens.brand), 'Acme')
  const { entries } = (await root('GET', '/org.brand/history?scope=3')).json
  t.equal((await root('POST', `/changes/${entries[0].revision}/revert`, {})).status, 404)
  const window = { tenant: 'acme', confirmWithin: 60 }
  await t.rejects(app.settings.set(tokens.brand, 'x', window), { name: 'ArgumentException' })
  const list = [{ key: 'org.brand', scope: Tenant, value: 'x' }]
  await t.rejects(app.settings.setMany(list, window), { name: 'ArgumentException' })
})

test('a person who is erased has no name left in the values of an organisation, which stay', async (t) => {
  const app = await start(t)
  const ada = as(app, 'ada', 'acme')
  const rowOf = async () =>
    (await ada('GET', '/tenant')).json.find(({ key }: { key: string }) => key === 'org.brand')
  t.match(await rowOf(), { value: 'Acme', updatedBy: 'ada' }, 'it is in memory now')
  await app.settings.eraseUser('ada')
  t.match(await rowOf(), { value: 'Acme', updatedBy: null })
  t.notMatch((await ada('GET', '/org.brand/history?scope=3')).text, /"ada"/)
  await app.settings.eraseTenant('acme')
  t.match(await rowOf(), { value: 'None', isOverridden: false, version: 0 })
})

test('a list for an organisation may hold what nobody may change, where it has that value already', async (t) => {
  const store = memoryStore()
  const before = await createApp(t, { store, definitions: [tokens, more] })
  await before.settings.set(more.locked, 'Acme', { tenant: 'acme' })
  await before.settings.set(tokens.limit, 'ten', { tenant: 'acme' })
  await before.settings.set(tokens.limit, 'five')
  const app = await createApp(t, {
    store,
    definitions: [tokens, more],
    overrides: { 'org.locked': 'fixed' },
  })
  const ada = as(app, 'ada', 'acme')
  const locked = { key: 'org.locked', value: 'Acme', tenant: 'acme' }
  const limit = { key: 'org.limit', value: 'ten', tenant: 'acme' }
  t.equal((await ada('PUT', '/tenant', [brand, locked, limit])).status, 204)
  t.equal((await app.settings.forTenant('acme')).get(tokens.brand), 'Ours')
  for (const [other, status] of [
    [{ ...locked, value: 'x' }, 409],
    [{ ...limit, value: 'five' }, 403],
    [{ ...limit, value: null }, 403],
  ] as const)
    t.equal((await ada('PUT', '/tenant', [{ ...brand, value: 'No' }, other])).status, status)
  t.equal((await app.settings.forTenant('acme')).get(tokens.brand), 'Ours')
})

test('a value of their own that a person restores meets the rules in their organisation', async (t) => {
  const { User } = SettingScope
  const most = setting.number('org.most', { displayName: 'Most', scope: Tenant, default: 10 })
  const mine = setting.number('my.number', { displayName: 'Mine', scope: User, default: 1 })
  const module = defineModule({
    name: 'numbers',
    settings: (builder: SettingsBuilder) =>
      builder
        .addAll({ most, mine })
        .rule({ most, mine }, (values) => (values.mine > values.most ? 'Too many.' : [])),
  })
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  await app.register(settings, { findCaller, selfService: true, tenants: tenantsOf(members) })
  await app.register(modules, { modules: [module] })
  const ada = as(app, 'ada', 'acme')
  for (const value of [8, 3]) t.equal((await ada('PUT', '/me', { key: 'my.number', value })).status, 204)
  const { entries } = (await ada('GET', '/my.number/history?scope=2')).json
  await app.settings.set(most, 5, { tenant: 'acme' })
  t.equal((await ada('PUT', '/me', { key: 'my.number', value: 8 })).status, 422)
  const restored = { scope: 2, revision: entries[1].revision }
  t.equal((await ada('POST', '/my.number/restore', restored)).status, 422)
  t.equal((await as(app, 'ada')('POST', '/my.number/restore', restored)).status, 204, 'without one')
})

test('a removal that a person restores is answered with what their organisation has', async (t) => {
  const app = await createApp(t)
  await app.settings.set(tokens.theme, 'dark', { tenant: 'acme' })
  const ada = as(app, 'ada', 'acme')
  await ada('PUT', '/me', { key: 'user.theme', value: 'blue' })
  await ada('DELETE', '/me/user.theme')
  const [removal] = (await ada('GET', '/user.theme/history?scope=2')).json.entries
  await ada('PUT', '/me', { key: 'user.theme', value: 'red' })
  const body = { scope: 2, revision: removal.revision }
  const shown = { prefer: 'return=representation' }
  t.match((await ada('POST', '/user.theme/restore', body, shown)).json, {
    value: 'dark',
    source: 'tenant',
    isOverridden: false,
  })
})

test('one value of a person inherits from their organisation, as the list of all of them does', async (t) => {
  const app = await createApp(t)
  await app.settings.set(tokens.theme, 'dark', { tenant: 'acme' })
  const ada = as(app, 'ada', 'acme')
  const inherited = { value: 'dark', source: 'tenant', isOverridden: false, version: 0, userId: 'ada' }
  t.match((await ada('GET', '/me')).json[0], inherited)
  t.match((await ada('GET', '/user.theme?scope=2')).json, inherited)
  t.match((await as(app, 'ada', 'bolt')('GET', '/user.theme?scope=2')).json, { value: 'light' })
  t.match(await app.settings.record('user.theme', { userId: 'ada', tenant: 'acme' }), inherited)
  t.match(await app.settings.record('user.theme', { userId: 'ada' }), { value: 'light', source: 'default' })
  await app.settings.set(tokens.theme, 'blue', { userId: 'ada' })
  t.match((await ada('GET', '/user.theme?scope=2')).json, { value: 'blue', source: 'user' })
})

test('what was a secret when it was stored is not in the page of anybody, nor in what everybody may read', async (t) => {
  const store = memoryStore()
  const encryption = { keys: [{ id: 'k1', key: Buffer.from(Array.from({ length: 32 }, (_, n) => n)) }] }
  const definitionsWith = (how: { readonly sensitive: true } | { readonly public: true }) => ({
    brand: setting.text('x.brand', { displayName: 'Brand', scope: Tenant, ...how }),
    theme: setting.text('x.theme', { displayName: 'Theme', scope: SettingScope.User, ...how }),
  })
  const before = await createApp(t, {
    store,
    encryption,
    definitions: [definitionsWith({ sensitive: true })],
  })
  await before.settings.set('x.brand', 'CANARY of acme', { tenant: 'acme' })
  await before.settings.set('x.theme', 'CANARY of acme', { tenant: 'acme' })
  await before.settings.set('x.theme', 'CANARY of ada', { userId: 'ada' })
  const app = Fastify()
  t.teardown(() => app.close())
  const definitions = [definitionsWith({ public: true })]
  await app.register(settings, { store, encryption, definitions, findCaller, tenants: tenantsOf(members) })
  app.get('/page', async (request) => app.settings.publicDataElement(request))
  await app.settings.set('x.brand', 'Everybody')
  for (const caller of [undefined, 'bob', 'ada'])
    for (const tenant of [undefined, 'acme'])
      for (const url of ['/page', '/api/settings/public']) {
        const named = { ...(caller && { 'x-caller': caller }), ...(tenant && { 'settings-tenant': tenant }) }
        const { statusCode, payload } = await app.inject({ url, headers: named })
        t.equal(statusCode, 200)
        t.notMatch(payload, 'CANARY', JSON.stringify([url, named]))
        if (tenant === undefined) t.match(payload, '"x.brand":"Everybody"')
      }
})
