import type { PublicRoutesOptions } from '@fastify-modular/public-routes'
import type { FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { headerProvider } from '../support/application.ts'
import { gate, loggingApp } from '../support/logging-application.ts'

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
    "matches a parameter's value",
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
    'has a wildcard that is literal text',
    /take "\*" literally; addSubtree/,
    (app) => {
      app.publicRoutes.addSubtree('/files/public/*', { methods: ['GET'] })
      app.get('/files/*', async () => 'ran')
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
    'is shadowed on one route by one rule, on another by a second',
    /add nothing/,
    (app) => {
      app.publicRoutes
        .addSubtree('/docs/a', { methods: ['GET'] })
        .addSubtree('/docs/b', { methods: ['GET'] })
        .addRegex('/docs/[^/]+/[^/]+$', { methods: ['GET'] })
      app.get('/docs/a/:page', async () => 'ran')
      app.get('/docs/b/:page', async () => 'ran')
    },
  ],
  [
    'is there twice, for some paths of a route',
    /add nothing/,
    (app) => {
      app.publicRoutes.addRegex('/a/\\d$', { methods: ['GET'] }).addRegex('/a/\\d$', { methods: ['GET'] })
      app.get('/a/:id', async () => 'ran')
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
]

for (const [name, message, prepare, options] of noted) {
  test(`decision 40: a rule that ${name} is warned about, once`, async (t) => {
    const warnings = await warningsFor(t, prepare, options)
    t.equal(warnings.filter(([msg]) => message.test(String(msg))).length, 1, JSON.stringify(warnings))
  })
}

test('a rule that opens what the option access closes to those of the framework is not called shadowed', async (t) => {
  const warnings = await warningsFor(
    t,
    (app) => {
      app.publicRoutes.addRegex('/health/[a-z]+$', { methods: ['GET'] })
      app.get('/health/:what', async () => 'ran')
    },
    { defaults: true, access: { 'GET /health/:what': 'signed-in' } },
  )
  t.notOk(warnings.some(([message]) => /add nothing/.test(String(message))))
})

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
    app.get('/login', { config: { access: 'public' } }, async () => 'ran')
    for (const version of ['1.0.0', '2.0.0']) {
      app.get('/v', { config: { access: 'public' }, constraints: { version } }, async () => 'ran')
    }
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
