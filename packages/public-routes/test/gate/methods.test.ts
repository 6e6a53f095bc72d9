import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { gatedApp, listen } from '../support/application.ts'
import { rawRequest } from '../support/raw-request.ts'

const headCases: readonly [string, (app: FastifyInstance) => void, number][] = [
  ['derived from a GET route', (app) => app.get('/x', async () => 'ran'), 200],
  [
    'derived from a GET route in an array',
    (app) => app.route({ method: ['GET'], url: '/x', handler: async () => 'ran' }),
    200,
  ],
  [
    'derived from a route that serves POST as well',
    (app) => app.route({ method: ['GET', 'POST'], url: '/x', handler: async () => 'ran' }),
    401,
  ],
  [
    'written by hand',
    (app) => {
      app.head('/x', async () => 'ran')
      app.get('/x', { exposeHeadRoute: false }, async () => 'ran')
    },
    401,
  ],
  [
    'written by hand with the handler of GET',
    (app) => {
      const handler = async () => 'ran'
      app.get('/x', { exposeHeadRoute: false }, handler)
      app.head('/x', handler)
    },
    401,
  ],
]

for (const [name, addRoute, status] of headCases) {
  test(`decision 35: with a rule for GET, a HEAD route ${name} answers ${status}`, async (t) => {
    const app = await gatedApp(t)
    app.publicRoutes.addExact('/x', { methods: ['GET'] })
    addRoute(app)
    t.equal((await rawRequest({ port: await listen(app), method: 'HEAD', target: '/x' })).status, status)
    t.equal((await app.inject({ url: '/x' })).statusCode, 200)
  })
}

test('decision 35: HEAD of a parametric route follows GET, and of config.access too', async (t) => {
  const app = await gatedApp(t)
  app.publicRoutes.addRegex('/items/[^/]+$', { methods: ['GET'] })
  app.get('/items/:id', async () => 'ran')
  app.get('/news/:id', { config: { access: 'public' } }, async () => 'ran')
  const port = await listen(app)
  t.equal((await rawRequest({ port, method: 'HEAD', target: '/items/1' })).status, 200)
  t.equal((await rawRequest({ port, method: 'HEAD', target: '/news/1' })).status, 200)
})

test('decision 35: a HEAD route that only looks derived, with a slash more, is opened by its own config.access', async (t) => {
  const app = await gatedApp(t)
  const handler = async () => 'ran'
  app.get('/closed', { config: { access: 'public' } }, handler)
  app.head('/closed/', { config: { access: 'signed-in' } }, handler)
  app.get('/open', handler)
  app.head('/open/', { config: { access: 'public' } }, handler)
  const port = await listen(app)
  const status = async (method: string, target: string) => (await rawRequest({ port, method, target })).status
  t.same([await status('GET', '/closed'), await status('HEAD', '/closed/')], [200, 401])
  t.same([await status('GET', '/open'), await status('HEAD', '/open/')], [401, 200])
})

test('decision 35: OPTIONS is never implicitly public', async (t) => {
  const app = await gatedApp(t)
  app.publicRoutes.addExact('/x', { methods: ['GET'] })
  app.get('/x', async () => 'ran')
  const headers = { origin: 'https://other.example', 'access-control-request-method': 'GET' }
  t.equal((await app.inject({ method: 'OPTIONS', url: '/x', headers })).statusCode, 401)
})
