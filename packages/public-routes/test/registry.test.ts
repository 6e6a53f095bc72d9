import { PublicRouteRegistry } from '#src/registry.js'
import { PublicRoute } from '@fastify-modular/public-routes'
import { test } from 'tap'
import { gatedApp } from './support/application.ts'

const registry = () => new PublicRouteRegistry()

test('an empty registry matches nothing', async (t) => {
  t.equal(registry().matches('GET', '/'), false)
})

test('S 5.5: every helper returns the registry and adds one rule of its kind', async (t) => {
  const rules = registry()
    .addPrefix('/a')
    .addExact('/b')
    .addSuffix('/c')
    .addRegex('/d')
    .addSubtree('/e')
    .add('/g')
    .add('/h', { kind: 'exact' })
    .add(new PublicRoute('/i', { kind: 'suffix' }))
    .add(/\/j/)
  t.same(
    rules.list().map(({ route, source }) => [route.kind, route.pattern, source]),
    [
      ['prefix', '/a', 'application'],
      ['exact', '/b', 'application'],
      ['suffix', '/c', 'application'],
      ['regex', '/d', 'application'],
      ['subtree', '/e', 'application'],
      ['prefix', '/g', 'application'],
      ['exact', '/h', 'application'],
      ['suffix', '/i', 'application'],
      ['regex', String.raw`\/j`, 'application'],
    ],
  )
  t.ok(rules.list().every(({ route }) => route instanceof PublicRoute))
})

test('S 5.6: a GET-only regex rule matches GET and no other verb', async (t) => {
  const rules = registry().addRegex('/api/items/[^/]+/tilejson$', { methods: ['get'] })
  t.equal(rules.matches('GET', '/api/items/42/tilejson'), true)
  for (const method of ['PATCH', 'POST', 'DELETE', 'HEAD', 'OPTIONS']) {
    t.equal(rules.matches(method, '/api/items/42/tilejson'), false, method)
  }
})

test('either of two rules opens a path, each for its own methods', async (t) => {
  const rules = registry()
    .addExact('/a', { methods: ['GET'] })
    .addExact('/a', { methods: ['POST'] })
  const matches = (method: string) => rules.matches(method, '/a')
  t.same([matches('GET'), matches('POST'), matches('PUT')], [true, true, false])
})

test('decision 33: options beside a prebuilt PublicRoute are refused instead of ignored', async (t) => {
  const code = 'FMOD_PUBLIC_ROUTES_INVALID_RULE'
  t.throws(() => registry().add(new PublicRoute('/x'), { methods: ['GET'] }), { code })
  t.throws(() => registry().add(new PublicRoute('/x'), { kind: 'exact' }), { code })
  t.equal(registry().add(new PublicRoute('/x'), { methods: undefined }).list().length, 1)
})

test('a PublicRoute of another copy of the package is recognised', async (t) => {
  const { allows, matches, toString } = PublicRoute.prototype
  const foreign = Object.assign(Object.create({ allows, matches, toString }), new PublicRoute('/x'))
  t.notOk(foreign instanceof PublicRoute)
  t.equal(registry().add(foreign).matches('GET', '/x/1'), true)
})

test('the list is a copy: changing it changes no rule', async (t) => {
  const rules = registry().addExact('/a')
  Array.prototype.pop.call(rules.list())
  t.equal(rules.list().length, 1)
})

test('decision 33: rules freeze when the application is ready', async (t) => {
  const app = await gatedApp(t)
  app.publicRoutes.addExact('/in-time')
  await app.ready()
  t.throws(() => app.publicRoutes.addExact('/late'), {
    code: 'FMOD_CORE_ADDED_LATE',
    message: /exact \/late/,
  })
  t.equal(app.publicRoutes.matches('GET', '/late'), false)
})

test('decision 56: rules of an encapsulated plugin are global, and have its name', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  await app.register(
    async function blog(scope) {
      scope.publicRoutes.addExact('/absolute')
    },
    { prefix: '/blog' },
  )
  t.same(
    app.publicRoutes.list().map(({ route, source }) => [route.pattern, source]),
    [['/absolute', 'plugin blog']],
  )
})
