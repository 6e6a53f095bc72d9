import { test } from 'tap'
import { publicRoutes } from '@fastify-modular/public-routes'
import Fastify from 'fastify'
import { gatedApp, headerProvider, Sink } from '../support/application.ts'

test('explain names the decision, the rule with its source, the route, and why', async (t) => {
  const sink = new Sink()
  const app = await gatedApp(t)
  await app.register(async function tiles(scope) {
    scope.publicRoutes.addRegex('/api/items/[^/]+/tilejson$', { methods: ['GET'] }).addSuffix('/feed')
    scope.get('/api/items/:id/tilejson', sink.handler('tile'))
    scope.get('/api/settings/:key', sink.handler('setting'))
  })
  await app.ready()
  const { explain } = { explain: app.access.explain.bind(app.publicRoutes) }

  t.same(await explain('GET', '/api/items/42/tilejson?x=1'), {
    method: 'GET',
    target: '/api/items/42/tilejson?x=1',
    decision: 'public',
    path: '/api/items/42/tilejson',
    rule: 'GET regex /api/items/[^/]+/tilejson$',
    source: 'plugin tiles',
    route: '/api/items/:id/tilejson',
    status: null,
    reason: 'the rule "GET regex /api/items/[^/]+/tilejson$" (plugin tiles) opens it',
  })
  t.match(await explain('PATCH', '/api/items/42/tilejson'), {
    decision: 'protected',
    route: null,
    rule: 'GET regex /api/items/[^/]+/tilejson$',
    reason: /tiles\) matches the path, but does not open PATCH$/,
  })
  t.match(await explain('GET', '/api/settings/feed'), {
    decision: 'protected',
    rule: '* suffix /feed',
    reason: /matches the path, but does not open GET of the route "\/api\/settings\/:key"/,
  })
  t.match(await explain('GET', '/api/items/42%2Ftilejson'), {
    decision: 'protected',
    path: null,
    reason: /not canonical: it encodes %2F/,
  })
  t.match(await explain('GET', '*api/settings/x'), {
    decision: 'protected',
    route: '/api/settings/:key',
    reason: /does not begin with a slash/,
  })
  t.match(await explain('GET', '/nothing'), {
    decision: 'protected',
    route: null,
    reason: 'no rule matches the path',
  })
  t.match(await explain('GET', '/%zz'), {
    decision: 'rejected',
    status: 400,
    reason: /answered with status 400/,
  })
})

test('explain sees constraints through the headers it is given', async (t) => {
  const app = await gatedApp(t)
  app.get('/v', { config: { access: 'public' }, constraints: { version: '1.0.0' } }, async () => 'one')
  app.get('/v', { constraints: { version: '2.0.0' } }, async () => 'two')
  await app.ready()
  t.match(await app.access.explain('GET', '/v', { headers: { 'accept-version': '1.0.0' } }), {
    decision: 'public',
  })
  t.match(await app.access.explain('GET', '/v', { headers: { 'accept-version': '2.0.0' } }), {
    decision: 'protected',
    reason: 'no rule matches the path',
  })
})

test('explain says when an earlier hook changed the path', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['x-rewrite'] !== undefined) request.raw.url = String(request.headers['x-rewrite'])
    done()
  })
  await app.register(publicRoutes, { provider: headerProvider, env: false })
  app.publicRoutes.addExact('/open')
  app.get('/:page', async () => 'page')
  await app.ready()
  t.match(await app.access.explain('GET', '/secret', { headers: { 'x-rewrite': '/open' } }), {
    decision: 'protected',
    path: '/open',
    rule: '* exact /open',
    reason: /matches the path, but does not open GET of the route "\/:page"/,
  })
})

test('explain runs no handler, calls no provider and leaves nothing waiting', async (t) => {
  const sink = new Sink()
  let calls = 0
  const app = await gatedApp(t, {
    provider: {
      authenticate: () => {
        calls++
        return null
      },
    },
    guests: true,
  })
  app.get('/open', { config: { access: 'public' } }, sink.handler('open'))
  await app.ready()
  for (let round = 0; round < 100; round++)
    await app.access.explain('GET', '/open', { headers: { 'x-number': '1' } })
  t.equal(calls, 0)
  t.equal(sink.ranFor(1), undefined)
  t.equal((await app.inject('/open')).statusCode, 200)
})

test('explain refuses to guess before the application is ready, and runs nothing', async (t) => {
  const sink = new Sink()
  const app = await gatedApp(t)
  app.get('/secret', sink.handler('secret'))
  await t.rejects(app.access.explain('GET', '/secret', { headers: { 'x-number': '1' } }), {
    code: 'FMOD_PUBLIC_ROUTES_NOT_READY',
  })
  t.equal(sink.ranFor(1), undefined)
})
