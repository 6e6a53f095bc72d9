/** Which declaration counts for a route and method. */
import { defineModule, modules } from '@fastify-modular/core'
import { publicRoutes } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { test } from 'tap'
import { callerNamed, gatedApp } from '../support/application.ts'
import { gate, loggingApp } from '../support/logging-application.ts'
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
  t.notOk(
    app.access
      .table()
      .some(
        ({ access, openedBy, url }) => url !== '(no route)' && (access === 'public' || openedBy.length > 0),
      ),
    'nothing is public',
  )
  t.match(await app.access.explain('GET', '/notes/a'), {
    decision: 'protected',
    reason: /declares Notes\.Edit/,
  })
})

test('a rule opens what its paths and methods name; the option and defaults count for the rest', async (t) => {
  const app = await booted(
    t,
    async (scope) => {
      scope.publicRoutes.addRegex('/items/7$', { methods: ['GET'] })
      scope.get('/items/:id', ran)
      scope.post('/items/:id', ran)
    },
    { access: { '/items/*': 'Notes.Edit' } },
  )
  t.equal(await statuses(app, '/items/7'), '200/200')
  t.equal(await statuses(app, '/items/8'), '401/403')
  t.equal(await statuses(app, '/items/7', 'POST'), '401/403')
})

test("a route's own declaration counts before the option, the option before defaults", async (t) => {
  const app = await booted(
    t,
    async (root) => {
      await root.register(async (scope) => {
        scope.access.setDefault('public')
        scope.get('/closed/own', { config: { access: 'Ops.Read' } }, ran)
        scope.get('/opened/own', { config: { access: 'public' } }, ran)
        scope.get('/closed/other', ran)
        scope.get('/opened/other', ran)
        scope.get('/option', ran)
        scope.get('/default', ran)
        await scope.register(async (inner) => {
          inner.get('/inherited', ran)
        })
        await scope.register(async (inner) => {
          inner.get('/nearest', ran)
          inner.access.setDefault('Ops.Read')
        })
      })
      root.get('/outside', ran)
    },
    { access: { '/closed/*': 'public', '/opened/*': 'Ops.Read', '/option': 'Notes.Edit' } },
  )
  const expected = {
    '/closed/own': '401/403',
    '/opened/own': '200/200',
    '/closed/other': '200/200',
    '/opened/other': '401/403',
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
      permissions: { 'Notes.Read': 'Read notes' },
      access: 'Notes.Read',
      plugin: async (scope) => {
        scope.get('/notes', ran)
        await scope.register(async (inner) => {
          inner.get('/notes/inner', ran)
        })
        await scope.register(async (inner) => {
          inner.access.setDefault('public')
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
    around.access.setDefault('public')
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

test("decision 93: the option counts before the framework's own public paths, which it may close and open", async (t) => {
  const app = await booted(
    t,
    async (scope) => {
      scope.get('/health', ran)
      scope.get('/api/docs/json', ran)
      scope.get('/api/docs/:page', ran)
      scope.get('/static/*', ran)
      scope.get('/openapi.json', ran)
    },
    {
      defaults: true,
      access: {
        '/api/docs/*': 'signed-in',
        '/health': 'Ops.Read',
        'GET /static/*': 'signed-in',
        '/openapi.json': 'public',
      },
    },
  )
  t.equal(await statuses(app, '/health'), '401/403')
  t.equal(await statuses(app, '/api/docs/json'), '401/200')
  t.equal(await statuses(app, '/api/docs/intro'), '401/200')
  t.equal(await statuses(app, '/static/a.css'), '401/200')
  t.equal(await statuses(app, '/openapi.json'), '200/200')
})

test('decision 93: the option closes the HEAD of a route with several methods, too', async (t) => {
  const app = await booted(
    t,
    async (scope) => void scope.route({ method: ['GET', 'POST'], url: '/api/docs/x', handler: ran }),
    { defaults: true, access: { '/api/docs/*': 'signed-in' } },
  )
  for (const method of ['GET', 'POST', 'HEAD'] as const)
    t.equal((await app.inject({ method, url: '/api/docs/x' })).statusCode, 401, method)
})

test('decision 93: an entry that closes what a rule opens stops the boot; both are named', async (t) => {
  const boot = async (open: (app: FastifyInstance) => void, entry: string) => {
    const app = await gatedApp(t, { defaults: false, access: { [entry]: 'signed-in' } })
    open(app)
    app.get('/docs/a', ran)
    app.get('/docs/:page', ran)
    await app.ready()
  }
  for (const [open, rule] of [
    [(app) => void app.publicRoutes.addSubtree('/docs'), '* subtree /docs'],
    [(app) => void app.publicRoutes.addExact('/docs/a', { methods: ['GET'] }), 'GET exact /docs/a'],
  ] satisfies [(app: FastifyInstance) => void, string][]) {
    await t.rejects(boot(open, '/docs/*'), {
      code: 'FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT',
      message: `option access "/docs/*" closes GET /docs/a, and the rule "${rule}" (application) opens it`,
    })
  }
  await boot((app) => void app.publicRoutes.addRegex('/docs/[0-9]+$'), '/docs/:page') // closes the other pages
})

const warningOf = (warnings: readonly Readonly<Record<string, unknown>>[]) =>
  warnings.find(
    ({ msg }) =>
      msg === 'entries of the option access have no effect on these routes, or on some of their paths',
  )

test('an entry that closes what a rule opens in part gives a warning that names both', async (t) => {
  const { app, warnings } = loggingApp(t)
  await gate(app, { defaults: false, access: { '/docs/*': 'signed-in' } })
  app.publicRoutes.addRegex('/docs/[0-9]+$')
  app.get('/docs/:page', ran)
  app.get('/docs/a/b', ran)
  await app.ready()
  t.match(warningOf(warnings())?.['entries'], [
    'option access "/docs/*" closes GET /docs/:page, and the rule "* regex /docs/[0-9]+$" (application) could open some of its paths',
  ])
})

test('an entry for a route that declares another access itself stops the boot; one for everything below a path may have effect elsewhere', async (t) => {
  const boot = async (entry: string, access: string) => {
    const { app, warnings } = loggingApp(t)
    await gate(app, { defaults: false, access: { [entry]: access } })
    app.permissions.add('Ops.Read')
    app.get('/docs/own', { config: { access: 'public' } }, ran)
    app.get('/docs/other', ran)
    await app.ready()
    return warningOf(warnings())?.['entries']
  }
  const text = (entry: string) =>
    `option access "${entry}" says Ops.Read about GET /docs/own, and the route config declares public`
  for (const entry of ['/docs/own', 'GET /docs/own', '/docs/own/*']) {
    await t.rejects(boot(entry, 'Ops.Read'), {
      code: 'FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT',
      message: text(entry),
    })
  }
  t.equal(await boot('/docs/*', 'Ops.Read'), undefined, 'it has effect on the other route')
  t.equal(await boot('/docs/own', 'public'), undefined, 'they agree')
})

test('an entry takes effect where one of the routes of its URL, apart by a constraint or by method, declares nothing', async (t) => {
  const { app, warnings } = loggingApp(t)
  await gate(app, { defaults: false, access: { 'GET /v': 'signed-in', '/m': 'signed-in' } })
  app.get('/v', { constraints: { version: '1.0.0' }, config: { access: 'public' } }, ran)
  app.get('/v', { constraints: { version: '2.0.0' } }, ran)
  app.get('/m', { config: { access: 'public' } }, ran)
  app.post('/m', ran)
  await app.ready()
  const statusOf = async (version: string) =>
    (await app.inject({ url: '/v', headers: { 'accept-version': version } })).statusCode
  t.same([await statusOf('1.0.0'), await statusOf('2.0.0')], [200, 401])
  t.equal((await app.inject('/m')).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url: '/m' })).statusCode, 401)
  t.match(warningOf(warnings())?.['entries'], [/"GET \/v" says signed-in/, /"\/m" says signed-in/])
})

test('an entry that decides nothing because of the environment stops the boot; one that decides elsewhere warns', async (t) => {
  const boot = async (entry: string) => {
    const { app, warnings } = loggingApp(t)
    const env = { SM_AUTH_PUBLIC_PATHS: '["/docs/open"]' }
    await gate(app, { defaults: false, env, access: { [entry]: 'signed-in' } })
    app.get('/docs/open', ran)
    app.get('/docs/other', ran)
    app.get('/docs/open/:page', ran)
    await app.ready()
    return warningOf(warnings())?.['entries']
  }
  for (const entry of ['/docs/open', 'GET /docs/open', '/docs/open/*']) {
    await t.rejects(boot(entry), {
      code: 'FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT',
      message: `option access "${entry}" closes GET /docs/open, and the rule "* prefix /docs/open" (environment`,
    })
  }
  t.match(await boot('/docs/*'), [/closes GET \/docs\/open, and/, /closes GET \/docs\/open\/:page, and/])
})

test('an entry whose routes all have more specific entries decides nothing, and stops the boot', async (t) => {
  const boot = async (access: Record<string, string>) => {
    const app = await gatedApp(t, { defaults: false, access })
    app.get('/docs/a', ran)
    app.get('/docs/b', ran)
    await app.ready()
  }
  await boot({ '/docs/*': 'signed-in', '/docs/a': 'public' })
  await t.rejects(boot({ '/docs/*': 'signed-in', '/docs/a': 'public', 'GET /docs/b': 'public' }), {
    code: 'FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT',
    message: 'option access "/docs/*" yields to more specific entries on each of its routes',
  })
})

test('entries compare URLs as the router does: letter case, and one trailing slash', async (t) => {
  const routes: FastifyPluginAsync = async (scope) => {
    scope.get('/admin/a', ran)
    scope.get('/Admin/b', ran)
    scope.get('/page/', ran)
  }
  const options = { defaults: false, access: { '/admin/*': 'Ops.Read', '/page': 'Ops.Read' } }
  const app = await gatedApp(t, options, {
    routerOptions: { caseSensitive: false, ignoreTrailingSlash: true },
  })
  app.permissions.add('Ops.Read')
  await app.register(routes)
  for (const url of ['/admin/a', '/admin/b', '/Admin/b', '/ADMIN/B', '/page', '/page/']) {
    t.equal(await statuses(app, url), '401/403', url)
  }
  const exact = await gatedApp(t, { ...options, access: { '/admin/*': 'Ops.Read', '/page/': 'Ops.Read' } })
  exact.permissions.add('Ops.Read')
  await exact.register(routes)
  t.equal(await statuses(exact, '/admin/a'), '401/403')
  t.equal(await statuses(exact, '/Admin/b'), '401/200', 'another URL for this router')
})
