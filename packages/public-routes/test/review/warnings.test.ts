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

const noted: readonly [string, RegExp, (app: FastifyInstance) => void][] = [
  ['matches no route', /match no route/, (app) => void app.publicRoutes.addExact('/nowhere')],
  [
    'opens a mutating verb without naming methods',
    /change something/,
    (app) => {
      app.publicRoutes.addPrefix('/things')
      app.post('/things', async () => 'ran')
    },
  ],
]

for (const [name, message, prepare] of noted) {
  test(`decision 40: a rule that ${name} is warned about, once`, async (t) => {
    const warnings = await warningsFor(t, prepare)
    t.equal(warnings.filter(([msg]) => message.test(String(msg))).length, 1, JSON.stringify(warnings))
  })
}

test('one line lists what the environment opens, route by route, beyond segments and within parameters too', async (t) => {
  const { app, warnings } = loggingApp(t)
  await gate(app, { env: { SM_AUTH_PUBLIC_PATHS: '["/note", "/users/4", "/own", "/nowhere"]' } })
  for (const url of ['/notebook', '/users/:id', '/other']) app.get(url, async () => 'ran')
  app.get('/own', { config: { access: 'signed-in' } }, async () => 'ran')
  await app.ready()
  t.equal((await app.inject('/notebook')).statusCode, 200)
  t.equal((await app.inject('/users/42')).statusCode, 200)
  t.equal((await app.inject('/own')).statusCode, 401)
  const lines = warnings().filter(({ routes }) => routes)
  t.match(lines, [
    {
      msg: /SM_AUTH_PUBLIC_PATHS opens/,
      routes: ['GET /notebook by "* prefix /note"', 'some paths of GET /users/:id by "* prefix /users/4"'],
    },
  ])
})

test('what opens nothing is no line about the environment', async (t) => {
  const env = { SM_AUTH_PUBLIC_PATHS: '["/nowhere"]' }
  const warnings = await warningsFor(t, (app) => void app.get('/other', async () => 'ran'), { env })
  t.same(warnings, [
    ['public-route rules match no route', ['"* prefix /nowhere" (environment SM_AUTH_PUBLIC_PATHS)']],
  ])
})

test('rules that reach beyond a segment, take a parameter, repeat others or are legacy paths give no warning', async (t) => {
  const warnings = await warningsFor(
    t,
    (app) => {
      app.publicRoutes
        .addPrefix('/doc', { methods: ['GET'] })
        .addExact('/doctors', { methods: ['GET'] })
        .addSuffix('.css', { methods: ['GET'] })
      for (const url of ['/doctors', '/users/:id', '/legacy']) app.get(url, async () => 'ran')
    },
    { provider: { ...headerProvider, publicPaths: ['/legacy'] } },
  )
  t.same(warnings, [])
})

test('precise rules and framework defaults give no warning', async (t) => {
  const warnings = await warningsFor(t, (app) => {
    app.publicRoutes
      .addExact('/about', { methods: ['GET'] })
      .addSubtree('/docs', { methods: ['GET'] })
      .addRegex('/items/[^/]+/tilejson$', { methods: ['GET'] })
      .addRegex('/orders/\\d+$', { methods: ['GET'] })
      .addSuffix('/feed', { methods: ['GET'] })
      .addRegex('/news/[^/]+$', { methods: ['GET'] })
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
