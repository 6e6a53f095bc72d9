/** Which declaration counts for a route and method, and what the boot refuses. */
import { defineModule, modules, type Module } from '@fastify-modular/core'
import { publicRoutes, type PublicRoutesOptions } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { test, type Test } from 'tap'
import { callerNamed, gatedApp } from '../support/application.ts'

const ran = async () => 'ran'

/** The status for an anonymous caller and for one that holds nothing: 401/403 is a permission, 401/200 signed in. */
async function statuses(app: FastifyInstance, url: string, method: 'GET' | 'POST' = 'GET'): Promise<string> {
  const anonymous = await app.inject({ method, url })
  const known = await app.inject({ method, url, headers: { 'x-user': 'alice' } })
  return `${anonymous.statusCode}/${known.statusCode}`
}

async function booted(
  t: Test,
  addRoutes: FastifyPluginAsync,
  options: Partial<PublicRoutesOptions> = {},
): Promise<FastifyInstance> {
  const app = await gatedApp(t, { defaults: false, ...options })
  for (const name of ['Notes.Edit', 'Ops.Read']) app.permissions.add(name)
  await app.register(fp(addRoutes))
  return app
}

async function bootError(
  t: Test,
  boot: () => Promise<FastifyInstance>,
): Promise<{ code: string; message: string }> {
  try {
    await (await boot()).ready()
  } catch (err) {
    return err as { code: string; message: string }
  }
  t.fail('the application booted')
  return { code: '', message: '' }
}

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

/** A gated application with these modules. */
async function withModules(
  t: Test,
  list: readonly Module[],
  options: Partial<PublicRoutesOptions> = {},
): Promise<FastifyInstance> {
  const app = await gatedApp(t, { defaults: false, ...options })
  await app.register(modules, { modules: list })
  return app
}

test('the default of a module counts for its routes alone, also where its plugin has no scope', async (t) => {
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
      name: 'flat',
      access: 'public',
      plugin: fp(async (scope) => {
        scope.get('/flat', ran)
      }),
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
    '/flat': '200/200',
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

const unusable: readonly (readonly [string, Record<string, unknown>])[] = [
  ['a number', { access: 1 }],
  ['null', { access: null }],
  ['a boolean', { access: true }],
  ['an empty text', { access: '' }],
  ['a wildcard', { access: 'Notes.*' }],
  ['a verb', { access: 'get' }],
  ['an array', { access: ['Notes.Edit'] }],
  ['an empty object', { access: {} }],
  ['an empty list', { access: { allOf: [] } }],
  ['a reserved word in a list', { access: { anyOf: ['public', 'Notes.Edit'] } }],
  ['allOf and anyOf', { access: { allOf: ['Notes.Edit'], anyOf: ['Ops.Read'] } }],
  ['a list and a verb', { access: { allOf: ['Notes.Edit'], GET: 'public' } }],
  ['a verb in lower case', { access: { get: 'public' } }],
  ['a verb that the route does not serve', { access: { POST: 'public' } }],
  ['HEAD, which follows GET', { access: { GET: 'public', HEAD: 'signed-in' } }],
  ['a verb with an unusable access', { access: { GET: { GET: 'public' } } }],
  ['access and public', { access: 'public', public: true }],
  ['access and public: false', { access: 'signed-in', public: false }],
  ['an unusable documented permission', { documents: 'public' }],
]

for (const [name, config] of unusable) {
  test(`the boot refuses ${name} as the access of a route`, async (t) => {
    const error = await bootError(t, () => booted(t, async (app) => void app.get('/notes', { config }, ran)))
    t.equal(error.code, 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS')
    t.match(error.message, 'GET /notes')
  })
}

const unusableEntries: readonly Record<string, unknown>[] = [
  { docs: 'public' },
  { 'get /docs': 'public' },
  { 'FETCH /docs': 'public' },
  { '/docs': { GET: 'public' } },
  { '/docs': 5 },
  { '/*': 'public' },
]

for (const access of unusableEntries) {
  test(`the boot refuses the entry ${JSON.stringify(access)} of the option access`, async (t) => {
    const error = await bootError(t, () =>
      booted(t, async (app) => void app.get('/docs', ran), { access: access as Record<string, string> }),
    )
    t.equal(error.code, 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS')
  })
}

test('the boot refuses entries of the option access that meet no route, with all of their names', async (t) => {
  const error = await bootError(t, () =>
    booted(t, async (app) => void app.get('/docs', ran), {
      access: { '/docs': 'public', 'POST /docs': 'Ops.Read', '/doc/*': 'public' },
    }),
  )
  t.equal(error.code, 'FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_ROUTE')
  t.match(error.message, 'POST /docs')
  t.match(error.message, '/doc/*')
  t.notMatch(error.message, '"/docs"')
})

test('the boot refuses permissions that nothing declares, and names the nearest one', async (t) => {
  const error = await bootError(t, () =>
    booted(
      t,
      async (app) => {
        app.get('/a', { config: { access: 'Notes.Edti' } }, ran)
        app.get('/b', { config: { access: { anyOf: ['Ops.Read', 'Billing.Refund'] } } }, ran)
        app.get('/c', { config: { access: 'signed-in', documents: 'Ops.Raed' } }, ran)
      },
      { access: { '/c': 'Ops.Rad' } },
    ),
  )
  t.equal(error.code, 'FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION')
  t.match(error.message, '"Notes.Edti" by GET /a (did you mean "Notes.Edit"?)')
  t.match(error.message, '"Billing.Refund" by GET /b')
  t.match(error.message, '"Ops.Raed" by GET /c (did you mean "Ops.Read"?)')
  t.match(error.message, '"Ops.Rad" by option access "/c" (did you mean "Ops.Read"?)')
})

test('undeclared: refuse names every route that nothing speaks for', async (t) => {
  const error = await bootError(t, () =>
    booted(
      t,
      async (app) => {
        app.publicRoutes.addRegex('/some/7$').addSubtree('/all')
        app.get('/some/:id', ran)
        app.get('/all/:id', ran)
        app.get('/own', { config: { access: 'signed-in' } }, ran)
        app.get('/shorthand', { config: { public: true } }, ran)
        app.route({
          method: ['GET', 'POST'],
          url: '/half',
          config: { access: { GET: 'public' } },
          handler: ran,
        })
        app.get('/forgotten', ran)
      },
      { undeclared: 'refuse' },
    ),
  )
  t.equal(error.code, 'FMOD_PUBLIC_ROUTES_UNDECLARED')
  t.same(error.message.match(/^- .*$/gm), [
    '- GET /some/:id: a rule opens some of its paths',
    '- POST /half',
    '- GET /forgotten',
  ])
})

test('undeclared: refuse lets an application start that declares everything', async (t) => {
  const app = await withModules(
    t,
    [defineModule({ name: 'a', access: 'signed-in', plugin: async (scope) => void scope.get('/a', ran) })],
    { undeclared: 'refuse' },
  )
  t.equal(await statuses(app, '/a'), '401/200')
})

test('what objects inherit declares nothing', async (t) => {
  const config = Object.create({ access: 'public', public: true }) as object
  const app = await booted(t, async (scope) => void scope.get('/inherited', { config }, ran))
  t.equal(await statuses(app, '/inherited'), '401/200')
})

test('a default of the root, or a second one, is refused', async (t) => {
  const app = await gatedApp(t)
  t.throws(() => app.publicRoutes.default('public'), { code: 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS' })
  await app.register(async (scope) => {
    scope.publicRoutes.default('public')
    t.throws(() => scope.publicRoutes.default('signed-in'), { code: 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS' })
  })
})

test('a permission is declared once, under a usable name, before the application is ready', async (t) => {
  const app = await gatedApp(t)
  app.permissions.add('Notes.Edit')
  for (const name of [
    'Notes.Edit',
    'public',
    'signed-in',
    'GET',
    'post',
    'Notes.*',
    '',
    'a b',
    'x'.repeat(101),
  ]) {
    t.throws(() => app.permissions.add(name), { code: 'FMOD_PUBLIC_ROUTES_INVALID_PERMISSION' }, name)
  }
  await app.ready()
  t.throws(() => app.permissions.add('Late'), { code: 'FMOD_PUBLIC_ROUTES_INVALID_PERMISSION' })
})
