/** Which declaration counts for a route and method. */
import { defineModule, modules } from '@fastify-modular/core'
import { publicRoutes } from '@fastify-modular/public-routes'
import Fastify from 'fastify'
import { test } from 'tap'
import { callerNamed, gatedApp } from '../support/application.ts'
import { booted, ran, statuses, withModules } from '../support/declared-application.ts'

test("decision 71: a route's own declaration holds against every rule, and a warning names both", async (t) => {
  const lines: string[] = []
  const app = Fastify({
    logger: { level: 'warn', stream: { write: (line: string) => void lines.push(line) } },
  })
  t.teardown(() => app.close())
  await app.register(publicRoutes, {
    provider: { authenticate: ({ headers }) => callerNamed(headers['x-user']), publicPaths: ['/legacy'] },
    env: { SM_AUTH_PUBLIC_PATHS: '["/env"]' },
  })
  app.permissions.add('Notes.Edit')
  app.publicRoutes
    .addSubtree('/notes')
    .addSuffix('/tail')
    .addRegex('/regex/.*')
    .addExact('/exact')
    .addRoute('/route')
  const urls = [
    '/notes/a',
    '/notes/:id',
    '/x/tail',
    '/regex/a',
    '/exact',
    '/route',
    '/env/a',
    '/legacy/a',
    '/health',
  ]
  for (const url of urls) app.get(url, { config: { access: 'Notes.Edit' } }, ran)
  await app.ready()
  for (const url of urls) {
    t.equal(await statuses(app, url.replace(':id', '7')), '401/403', url)
    const head = await app.inject({ method: 'HEAD', url })
    t.equal(head.statusCode, 401, `HEAD ${url}`)
  }
  const warning = lines.find((line) => line.includes('declare more than public-route rules'))
  t.ok(warning)
  for (const name of ['* subtree /notes', '/env', '/legacy', 'GET /notes/:id', 'GET /exact'])
    t.match(warning, name)
  t.same(
    app.publicRoutes.surface().flatMap(({ openings }) => openings),
    [],
    'nothing is public',
  )
  t.match(await app.publicRoutes.explain('GET', '/notes/a'), {
    decision: 'protected',
    reason: /declares Notes\.Edit/,
  })
})

test('a rule opens what its paths and methods name; the option and defaults count for the rest', async (t) => {
  const app = await booted(
    t,
    async (scope) => {
      scope.publicRoutes.addRegex('/items/7$', { methods: ['GET'] }).addExact('/page', { methods: ['GET'] })
      scope.get('/items/:id', ran)
      scope.post('/items/:id', ran)
      scope.get('/page', ran)
    },
    { access: { '/items/*': 'Notes.Edit', 'GET /page': 'Ops.Read' } },
  )
  t.equal(await statuses(app, '/items/7'), '200/200')
  t.equal(await statuses(app, '/items/8'), '401/403')
  t.equal(await statuses(app, '/items/7', 'POST'), '401/403')
  t.equal(await statuses(app, '/page'), '200/200')
})

test("a route's own declaration counts before the option, the option before defaults", async (t) => {
  const app = await booted(
    t,
    async (root) => {
      await root.register(async (scope) => {
        scope.publicRoutes.default('public')
        scope.get('/own', { config: { access: 'Ops.Read' } }, ran)
        scope.get('/own-public', { config: { public: true } }, ran)
        scope.get('/option', ran)
        scope.get('/default', ran)
        await scope.register(async (inner) => {
          inner.get('/inherited', ran)
        })
        await scope.register(async (inner) => {
          inner.get('/nearest', ran)
          inner.publicRoutes.default('Ops.Read')
        })
      })
      root.get('/outside', ran)
    },
    { access: { 'GET /own': 'public', '/own-public': 'Ops.Read', '/option': 'Notes.Edit' } },
  )
  const expected = {
    '/own': '401/403',
    '/own-public': '200/200',
    '/option': '401/403',
    '/default': '200/200',
    '/inherited': '200/200',
    '/nearest': '401/403',
    '/outside': '401/200',
  }
  for (const [url, status] of Object.entries(expected)) t.equal(await statuses(app, url), status, url)
  const head = await app.inject({ method: 'HEAD', url: '/default' })
  t.equal(head.statusCode, 200, 'a derived HEAD route follows GET')
})

test('the most specific entry of the option counts', async (t) => {
  const app = await booted(
    t,
    async (scope) => {
      for (const url of ['/docs', '/docs/a', '/docs/secret/b', '/docs/exact', '/docs-internal'])
        scope.get(url, ran)
      scope.post('/docs/exact', ran)
    },
    {
      access: {
        '/docs/*': 'public',
        '/docs/secret/*': 'Ops.Read',
        '/docs/exact': 'Notes.Edit',
        'GET /docs/exact': 'signed-in',
      },
    },
  )
  t.equal(await statuses(app, '/docs'), '200/200')
  t.equal(await statuses(app, '/docs/a'), '200/200')
  t.equal(await statuses(app, '/docs/secret/b'), '401/403')
  t.equal(await statuses(app, '/docs/exact'), '401/200')
  t.equal(await statuses(app, '/docs/exact', 'POST'), '401/403')
  t.equal(await statuses(app, '/docs-internal'), '401/200')
})

test('the default of a module counts for its routes alone, whatever it registers within', async (t) => {
  const app = await withModules(t, [
    defineModule({
      name: 'notes',
      permissions: (builder) => builder.add('Notes.Read', { displayName: 'Read notes' }),
      access: 'Notes.Read',
      plugin: async (scope) => {
        scope.get('/notes', ran)
        await scope.register(async (inner) => {
          inner.get('/notes/inner', ran)
        })
        await scope.register(async (inner) => {
          inner.publicRoutes.default('public')
          inner.get('/notes/open', ran)
        })
      },
    }),
    defineModule({
      name: 'plain',
      plugin: async (scope) => {
        scope.get('/plain', ran)
      },
    }),
  ])
  app.get('/after', ran)
  const expected = {
    '/notes': '401/403',
    '/notes/inner': '401/403',
    '/notes/open': '200/200',
    '/plain': '401/200',
    '/after': '401/200',
  }
  for (const [url, status] of Object.entries(expected)) t.equal(await statuses(app, url), status, url)
  t.same(app.permissions.list(), [
    { name: 'Notes.Read', displayName: 'Read notes', description: '', source: 'module "notes"' },
  ])
})

test('the default of a module counts before that of a plugin around it', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  await app.register(async (around) => {
    around.publicRoutes.default('public')
    await around.register(modules, {
      modules: [
        defineModule({ name: 'a', access: 'signed-in', plugin: async (scope) => void scope.get('/a', ran) }),
        defineModule({ name: 'b', plugin: async (scope) => void scope.get('/b', ran) }),
      ],
    })
  })
  t.equal(await statuses(app, '/a'), '401/200')
  t.equal(await statuses(app, '/b'), '200/200')
})

test('routes from before the gate declare their access in the same way', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/early', { config: { access: 'Notes.Edit' } }, ran)
  app.get('/early-open', { config: { access: 'public' } }, ran)
  app.get('/early-option/:id', ran)
  await app.register(publicRoutes, {
    provider: { authenticate: ({ headers }) => callerNamed(headers['x-user']) },
    env: false,
    access: { '/early-option/:id': 'Notes.Edit' },
  })
  app.permissions.add('Notes.Edit')
  t.equal(await statuses(app, '/early'), '401/403')
  t.equal(await statuses(app, '/early-open'), '200/200')
  t.equal(await statuses(app, '/early-option/1'), '401/403')
  t.equal((await app.inject({ method: 'HEAD', url: '/early-open' })).statusCode, 200)
  t.equal((await app.inject({ method: 'HEAD', url: '/early', headers: { 'x-user': 'a' } })).statusCode, 403)
})
