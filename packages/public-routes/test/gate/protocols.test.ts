/** Everything that is not one plain HTTP/1.1 exchange: upgrades, pipelining, HTTP/2, preflight requests. */
import { connect } from 'node:http2'
import { publicRoutes } from '@fastify-modular/public-routes'
import cors from '@fastify/cors'
import websocket from '@fastify/websocket'
import Fastify from 'fastify'
import { test } from 'tap'
import { gatedApp, headerProvider, listen, Sink } from '../support/application.ts'
import { rawExchange, rawRequest } from '../support/raw-request.ts'

test('a websocket handshake on a protected path is answered with 401, on a public one it reaches the route', async (t) => {
  const sink = new Sink()
  const app = await gatedApp(t)
  app.get('/live', sink.handler('live'))
  app.get('/feed', { config: { access: 'public' } }, sink.handler('feed'))
  const port = await listen(app)
  const headers = {
    connection: 'close, Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  }
  t.equal((await rawRequest({ port, target: '/live', headers: { ...headers, 'x-number': '1' } })).status, 401)
  t.equal(sink.ranFor(1), undefined)
  t.equal((await rawRequest({ port, target: '/feed', headers })).status, 200)
})

test('pipelined requests are decided one by one', async (t) => {
  const app = await gatedApp(t)
  app.get('/open', { config: { access: 'public' } }, async () => 'open')
  app.get('/secret', async () => 'secret')
  const port = await listen(app)
  const get = (target: string, connection: string) =>
    `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: ${connection}\r\n\r\n`
  const { body } = await rawExchange(
    port,
    get('/open', 'keep-alive') + get('/secret', 'keep-alive') + get('/open', 'close'),
  )
  t.same(
    [...body.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ['401', '200'],
  )
  t.notMatch(body, /\r\n\r\nsecret/)
})

test('HTTP/2: the same decisions', async (t) => {
  const app = Fastify({ http2: true })
  t.teardown(() => app.close())
  await app.register(publicRoutes, { provider: headerProvider, env: false })
  app.publicRoutes.addExact('/open', { methods: ['GET'] })
  app.get('/open', async () => 'open')
  app.get('/secret', async () => 'secret')
  app.post('/open', async () => 'changed')
  const session = connect(await app.listen({ port: 0, host: '127.0.0.1' }))
  t.teardown(() => session.destroy())
  const ask = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const stream = session.request(headers)
      stream.on('response', (answer) => resolve(Number(answer[':status'])))
      stream.on('error', reject)
      stream.resume().end()
    })
  t.equal(await ask({ ':path': '/open' }), 200)
  t.equal(await ask({ ':path': '/open', ':method': 'HEAD' }), 200)
  t.equal(await ask({ ':path': '/open', ':method': 'POST' }), 401)
  t.equal(await ask({ ':path': '/secret' }), 401)
  t.equal(await ask({ ':path': '/%73ecret' }), 401)
  t.equal(await ask({ ':path': '/secret', 'x-user': 'alice' }), 200)
})

test('@fastify/websocket: a handshake passes the gate like any request', async (t) => {
  const app = await gatedApp(t)
  await app.register(websocket)
  await app.register(async (scope) => {
    scope.get('/live', { websocket: true }, (socket) => socket.terminate())
    scope.get('/feed', { websocket: true, config: { access: 'public' } }, (socket) => socket.terminate())
  })
  await app.ready()
  await t.rejects(app.injectWS('/live'), { message: /401/ })
  for (const [target, headers] of [
    ['/live', { 'x-user': 'alice' }],
    ['/feed', {}],
  ] as const) {
    const socket = await app.injectWS(target, { headers })
    t.ok(socket, target)
    socket.terminate()
  }
})

test('decision 35: @fastify/cors before the gate answers preflight requests, and opens nothing else', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(cors, { origin: ['https://partner.example'] })
  await app.register(publicRoutes, { provider: headerProvider, env: false })
  app.get('/private', async () => 'ran')
  const origin = { origin: 'https://partner.example' }
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/private',
    headers: { ...origin, 'access-control-request-method': 'GET' },
  })
  t.equal(preflight.statusCode, 204)
  const refused = await app.inject({ url: '/private', headers: origin })
  t.equal(refused.statusCode, 401)
  t.equal(refused.headers['access-control-allow-origin'], 'https://partner.example')
  t.equal(refused.headers.vary, 'Origin, accept, authorization, cookie, x-inertia')
})
