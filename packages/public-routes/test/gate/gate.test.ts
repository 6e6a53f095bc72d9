import { defineModule, modules } from '@fastify-modular/core'
import { injectAs, enableTestCallers } from '@fastify-modular/core/testing'
import { test } from 'tap'
import { gatedApp, headerProvider, Sink } from '../support/application.ts'

test('S 5.1: a known caller reaches routes and missing paths; an anonymous one neither, by no verb', async (t) => {
  const app = await gatedApp(t)
  app.get('/private', async () => 'ran')
  for (const [url, status] of [
    ['/private', 200],
    ['/missing', 404],
  ] as const) {
    t.equal((await app.inject({ url, headers: { 'x-user': 'alice' } })).statusCode, status)
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)
      t.equal((await app.inject({ method, url })).statusCode, 401, `${method} ${url}`)
  }
})

const defaults: readonly [string, boolean][] = [
  ['/', true],
  ['/health', true],
  ['/health/', true],
  ['/health/live', true],
  ['/healthcare', false],
  ['/health-records/1', false],
  ['/static/app.css', true],
  ['/static', false],
  ['/i18n/de.json', true],
  ['/api/docs', true],
  ['/api/docs/json', true],
  ['/api/docs-internal', false],
  ['/api/redoc', true],
  ['/openapi.json', true],
  ['/openapi.jsonp', false],
  ['/anything', false],
]

for (const [url, isPublic] of defaults) {
  test(`S 5.3.1, decision 32: ${url} is ${isPublic ? 'public' : 'protected'} by default`, async (t) => {
    const app = await gatedApp(t)
    app.get('/*', async () => 'ran')
    t.equal((await app.inject(url)).statusCode, isPublic ? 200 : 401)
  })
}

test('decision 32: defaults: false opens nothing', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  app.get('/*', async () => 'ran')
  for (const [url] of defaults) t.equal((await app.inject(url)).statusCode, 401, url)
})

test('S 5.6: a GET-only regex route stays 401 for POST and PATCH', async (t) => {
  const sink = new Sink()
  const app = await gatedApp(t)
  app.publicRoutes.addRegex('/api/items/[^/]+/tilejson$', { methods: ['GET'] })
  app.get('/api/items/:id/tilejson', sink.handler('read'))
  app.patch('/api/items/:id/tilejson', sink.handler('write'))
  app.post('/api/items/:id', sink.handler('write'))
  t.equal((await app.inject('/api/items/42/tilejson')).statusCode, 200)
  for (const [method, url] of [
    ['PATCH', '/api/items/42/tilejson'],
    ['POST', '/api/items/42/tilejson'],
    ['POST', '/api/items/42'],
  ] as const) {
    t.equal((await app.inject({ method, url, headers: { 'x-number': 'n' } })).statusCode, 401)
  }
  t.equal(sink.ranFor('n'), undefined)
})

test('S 5.6: a prefix rule exposes all verbs', async (t) => {
  const app = await gatedApp(t)
  app.publicRoutes.addPrefix('/api/items/')
  app.route({ method: ['GET', 'PATCH'], url: '/api/items/:id', handler: async () => 'ran' })
  t.equal((await app.inject({ method: 'PATCH', url: '/api/items/42' })).statusCode, 200)
})

test("S 5.3.3: the provider's own public paths are prefixes for every verb", async (t) => {
  const app = await gatedApp(t, {
    provider: { ...headerProvider, publicPaths: ['/users/login', '/users/register'] },
  })
  app.all('/*', async () => 'ran')
  t.equal((await app.inject('/users/login')).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url: '/users/register/step-2' })).statusCode, 200)
  t.equal((await app.inject('/users')).statusCode, 401)
})

test('S 5.5: modules contribute public routes in dependency order, and each rule names its module', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  const notes = defineModule({
    name: 'notes',
    dependsOn: ['base'],
    publicRoutes: (registry) => registry.addRegex('/api/notes/[^/]+/share$', { methods: ['GET'] }),
    plugin: async (scope) => {
      scope.get('/api/notes/:id/share', async () => 'shared')
      scope.patch('/api/notes/:id/share', async () => 'changed')
    },
  })
  const base = defineModule({ name: 'base', publicRoutes: (registry) => registry.addExact('/about') })
  await app.register(modules, { modules: [notes, base] })
  t.same(
    app.publicRoutes.list().map(({ source }) => source),
    ['module "base"', 'module "notes"'],
  )
  t.equal((await app.inject('/api/notes/1/share')).statusCode, 200)
  t.equal((await app.inject({ method: 'PATCH', url: '/api/notes/1/share' })).statusCode, 401)
})

test('S 5.4: a public path resolves the caller of a valid session and never redirects an anonymous one', async (t) => {
  const app = await gatedApp(t, { provider: { ...headerProvider, loginUrl: '/login' } })
  app.get('/login', { config: { access: 'public' } }, async () => 'login')
  app.get('/news', { config: { access: 'public' } }, async ({ caller }) => ({ caller: caller?.id ?? null }))
  const browser = { accept: 'text/html' }
  t.same((await app.inject({ url: '/news', headers: browser })).json(), { caller: null })
  t.same((await app.inject({ url: '/news', headers: { ...browser, 'x-user': 'alice' } })).json(), {
    caller: 'alice',
  })
})

test("decision 31: a suffix matches a parameter's value, unless it begins with a slash", async (t) => {
  const app = await gatedApp(t)
  app.publicRoutes.addSuffix('/tilejson').addSuffix('.css')
  app.get('/api/items/:id/tilejson', async () => 'tile')
  app.get('/api/settings/:key', async () => 'setting')
  app.get('/files/*', async () => 'file')
  t.equal((await app.inject('/api/items/42/tilejson')).statusCode, 200)
  t.equal((await app.inject('/api/settings/tilejson')).statusCode, 401)
  t.equal((await app.inject('/files/a/tilejson')).statusCode, 401)
  t.equal((await app.inject('/api/settings/a.css')).statusCode, 200)
  t.equal((await app.inject('/api/settings/a.css.txt')).statusCode, 401)
})

test('the gate runs before the body is parsed and before validation', async (t) => {
  const app = await gatedApp(t)
  app.post('/x', { schema: { body: { type: 'object', required: ['a'] } } }, async () => 'ran')
  const bad = {
    method: 'POST',
    url: '/x',
    payload: '{',
    headers: { 'content-type': 'application/json' },
  } as const
  t.equal((await app.inject(bad)).statusCode, 401)
  t.equal((await app.inject({ ...bad, headers: { ...bad.headers, 'x-user': 'alice' } })).statusCode, 400)
})

test('callers of injectAs pass the gate, and a guessed header does not', async (t) => {
  const app = await gatedApp(t, { provider: { authenticate: () => null } })
  enableTestCallers(app)
  app.get('/me', async ({ caller }) => caller)
  const alice = { id: 'alice', permissions: ['Settings.Update'] }
  t.same((await injectAs(app, alice, '/me')).json(), alice)
  t.equal(
    (await app.inject({ url: '/me', headers: { 'x-fastify-modular-test-caller': 'alice' } })).statusCode,
    401,
  )
})

test('without enableTestCallers the test header means nothing', async (t) => {
  const app = await gatedApp(t, { provider: { authenticate: () => null } })
  t.equal(
    (await app.inject({ url: '/me', headers: { 'x-fastify-modular-test-caller': 'x' } })).statusCode,
    401,
  )
})

test('a request that a time-out already answered is not let in by a late provider', async (t) => {
  const sink = new Sink()
  let release = () => {}
  const waiting = new Promise<void>((resolve) => (release = resolve))
  const app = await gatedApp(t, {
    provider: {
      authenticate: async () => {
        await waiting
        return { id: 'alice' }
      },
    },
  })
  app.get('/slow', { handlerTimeout: 20 }, sink.handler('slow'))
  const answer = await app.inject({ url: '/slow', headers: { 'x-number': '1' } })
  release()
  await new Promise(setImmediate)
  t.equal(answer.statusCode, 503)
  t.equal(sink.ranFor(1), undefined)
})
