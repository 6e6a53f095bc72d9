/** Which declaration counts for a route and method. */
import { defineModule, modules } from '@fastify-modular/core'
import { type Access, publicRoutes } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { test, type Test } from 'tap'
import { callerNamed, gatedApp } from '../support/application.ts'
import { gate, loggingApp } from '../support/logging-application.ts'
import { booted, ran, statuses, withModules } from '../support/declared-application.ts'

test("decision 71: a route's own declaration holds against every rule", async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(publicRoutes, {
    provider: { authenticate: ({ headers }) => callerNamed(headers['x-user']), publicPaths: ['/legacy'] },
    env: { SM_AUTH_PUBLIC_PATHS: '["/env"]' },
    permissions: { 'Notes.Edit': 'Edit notes' },
  })
  app.publicRoutes.addSubtree('/notes').addSuffix('/tail').addRegex('/regex/.*').addExact('/exact')
  const urls = ['/notes/a', '/notes/:id', '/x/tail', '/regex/a', '/exact', '/env/a', '/legacy/a', '/health']
  for (const url of urls) app.get(url, { config: { access: 'Notes.Edit' } }, ran)
  await app.ready()
  for (const url of urls) {
    t.equal(await statuses(app, url.replace(':id', '7')), '401/403', url)
    const head = await app.inject({ method: 'HEAD', url })
    t.equal(head.statusCode, 401, `HEAD ${url}`)
  }
  t.notOk(
    app.access
      .table()
      .some(
        ({ access, mayBeOpenedBy, url }) =>
          url !== '(no route)' && (access === 'public' || mayBeOpenedBy.length > 0),
      ),
    'nothing is public',
  )
  t.match(await app.access.explain('GET', '/notes/a'), {
    decision: 'protected',
    reason: /declares Notes\.Edit/,
  })
})

test('a rule opens what its paths and methods name; the option counts for the rest', async (t) => {
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

test("the first of a route's own declaration, rules, the option, the framework's paths and its module counts", async (t) => {
  const options = { defaults: true, access: { '/health/option': 'Ops.Read', '/option': 'signed-in' } }
  const app = await booted(t, async () => {}, options)
  app.publicRoutes.addSubtree('/rule')
  const urls = [
    '/own',
    '/rule/own',
    '/rule/a',
    '/health/own',
    '/health/option',
    '/health/a',
    '/option',
    '/module',
  ]
  await app.register(modules, {
    modules: [
      defineModule({
        name: 'notes',
        access: 'Notes.Edit',
        plugin: async (scope) => {
          for (const url of urls) {
            const config = url.endsWith('/own') ? { access: 'signed-in' } : {}
            scope.get(url, { config }, ran)
          }
        },
      }),
    ],
  })
  app.get('/undeclared', ran)
  const expected = {
    '/own': ['401/200', 'route config'],
    '/rule/own': ['401/200', 'route config'],
    '/rule/a': ['200/200', 'rule "* subtree /rule" (application)'],
    '/health/own': ['401/200', 'route config'],
    '/health/option': ['401/403', 'option access "/health/option"'],
    '/health/a': ['200/200', 'rule "* subtree /health" (framework default)'],
    '/option': ['401/200', 'option access "/option"'],
    '/module': ['401/403', 'access of module "notes"'],
    '/undeclared': ['401/200', 'undeclared'],
  }
  for (const [url, [status, why]] of Object.entries(expected)) {
    t.equal(await statuses(app, url), status, url)
    t.equal(app.access.table().find((row) => row.url === url && row.method === 'GET')?.why, why)
  }
  const head = await app.inject({ method: 'HEAD', url: '/rule/a' })
  t.equal(head.statusCode, 200, 'a derived HEAD route follows GET')
})

/** Who may call the routes of a module with `access`, under an entry of the option; or the error of the boot. */
async function underEntry(t: Test, entry: string, access: Access, ofModule: Access): Promise<string> {
  const names = { 'A.Read': {}, 'B.Read': {}, 'C.Read': {} }
  const app = await gatedApp(t, { defaults: false, permissions: names, access: { [entry]: access } })
  await app.register(modules, {
    modules: [
      defineModule({
        name: 'notes',
        access: ofModule,
        plugin: async (scope) => {
          scope.get('/admin/notes', ran)
          scope.get('/admin/notes/*', ran)
          scope.get('/admin/own', { config: { access: 'public' } }, ran)
        },
      }),
    ],
  })
  app.get('/admin/other', ran)
  try {
    await app.ready()
  } catch (err) {
    return String(err)
  }
  return (
    app.access.table().find(({ method, url }) => method === 'GET' && url === '/admin/notes')?.access ?? ''
  )
}

const entriesOverModules: readonly (readonly [access: Access, ofModule: Access, isAsStrict: boolean])[] = [
  ['public', 'public', true],
  ['public', 'signed-in', false],
  ['public', 'A.Read', false],
  ['signed-in', 'public', true],
  ['signed-in', 'signed-in', true],
  ['signed-in', 'A.Read', false],
  ['A.Read', 'public', true],
  ['A.Read', 'signed-in', true],
  ['A.Read', 'A.Read', true],
  ['B.Read', 'A.Read', false],
  [{ allOf: ['B.Read', 'A.Read'] }, 'A.Read', true],
  [{ anyOf: ['A.Read', 'B.Read'] }, 'A.Read', false],
  ['A.Read', { anyOf: ['A.Read', 'B.Read'] }, true],
  [{ anyOf: ['A.Read', 'C.Read'] }, { anyOf: ['A.Read', 'B.Read'] }, false],
  ['A.Read', { allOf: ['A.Read', 'B.Read'] }, false],
  [{ allOf: ['A.Read', 'B.Read', 'C.Read'] }, { allOf: ['A.Read', 'B.Read'] }, true],
]

for (const [access, ofModule, isAsStrict] of entriesOverModules) {
  const [one, other] = [access, ofModule].map((each) => JSON.stringify(each))
  test(`decision 101: an entry ${one} for routes of a module with ${other} ${isAsStrict ? 'holds' : 'stops the boot'}`, async (t) => {
    const got = await underEntry(t, '/admin/*', access, ofModule)
    if (isAsStrict) t.notMatch(got, /FMOD/)
    else
      t.match(
        got,
        /INVALID_ACCESS.*option access "\/admin\/\*" says .* about GET \/admin\/notes, and the access of module "notes"/,
      )
    t.notMatch(await underEntry(t, '/admin/notes', access, ofModule), /FMOD/, 'it names the whole URL')
    t.notMatch(await underEntry(t, '/admin/notes/*', isAsStrict ? access : ofModule, ofModule), /FMOD/)
  })
}

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

test('the access of a module counts for its routes alone, whatever it registers within', async (t) => {
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
    '/plain': '401/200',
    '/after': '401/200',
  }
  for (const [url, status] of Object.entries(expected)) t.equal(await statuses(app, url), status, url)
  t.same(app.permissions.list(), [
    { name: 'Notes.Read', displayName: 'Read notes', description: '', source: 'module "notes"' },
  ])
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

test('an entry for a route that declares another access itself stops the boot; one for everything below a path may have effect elsewhere', async (t) => {
  const boot = async (entry: string, access: string) => {
    const permissions = { 'Ops.Read': {} }
    const app = await gatedApp(t, { defaults: false, permissions, access: { [entry]: access } })
    app.get('/docs/own', { config: { access: 'public' } }, ran)
    app.get('/docs/other', ran)
    return [await statuses(app, '/docs/own'), await statuses(app, '/docs/other')]
  }
  const text = (entry: string) =>
    `option access "${entry}" says Ops.Read about GET /docs/own, and the route config declares public`
  for (const entry of ['/docs/own', 'GET /docs/own', '/docs/own/*']) {
    await t.rejects(boot(entry, 'Ops.Read'), {
      code: 'FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT',
      message: text(entry),
    })
  }
  t.same(await boot('/docs/*', 'Ops.Read'), ['200/200', '401/403'], 'it has effect on the other route')
  t.same(await boot('/docs/own', 'public'), ['200/200', '401/200'], 'they agree')
})

test('an entry takes effect where one of the routes of its URL, apart by a constraint or by method, declares nothing', async (t) => {
  const app = await gatedApp(t, { defaults: false, access: { 'GET /v': 'signed-in', '/m': 'signed-in' } })
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
})

test('an entry that decides nothing because of the environment stops the boot; one that decides elsewhere does not', async (t) => {
  const boot = async (entry: string) => {
    const { app, warnings } = loggingApp(t)
    const env = { SM_AUTH_PUBLIC_PATHS: '["/docs/open"]' }
    await gate(app, { defaults: false, env, access: { [entry]: 'signed-in' } })
    app.get('/docs/open', ran)
    app.get('/docs/other', ran)
    app.get('/docs/open/:page', ran)
    await app.ready()
    return warnings().flatMap(({ routes }) => routes)
  }
  for (const entry of ['/docs/open', 'GET /docs/open', '/docs/open/*']) {
    await t.rejects(boot(entry), {
      code: 'FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT',
      message: `option access "${entry}" closes GET /docs/open, and the rule "* prefix /docs/open" (environment`,
    })
  }
  const rule = '"* prefix /docs/open"'
  t.same(await boot('/docs/*'), [`GET /docs/open by ${rule}`, `GET /docs/open/:page by ${rule}`])
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
    message: 'option access "/docs/*" yields to more specific entries',
  })
})

test('entries compare URLs as the router does: letter case, and one trailing slash', async (t) => {
  const routes: FastifyPluginAsync = async (scope) => {
    scope.get('/admin/a', ran)
    scope.get('/Admin/b', ran)
    scope.get('/page/', ran)
  }
  const permissions = { 'Ops.Read': {} }
  const options = { defaults: false, permissions, access: { '/admin/*': 'Ops.Read', '/page': 'Ops.Read' } }
  const app = await gatedApp(t, options, {
    routerOptions: { caseSensitive: false, ignoreTrailingSlash: true },
  })
  await app.register(routes)
  for (const url of ['/admin/a', '/admin/b', '/Admin/b', '/ADMIN/B', '/page', '/page/']) {
    t.equal(await statuses(app, url), '401/403', url)
  }
  const exact = await gatedApp(t, { ...options, access: { '/admin/*': 'Ops.Read', '/page/': 'Ops.Read' } })
  await exact.register(routes)
  t.equal(await statuses(exact, '/admin/a'), '401/403')
  t.equal(await statuses(exact, '/Admin/b'), '401/200', 'another URL for this router')
})
