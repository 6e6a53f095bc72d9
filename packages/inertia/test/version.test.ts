import { test } from 'tap'
import Fastify from 'fastify'
import { inertia } from '@fastify-modular/inertia'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import { createApp, version, visit } from './fixture.js'

test('a GET made with other assets is sent to reload before the handler runs', async (t) => {
  let handled = false
  const app = await createApp({}, (it) =>
    it.get('/notes', (_, reply) => {
      handled = true
      return reply.inertia('Notes')
    }),
  )
  const answer = await visit(app, { url: '/notes?q=1', headers: { 'x-inertia-version': 'v0' } })
  t.equal(answer.statusCode, 409)
  t.equal(answer.body, '')
  t.equal(answer.headers['x-inertia-location'], '/notes?q=1')
  t.equal(answer.headers['x-inertia-version'], version)
  t.equal(answer.headers['x-inertia'], undefined)
  t.equal(answer.headers.vary, 'X-Inertia')
  t.equal(handled, false)
})

test('an unmatched path is checked too: an error page would hide that the client is stale', async (t) => {
  const app = await createApp()
  t.equal((await visit(app, { url: '/nowhere', headers: { 'x-inertia-version': 'v0' } })).statusCode, 409)
  t.equal((await visit(app, { url: '/nowhere' })).statusCode, 404)
})

test('a client whose page had no version is sent to reload by the first one that there is', async (t) => {
  const app = await createApp({}, (it) => it.get('/', (_, reply) => reply.inertia('Home')))
  for (const headers of [{ 'x-inertia': 'true' }, { 'x-inertia': 'true', 'x-inertia-version': '' }]) {
    const answer = await app.inject({ url: '/', headers })
    t.equal(answer.statusCode, 409)
    t.equal(answer.headers['x-inertia-version'], version)
  }
})

test('writes and first visits are never refused for their version', async (t) => {
  const app = await createApp({}, (it) => {
    it.get('/', (_, reply) => reply.inertia('Home'))
    it.post('/', (_, reply) => reply.inertia('Home'))
  })
  const stale = { 'x-inertia-version': 'v0' }
  t.equal((await visit(app, { url: '/', method: 'POST', headers: stale })).statusCode, 200)
  t.equal((await app.inject({ url: '/', headers: stale })).statusCode, 200)
})

test('without a version no client is stale, unless it has one from before', async (t) => {
  const app = await createApp({ version: null }, (it) => it.get('/', (_, reply) => reply.inertia('Home')))
  const answer = await app.inject({ url: '/', headers: { 'x-inertia': 'true' } })
  t.equal(answer.statusCode, 200)
  t.equal(answer.json().version, null)
  const stale = await visit(app, { url: '/' })
  t.equal(stale.statusCode, 409)
  t.equal(stale.headers['x-inertia-version'], undefined)
})

test('a version function is asked at each request', async (t) => {
  let current = 'v1'
  const app = await createApp({ version: () => current }, (it) =>
    it.get('/', (_, reply) => reply.inertia('Home')),
  )
  t.equal((await visit(app, { url: '/' })).statusCode, 200)
  current = 'v2'
  t.equal((await visit(app, { url: '/' })).statusCode, 409)
})

test('a version function that gives what no client can send back fails the page instead of reloading it for ever', async (t) => {
  for (const bad of ['', ' v1 ', 'v\n1', 'é', 5, {}]) {
    const app = await createApp({ version: () => bad as string }, (it) =>
      it.get('/', (_, reply) => reply.inertia('Home')),
    )
    for (const headers of [{}, { 'x-inertia': 'true', 'x-inertia-version': String(bad).trim() }]) {
      const answer = await app.inject({ url: '/', headers })
      t.equal(answer.statusCode, 500, JSON.stringify(bad))
      t.equal(answer.json().code, 'FMOD_CORE_INVALID_OPTION')
    }
  }
  const none = await createApp({ version: () => undefined as never }, (it) =>
    it.get('/', (_, reply) => reply.inertia('Home')),
  )
  t.equal((await none.inject({ url: '/', headers: { 'x-inertia': 'true' } })).json().version, null)
})

test('the location to reload never leaves the site, however the target is spelt', async (t) => {
  const app = await createApp()
  t.teardown(() => app.close())
  const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
  const headers = { 'x-inertia': 'true', 'x-inertia-version': 'v0' }
  for (const target of ['/a', '//evil.test/a', '/\\evil.test/a', '///evil.test/a', 'http://evil.test/a']) {
    const answer = await rawRequest({ port }, { target, headers })
    t.equal(answer.status, 409, target)
    t.equal(new URL(answer.headers['x-inertia-location'] ?? '', 'http://site.test').host, 'site.test', target)
  }
})

test('routes defined before the plugin was loaded are checked as well', async (t) => {
  const app = Fastify()
  void app.register(inertia, { version })
  app.get('/early', async () => 'served')
  t.equal((await visit(app, { url: '/early', headers: { 'x-inertia-version': 'v0' } })).statusCode, 409)
})
