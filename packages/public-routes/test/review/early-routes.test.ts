/** Routes that were registered before the gate: gated and listed like all others, or closed. */
import { publicRouteLines } from '#src/testing/index.js'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { gate, loggingApp } from '../support/logging-application.ts'

test('routes before the gate are named in the log, without a warning', async (t) => {
  const { app, lines, warnings } = loggingApp(t)
  app.get('/early/:id', async () => 'ran')
  app.get('/error/:statusCode', { config: { public: ['GET'] } }, async () => 'ran')
  await gate(app)
  await app.ready()
  t.same(warnings(), [])
  t.match(
    lines().find(({ routes }) => routes),
    { level: 30, msg: /gated and listed like all others/, routes: ['GET /early/:id'] },
    'a route that declares itself public knows of the gate',
  )
})

test('a boot whose only early routes declare themselves public logs nothing about them', async (t) => {
  const { app, lines } = loggingApp(t)
  app.get('/error/:statusCode', { config: { public: ['GET'] } }, async () => 'ran')
  await gate(app)
  await app.ready()
  t.same(lines(), [])
})

test('a route that a scope from before the gate adds after it is listed, too', async (t) => {
  const { app } = loggingApp(t)
  const scopes: FastifyInstance[] = []
  await app.register(async (scope) => void scopes.push(scope))
  await gate(app, { defaults: false })
  scopes[0]?.post('/late', { config: { public: true } }, async () => 'ran')
  t.same(await publicRouteLines(app), ['POST /late — route /late (route config)'])
  t.equal((await app.inject({ method: 'POST', url: '/late' })).statusCode, 200)
})

test('an unusable config.public of a route before the gate is a boot error that names the route', async (t) => {
  const { app } = loggingApp(t)
  app.get('/early', { config: { public: 'GET' as never } }, async () => 'ran')
  await gate(app)
  await t.rejects(Promise.resolve(app.ready()), {
    code: 'FMOD_PUBLIC_ROUTES_INVALID_ROUTE_CONFIG',
    message: /GET \/early/,
  })
})

const unreadable: Readonly<Record<string, (routes: unknown[]) => void>> = {
  'hands no routes over': () => {},
  'hands over something else': (routes) => void routes.push({ url: '/early' }),
}

for (const [name, change] of Object.entries(unreadable)) {
  test(`nothing opens a route before the gate where the router ${name}`, async (t) => {
    const { app, warnings } = loggingApp(t)
    app.get('/early', { config: { public: true } }, async () => 'ran')
    await gate(app, { defaults: false })
    app.publicRoutes.addPrefix('/ea')
    app.get('/later', { config: { public: true } }, async () => 'ran')
    const print = app.printRoutes
    app.printRoutes = (options = {}) => {
      const routes: unknown[] = []
      change(routes)
      if ('buildPrettyMeta' in options && typeof options.buildPrettyMeta === 'function') {
        for (const route of routes) options.buildPrettyMeta(route)
      }
      return print({ ...options })
    }
    t.equal((await app.inject('/early')).statusCode, 401)
    t.equal((await app.inject('/later')).statusCode, 200)
    t.match(await app.publicRoutes.explain('GET', '/early'), {
      decision: 'protected',
      reason: /registered before the gate/,
    })
    t.ok(warnings().some(({ msg }) => /cannot be listed with this version of Fastify/.test(msg)))
  })
}
