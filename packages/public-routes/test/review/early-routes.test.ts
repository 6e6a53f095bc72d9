/** Routes that were registered before the gate stop the boot. */
import cors from '@fastify/cors'
import { precedesGate } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { gate, loggingApp } from '../support/logging-application.ts'

const booting = async (app: PromiseLike<unknown>): Promise<unknown> => await app

test('decision 85: routes from before the gate stop the boot, named, with the way out', async (t) => {
  const { app } = loggingApp(t)
  app.get('/early/:id', async () => 'ran')
  await app.register(
    async (scope) => void scope.post('/', { config: { access: 'public' } }, async () => 'ran'),
    { prefix: '/inner' },
  )
  await t.rejects(booting(gate(app)), {
    code: 'FMOD_PUBLIC_ROUTES_BEFORE_GATE',
    message: /GET \/early\/:id.*POST \/inner.*await app\.register\(publicRoutes.*dependencies/s,
  })
})

test('decision 85: a route that a scope from before the gate adds after it stops the boot', async (t) => {
  const { app } = loggingApp(t)
  const scopes: FastifyInstance[] = []
  await app.register(async (scope) => void scopes.push(scope))
  await gate(app, { defaults: false })
  scopes[0]?.post('/late', { config: { access: 'public' } }, async () => 'ran')
  await t.rejects(booting(app.ready()), { code: 'FMOD_PUBLIC_ROUTES_BEFORE_GATE', message: /POST \/late/ })
})

test('decision 85: the preflight route of CORS, and a route that says so, stand before the gate, without a warning', async (t) => {
  const { app, warnings } = loggingApp(t)
  app.get('/error/:statusCode', { config: { access: 'public', [precedesGate]: true } }, async () => 'page')
  await app.register(cors)
  await gate(app, { defaults: false })
  await app.ready()
  t.same(warnings(), [])
  t.equal((await app.inject('/error/404')).body, 'page')
  t.equal((await app.inject({ method: 'HEAD', url: '/error/404' })).statusCode, 200)
  t.equal((await app.inject('/error//404')).statusCode, 401)
  t.same(
    app.access.table().map(({ method, url, access, note }) => [method, url, access, note].join(' | ')),
    [
      'OPTIONS | * | signed-in | preflight',
      'GET | /error/:statusCode | public | before the gate',
      'HEAD | /error/:statusCode | public | before the gate',
      '* | (no route) | signed-in | not found',
    ],
  )
  t.same(
    app.access.table().map(({ derivedFrom }) => derivedFrom),
    [null, null, 'GET /error/:statusCode', null],
  )
})

for (const runsEarlier of [false, true]) {
  test(`a route that the router has although its registration failed stops the boot, ${runsEarlier ? 'with' : 'without'} a hook before the gate`, async (t) => {
    const { app } = loggingApp(t)
    if (runsEarlier) app.addHook('onRequest', async function earlier() {})
    await gate(app)
    app.post('/x', async () => 'ran')
    const onRequest = async () => {}
    t.throws(() => app.route({ method: ['GET', 'POST'], url: '/x', onRequest, handler: async () => 'ran' }))
    await t.rejects(booting(app.ready()), {
      code: 'FMOD_PUBLIC_ROUTES_HALF_REGISTERED',
      message: /: GET,POST \/x\./,
    })
  })
}

test('a route that Fastify refused as a duplicate is not listed', async (t) => {
  const { app } = loggingApp(t)
  await gate(app, { defaults: false })
  app.get('/x', { config: { access: 'signed-in' } }, async () => 'ran')
  t.throws(() => app.get('/x', { config: { access: 'public' } }, async () => 'ran'), {
    code: 'FST_ERR_DUPLICATED_ROUTE',
  })
  await app.ready()
  t.same(
    app.access.table().map(({ method, url, access }) => [method, url, access].join(' ')),
    ['GET /x signed-in', 'HEAD /x signed-in', '* (no route) signed-in'],
  )
})

test('the gate protects where another plugin wraps all hooks, whatever their names are then', async (t) => {
  const { app } = loggingApp(t)
  const { addHook } = app
  const addWrapped = (name: string, hook: (...args: unknown[]) => unknown) =>
    Reflect.apply(addHook, app, [name, name === 'onRequest' ? (...args: unknown[]) => hook(...args) : hook])
  Object.assign(app, { addHook: addWrapped })
  await gate(app)
  app.get('/x', async () => 'ran')
  t.equal((await app.inject('/x')).statusCode, 401)
})

const unreadable: Readonly<Record<string, (routes: unknown[]) => void>> = {
  'hands no routes over': () => {},
  'hands over something else': (routes) => void routes.push({ url: '/early' }),
}

for (const [name, change] of Object.entries(unreadable)) {
  test(`a route before the gate is closed to everybody where the router ${name}`, async (t) => {
    const { app, warnings } = loggingApp(t)
    app.get('/early', { config: { access: 'public' } }, async () => 'ran')
    const print = app.printRoutes
    app.printRoutes = (options = {}) => {
      const routes: unknown[] = []
      change(routes)
      if ('buildPrettyMeta' in options && typeof options.buildPrettyMeta === 'function') {
        for (const route of routes) options.buildPrettyMeta(route)
      }
      return print({ ...options })
    }
    await gate(app, { defaults: false })
    app.publicRoutes.addPrefix('/ea')
    app.get('/later', { config: { access: 'public' } }, async () => 'ran')
    t.equal((await app.inject('/early')).statusCode, 401)
    t.equal((await app.inject({ url: '/early', headers: { 'x-user': 'alice' } })).statusCode, 403)
    t.equal((await app.inject('/later')).statusCode, 200)
    t.match(await app.access.explain('GET', '/early'), {
      decision: 'protected',
      reason: 'the gate does not know its route',
    })
    t.ok(warnings().some(({ msg }) => /cannot be listed with this version of Fastify/.test(msg)))
  })
}
