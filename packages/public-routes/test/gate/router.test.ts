/** The gate and the router agree on the route of a request, over raw sockets and under every router option. */
import { publicRoutes } from '@fastify-modular/public-routes'
import Fastify from 'fastify'
import { test } from 'tap'
import { gatedApp, headerProvider, lenientRouter, listen, Sink } from '../support/application.ts'
import { rawRequest } from '../support/raw-request.ts'

const alice = { 'x-user': 'alice' }

/** Target, status for an anonymous caller, status for a signed-in one. */
const targets: readonly [string, number, number][] = [
  ['/open', 200, 200],
  ['/open?x=1', 200, 200],
  ['/open/', 401, 200],
  ['//open', 401, 200],
  ['/OPEN', 401, 200],
  ['/open;a=b', 401, 200],
  ['/%6fpen', 401, 200],
  ['/open#x', 401, 200],
  ['http://localhost/open', 401, 200],
  ['*open', 401, 200],
  ['*api/secret/42', 401, 200],
  ['/api/secret/42;/tilejson', 401, 200],
  ['/api/secret/42?/tilejson', 401, 200],
  ['/api/secret/42#/tilejson', 401, 200],
  ['/api/secret/42%2ftilejson', 401, 200],
  ['/static/../api/secret/42', 401, 200],
  ['/static/%2e%2e/api', 401, 200],
  ['/static//a', 401, 200],
  ['/static/a.css', 200, 200],
  ['/api/items/7/tilejson', 200, 200],
  ['/api/items/urn%3Aa/tilejson', 200, 200],
]

test('decision 31: what is not canonical is not public under a lenient router, and still works when signed in', async (t) => {
  const app = await gatedApp(t, {}, { routerOptions: lenientRouter })
  app.publicRoutes.addExact('/open').addPrefix('/static/').addSuffix('/tilejson')
  for (const url of ['/open', '/static/*', '/api/secret/:id', '/api/items/:id/tilejson'])
    app.get(url, async () => 'ran')
  const port = await listen(app)
  for (const [target, anonymous, signedIn] of targets) {
    t.equal((await rawRequest({ port, target })).status, anonymous, target)
    t.equal((await rawRequest({ port, target, headers: alice })).status, signedIn, `${target} as alice`)
  }
})

test('decision 31: an encoded reserved character does not move a literal rule to a route with a parameter', async (t) => {
  const app = await gatedApp(t)
  app.publicRoutes.addExact('/jobs:run')
  app.get('/jobs::run', async () => 'run')
  app.get('/:page', async () => 'page')
  const port = await listen(app)
  t.equal((await rawRequest({ port, target: '/jobs:run' })).body, 'run')
  t.equal((await rawRequest({ port, target: '/jobs%3Arun' })).status, 401)
})

test('an earlier hook that rewrites the URL opens nothing', async (t) => {
  const sink = new Sink()
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['x-rewrite'] !== undefined) request.raw.url = String(request.headers['x-rewrite'])
    done()
  })
  await app.register(publicRoutes, { provider: headerProvider, env: false })
  app.publicRoutes.addExact('/open').addPrefix('/api/secret/public').addExact('/jobs::run')
  app.get('/open', sink.handler('open'))
  app.get('/jobs::run', sink.handler('run')) // serves /jobs:run
  app.get('/api/secret/:id', sink.handler('secret'))
  const port = await listen(app)
  for (const rewrite of ['/open', '/static/a', '/health', '/api/secret/public']) {
    const answer = await rawRequest({
      port,
      target: '/api/secret/42',
      headers: { 'x-rewrite': rewrite, 'x-number': '1' },
    })
    t.equal(answer.status, 401, rewrite)
  }
  const headers = { 'x-rewrite': '/jobs::run', 'x-number': '1' }
  t.equal((await rawRequest({ port, target: '/jobs:run', headers })).status, 401, 'the URL, not the path')
  t.equal(sink.ranFor(1), undefined)
})

test('an earlier hook that changes the method or the parameters opens nothing', async (t) => {
  const sink = new Sink()
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['x-method'] !== undefined) request.raw.method = String(request.headers['x-method'])
    if (request.headers['x-params'] === 'null') request.params = null
    done()
  })
  await app.register(publicRoutes, { provider: headerProvider, env: false })
  app.publicRoutes.addExact('/notes', { methods: ['GET'] }).addPrefix('/items/', { methods: ['GET'] })
  app.get('/notes', sink.handler('read'))
  app.post('/notes', sink.handler('write'))
  app.get('/items/:id', sink.handler('item'))
  const port = await listen(app)
  const written = await rawRequest({
    port,
    method: 'POST',
    target: '/notes',
    headers: { 'x-method': 'GET', 'x-number': '1' },
  })
  t.equal(written.status, 401)
  t.equal(sink.ranFor(1), undefined)
  t.equal((await rawRequest({ port, target: '/items/1', headers: { 'x-params': 'null' } })).status, 401)
  t.equal((await rawRequest({ port, target: '/items/1' })).status, 200)
})

test('rewriteUrl: rules are matched with the path that the router used', async (t) => {
  const app = await gatedApp(t, {}, { rewriteUrl: ({ url = '/' }) => url.replace(/^\/tenant/, '') })
  app.publicRoutes.addExact('/open')
  app.get('/open', async () => 'open')
  app.get('/secret', async () => 'secret')
  const port = await listen(app)
  t.equal((await rawRequest({ port, target: '/tenant/open' })).status, 200)
  t.equal((await rawRequest({ port, target: '/tenant/secret' })).status, 401)
  t.equal((await rawRequest({ port, target: '/tenant//open' })).status, 401)
})

test('the root route of a prefixed plugin is public with and without its slash, as the rules say', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  app.publicRoutes.addSubtree('/shop').addExact('/docs/')
  for (const prefix of ['/shop', '/docs', '/closed']) {
    await app.register(async (scope) => void scope.get('/', async () => 'ran'), { prefix })
  }
  const port = await listen(app)
  for (const [target, status] of [
    ['/shop', 200],
    ['/shop/', 200],
    ['/docs', 401],
    ['/docs/', 200],
    ['/closed', 401],
    ['/closed/', 401],
  ] as const) {
    t.equal((await rawRequest({ port, target })).status, status, target)
    t.equal((await rawRequest({ port, target, method: 'HEAD' })).status, status, `HEAD ${target}`)
  }
})

test('host constraints: the rule opens whichever route the router chose', async (t) => {
  const app = await gatedApp(t)
  app.publicRoutes.addExact('/x')
  app.get('/x', { constraints: { host: 'a.example' } }, async () => 'a')
  app.get('/y', { constraints: { host: 'a.example' } }, async () => 'a')
  const port = await listen(app)
  t.equal((await rawRequest({ port, target: '/x', headers: { host: 'a.example' } })).status, 200)
  t.equal((await rawRequest({ port, target: '/y', headers: { host: 'a.example' } })).status, 401)
})

test('not-found handlers registered before and after, inside and outside of scopes, are gated', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const notFound = async () => ({ handler: 'not found' })
  void app.register(async (scope) => void scope.setNotFoundHandler(notFound), { prefix: '/early' })
  await app.register(publicRoutes, { provider: headerProvider, env: false })
  void app.register(async (scope) => void scope.setNotFoundHandler(notFound), { prefix: '/late' })
  app.setNotFoundHandler(notFound)
  for (const url of ['/early/missing', '/late/missing', '/missing']) {
    t.equal((await app.inject(url)).statusCode, 401, url)
    t.equal((await app.inject({ url, headers: { 'x-user': 'alice' } })).statusCode, 200, url)
  }
})
