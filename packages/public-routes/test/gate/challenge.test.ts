import { publicRoutes, type AuthProvider } from '@fastify-modular/public-routes'
import Fastify, { type InjectOptions } from 'fastify'
import { test } from 'tap'
import { gatedApp } from '../support/application.ts'

const html = 'text/html,application/xhtml+xml,*/*;q=0.8'
const anonymous: AuthProvider = { authenticate: () => null, loginUrl: '/login' }

type Row = readonly [string, InjectOptions, number, (string | undefined)?]

const inertia = { 'x-inertia': 'true' }
const returning = (path: string) => `/login?returnTo=${encodeURIComponent(path)}`

/** Of `/page`, unless the request says otherwise. */
const rows: readonly Row[] = [
  ['a navigation', { headers: { accept: html } }, 302, returning('/page')],
  [
    'a navigation with a query',
    { url: '/page?tab=2&x=%20y', headers: { accept: html } },
    302,
    returning('/page?tab=2&x=%20y'),
  ],
  [
    'a navigation that says so',
    { headers: { accept: html, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' } },
    302,
    returning('/page'),
  ],
  ['a HEAD navigation, which returns nowhere', { method: 'HEAD', headers: { accept: html } }, 302, '/login'],
  ['an image', { headers: { accept: 'image/*,*/*', 'sec-fetch-mode': 'no-cors' } }, 401],
  ['a script', { headers: { accept: '*/*', 'sec-fetch-mode': 'no-cors' } }, 401],
  ['a fetch of HTML', { headers: { accept: html, 'sec-fetch-mode': 'cors' } }, 401],
  ['a wildcard alone', { headers: { accept: '*/*' } }, 401],
  ['no Accept', {}, 401],
  ['HTML refused by its quality', { headers: { accept: 'text/html;q=0, application/json' } }, 401],
  ['HTML with a quality', { headers: { accept: 'text/html;q=0.5, */*;q=0.1' } }, 302, returning('/page')],
  ['HTML that JSON is preferred to', { headers: { accept: 'application/json, text/html;q=0.5' } }, 401],
  ['a media type that only begins like HTML', { headers: { accept: 'text/html-sandboxed' } }, 401],
  ['a form post of a browser', { method: 'POST', headers: { accept: html } }, 401],
  ['credentials that did not work', { headers: { accept: html, authorization: 'Bearer bad' } }, 401],
  ['an XMLHttpRequest', { headers: { accept: html, 'x-requested-with': 'XMLHttpRequest' } }, 401],
  ['the API', { url: '/api/page', headers: { accept: html } }, 401],
  ['the API in capitals', { url: '/API/page', headers: { accept: html } }, 401],
  ['the API root', { url: '/api', headers: { accept: html } }, 401],
  ['the API root with a query', { url: '/api?x', headers: { accept: html } }, 401],
  [
    'a page whose name begins like the API',
    { url: '/apiary', headers: { accept: html } },
    302,
    returning('/apiary'),
  ],
  [
    'an Inertia visit',
    { headers: { ...inertia, 'x-requested-with': 'XMLHttpRequest', 'sec-fetch-mode': 'cors' } },
    302,
    returning('/page'),
  ],
  ['an Inertia post', { method: 'POST', headers: inertia }, 303, '/login'],
  ['an Inertia delete', { method: 'DELETE', headers: inertia }, 303, '/login'],
  ['an Inertia visit of the API', { url: '/api/x', headers: inertia }, 401],
  [
    'a page that is not canonical, which is not returned to',
    { url: '/a%2Fb', headers: { accept: html } },
    302,
    '/login',
  ],
]

for (const [name, request, status, location] of rows) {
  test(`S 5.1, decision 38: ${name} is answered with ${status}`, async (t) => {
    const app = await gatedApp(t, { provider: anonymous })
    app.get('/login', { config: { access: 'public' } }, async () => 'login')
    const answer = await app.inject({ url: '/page', ...request })
    t.equal(answer.statusCode, status)
    t.equal(answer.headers.location, location)
    t.equal(answer.headers['cache-control'], 'no-store')
    t.match(answer.headers.vary, /accept, authorization, cookie, x-inertia/)
    t.equal(answer.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined)
  })
}

test('S 7.3, decision 38: a 401 is a problem and the same for existing and missing paths', async (t) => {
  const app = await gatedApp(t)
  app.get('/exists', async () => 'secret')
  const [existing, missing] = [await app.inject('/exists?x'), await app.inject('/absent?x')]
  t.equal(existing.headers['content-type'], 'application/problem+json')
  const { requestId, ...problem } = existing.json<{ requestId: string }>()
  t.match(requestId, /^req-/)
  t.same(problem, {
    type: 'urn:problem:unauthorized',
    title: 'Unauthorized',
    status: 401,
    detail: 'Sign in to access this resource.',
    instance: '/exists',
    code: 'UNAUTHORIZED',
  })
  t.equal(
    missing.body,
    existing.body
      .replace('/exists', '/absent')
      .replace(requestId, missing.json<{ requestId: string }>().requestId),
  )
  const { date: _1, ...here } = existing.headers
  const { date: _2, ...there } = missing.headers
  t.same(here, there)
})

test('a request id from outside is quoted', async (t) => {
  const app = await gatedApp(t, {}, { requestIdHeader: 'x-request-id' })
  const answer = await app.inject({ url: '/x', headers: { 'x-request-id': 'a","admin":true,"b":"' } })
  t.equal(answer.json<{ requestId: string }>().requestId, 'a","admin":true,"b":"')
  t.notOk('admin' in answer.json<object>())
})

test('decision 38: an Inertia page is sent to an external login by a full visit', async (t) => {
  const app = await gatedApp(t, {
    provider: { authenticate: () => null, loginUrl: 'https://id.example.com/authorize' },
  })
  for (const method of ['GET', 'POST'] as const) {
    const answer = await app.inject({ method, url: '/page', headers: { 'x-inertia': 'true' } })
    t.equal(answer.statusCode, 409)
    t.equal(answer.headers['x-inertia-location'], 'https://id.example.com/authorize')
  }
  const navigation = await app.inject({ url: '/page', headers: { accept: html } })
  t.equal(navigation.headers.location, 'https://id.example.com/authorize')
})

test('an API-only host has no login URL, and browsers get 401 like every client', async (t) => {
  const app = await gatedApp(t)
  t.equal((await app.inject({ url: '/page', headers: { accept: html } })).statusCode, 401)
  t.equal((await app.inject({ url: '/page', headers: { 'x-inertia': 'true' } })).statusCode, 401)
})

test('classify can be replaced, and when it fails no anonymous request passes', async (t) => {
  const provider: AuthProvider = { authenticate: async () => null, loginUrl: 'https://id.example.com/' }
  const app = await gatedApp(t, {
    provider,
    classify: ({ headers }) => {
      if (headers['x-kind'] === 'broken') throw new Error('classify failed')
      return headers['x-kind'] === 'browser' ? 'browser' : 'api'
    },
  })
  t.equal((await app.inject({ url: '/api/x', headers: { 'x-kind': 'browser' } })).statusCode, 302)
  t.equal(
    (await app.inject({ method: 'POST', url: '/api/x', headers: { 'x-kind': 'browser' } })).statusCode,
    303,
  )
  t.equal((await app.inject({ url: '/x', headers: { accept: html } })).statusCode, 401)
  t.equal((await app.inject({ url: '/x', headers: { 'x-kind': 'broken' } })).statusCode, 500)
})

const challenges: readonly [string, () => string, string][] = [
  ['its own', () => 'Cookie realm="app"', 'Cookie realm="app"'],
  ['one with a line break', () => 'Bearer\r\nset-cookie: a=b', 'Bearer'],
  ['an empty one', () => '', 'Bearer'],
]

for (const [name, challenge, expected] of challenges) {
  test(`a provider's challenge goes into WWW-Authenticate if it is a header value: ${name}`, async (t) => {
    const app = await gatedApp(t, { provider: { authenticate: () => null, challenge } })
    const answer = await app.inject('/x')
    t.equal(answer.statusCode, 401)
    t.equal(answer.headers['www-authenticate'], expected)
    t.equal(answer.headers['set-cookie'], undefined)
  })
}

test('Vary of an earlier hook is kept', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('vary', 'origin')
    done()
  })
  await app.register(publicRoutes, { provider: anonymous, env: false, defaults: false })
  app.get('/login', { config: { access: 'public' } }, async () => 'login')
  t.equal((await app.inject('/x')).headers.vary, 'origin, accept, authorization, cookie, x-inertia')
})
