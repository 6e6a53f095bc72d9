import { publicRoutes, type AuthProvider, type PublicRoutesOptions } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { test, type Test } from 'tap'
import { headerProvider } from '../support/application.ts'

type LogLine = Record<string, unknown> & { readonly level: number; readonly msg: string }

/** An application whose warnings are collected. */
function loggingApp(t: Test): { app: FastifyInstance; warnings: () => readonly LogLine[] } {
  const lines: LogLine[] = []
  const app = Fastify({
    logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } },
  })
  t.teardown(() => app.close().catch(() => {}))
  return { app, warnings: () => lines.filter(({ level }) => level === 40) }
}

/** What Fastify hands out can be awaited, but is no Promise. */
async function booting(app: PromiseLike<unknown>): Promise<void> {
  await app
}

const gate = (app: FastifyInstance, options: Partial<PublicRoutesOptions> = {}) =>
  app.register(publicRoutes, { provider: headerProvider, env: false, ...options })

test('decision 40: a gate in a child scope is a boot error that names the scope', async (t) => {
  const { app } = loggingApp(t)
  await t.rejects(
    booting(
      app.register(async function accounts(scope) {
        await gate(scope)
      }),
    ),
    { code: 'FMOD_PUBLIC_ROUTES_NOT_AT_ROOT', message: /plugin accounts/ },
  )
})

test('a gate inside a plugin wrapped with fastify-plugin is at the root', async (t) => {
  const { app } = loggingApp(t)
  await app.register(
    fp(async (scope) => {
      await gate(scope)
    }),
  )
  app.get('/x', async () => 'ran')
  t.equal((await app.inject('/x')).statusCode, 401)
})

test('decision 40: an earlier hook that answers is a boot error that names it', async (t) => {
  const { app } = loggingApp(t)
  app.addHook('onRequest', async function maintenance(_request, reply) {
    return reply.send('back soon')
  })
  await gate(app)
  app.get('/x', async () => 'ran')
  await t.rejects(booting(app.ready()), {
    code: 'FMOD_PUBLIC_ROUTES_GATE_BYPASSED',
    message: /status 200.*maintenance/,
  })
})

test('decision 40: an earlier hook that fails does not stop the boot, since it opens nothing', async (t) => {
  const { app, warnings } = loggingApp(t)
  app.addHook('onRequest', async function needsCache() {
    throw new Error('cache down')
  })
  await gate(app)
  app.get('/x', async () => 'ran')
  await app.ready()
  t.match(warnings(), [
    { status: 500, hooks: ['needsCache'], msg: 'the self-test of the gate did not reach it' },
  ])
})

test('decision 40: hooks that run before the gate are listed, also those of scopes that came first', async (t) => {
  const { app, warnings } = loggingApp(t)
  app.addHook('onRequest', function parseCookies(_request, _reply, done) {
    done()
  })
  await app.register(async (scope) => {
    scope.addHook('onRequest', function countVisits(_request, _reply, done) {
      done()
    })
    scope.get('/inner', async () => 'ran')
  })
  await gate(app)
  app.addHook('onRequest', function later(_request, _reply, done) {
    done()
  })
  app.get('/x', async () => 'ran')
  await app.ready()
  t.same(warnings().find(({ hooks }) => hooks)?.['hooks'], ['parseCookies', 'countVisits'])
})

test('architecture: routes registered before the gate are named in a warning', async (t) => {
  const { app, warnings } = loggingApp(t)
  app.get('/early/:id', async () => 'ran')
  await gate(app)
  await app.ready()
  t.match(warnings()[0], { msg: /registered before the gate/, routes: /\/early\/:id \(GET, HEAD\)/ })
})

test('decision 40: @fastify/cors after the gate gives a warning, before it none', async (t) => {
  const cors = fp(async () => {}, { name: '@fastify/cors' })
  for (const first of [true, false]) {
    const { app, warnings } = loggingApp(t)
    if (first) await app.register(cors)
    await gate(app)
    if (!first) await app.register(cors)
    await app.ready()
    t.equal(
      warnings().some(({ msg }) => msg.startsWith('@fastify/cors')),
      !first,
    )
  }
})

test('decision 33: a login URL that is not public is a boot error', async (t) => {
  const provider: AuthProvider = { authenticate: () => null, loginUrl: '/login?lang=de' }
  const closed = loggingApp(t).app
  await gate(closed, { provider })
  closed.get('/login', async () => 'login')
  await t.rejects(booting(closed.ready()), {
    code: 'FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC',
    message: /\/login\?lang=de/,
  })

  const open = loggingApp(t).app
  await gate(open, { provider })
  open.get('/login', { config: { public: ['GET'] } }, async () => 'login')
  await open.ready()

  const external = loggingApp(t).app
  await gate(external, { provider: { ...provider, loginUrl: 'https://id.example.com' } })
  await external.ready()
})

async function warningsFor(
  t: Test,
  prepare: (app: FastifyInstance) => void,
  options?: Partial<PublicRoutesOptions>,
) {
  const { app, warnings } = loggingApp(t)
  await gate(app, options)
  prepare(app)
  await app.ready()
  return warnings().map(({ msg, rules }) => [msg, rules])
}

const noted: readonly [string, RegExp, (app: FastifyInstance) => void, Partial<PublicRoutesOptions>?][] = [
  ['matches no route', /match no route/, (app) => void app.publicRoutes.addExact('/nowhere')],
  [
    'opens a mutating verb without naming methods',
    /change something/,
    (app) => {
      app.publicRoutes.addPrefix('/things')
      app.post('/things', async () => 'ran')
    },
  ],
  [
    'crosses a segment boundary',
    /segment boundary/,
    (app) => {
      app.publicRoutes.addPrefix('/doc', { methods: ['GET'] })
      app.get('/doctors', async () => 'ran')
    },
  ],
  [
    "is met by a parameter's value",
    /values of parameters/,
    (app) => {
      app.publicRoutes.addSuffix('.css', { methods: ['GET'] })
      app.get('/users/:id', async () => 'ran')
    },
  ],
  [
    'is a prefix that ends inside a parameter',
    /values of parameters/,
    (app) => {
      app.publicRoutes.addPrefix('/users/pub/', { methods: ['GET'] })
      app.get('/users/:id/posts', async () => 'ran')
    },
  ],
  [
    'is shadowed by a wider one',
    /add nothing/,
    (app) => {
      app.publicRoutes.addSubtree('/docs', { methods: ['GET'] }).addExact('/docs/intro', { methods: ['GET'] })
      app.get('/docs/intro', async () => 'ran')
    },
  ],
  [
    'is there twice',
    /add nothing/,
    (app) => {
      app.publicRoutes.addRegex('/a$', { methods: ['GET'] }).addRegex('/a$', { methods: ['GET'] })
      app.get('/a', async () => 'ran')
    },
  ],
  [
    'comes from the environment',
    /environment/,
    (app) => void app.get('/status', async () => 'ran'),
    { env: { SM_AUTH_PUBLIC_PATHS: '["/status"]' } },
  ],
  [
    'is a legacy path of the provider',
    /legacy publicPaths/,
    (app) => void app.get('/users/login', async () => 'ran'),
    { provider: { ...headerProvider, publicPaths: ['/users/login'] } },
  ],
  [
    'opens everything',
    /open every path/,
    (app) => {
      app.publicRoutes.addRegex('.*', { methods: ['GET'] })
      app.get('/a', async () => 'ran')
    },
  ],
]

for (const [name, message, prepare, options] of noted) {
  test(`decision 40: a rule that ${name} is warned about, once`, async (t) => {
    const warnings = await warningsFor(t, prepare, options)
    t.equal(warnings.filter(([msg]) => message.test(String(msg))).length, 1, JSON.stringify(warnings))
  })
}

test('precise rules and framework defaults give no warning', async (t) => {
  const warnings = await warningsFor(t, (app) => {
    app.publicRoutes
      .addExact('/about', { methods: ['GET'] })
      .addSubtree('/docs', { methods: ['GET'] })
      .addRegex('/items/[^/]+/tilejson$', { methods: ['GET'] })
      .addRegex('/orders/\\d+$', { methods: ['GET'] })
      .addSuffix('/feed', { methods: ['GET'] })
      .addRoute('/news/:id', { methods: ['GET'] })
      .addExact('/search', { methods: ['POST'] })
    for (const url of [
      '/about',
      '/docs',
      '/docs/:page',
      '/items/:id/tilejson',
      '/orders/:id',
      '/blog/:id/feed',
      '/news/:id',
    ]) {
      app.get(url, async () => 'ran')
    }
    app.post('/search', async () => 'ran')
    app.get('/login', { config: { public: true } }, async () => 'ran')
  })
  t.same(warnings, [])
})

test('boot with 1,000 rules and 200 routes stays quick', async (t) => {
  const { app } = loggingApp(t)
  await gate(app)
  for (let number = 0; number < 1000; number++) {
    const pattern = `/section-${number}/item`
    if (number % 4 === 0) app.publicRoutes.addExact(pattern)
    else if (number % 4 === 1) app.publicRoutes.addPrefix(pattern)
    else if (number % 4 === 2) app.publicRoutes.addSuffix(pattern)
    else app.publicRoutes.addRegex(`${pattern}/[^/]+$`)
  }
  for (let number = 0; number < 200; number++) app.get(`/section-${number}/item/:id`, async () => 'ran')
  const started = process.cpuUsage()
  await app.ready()
  const { user } = process.cpuUsage(started)
  t.ok(user < 3_000_000, `${user / 1000} ms of CPU`)
  t.equal((await app.inject('/section-7/item/1')).statusCode, 200)
})
