import type { InjectOptions } from 'fastify'
import { test } from 'tap'
import { gatedApp } from '../support/application.ts'

type Row = readonly [string, InjectOptions['headers'], boolean]

const rows: readonly Row[] = [
  ['no browser headers, as from a command line', {}, true],
  ['same-origin', { 'sec-fetch-site': 'same-origin' }, true],
  ['typed by the user', { 'sec-fetch-site': 'none' }, true],
  ['same-site, as from another subdomain', { 'sec-fetch-site': 'same-site' }, false],
  ['cross-site', { 'sec-fetch-site': 'cross-site' }, false],
  [
    'cross-site with our own Origin, which no browser sends',
    { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' },
    false,
  ],
  ['an unknown value of Sec-Fetch-Site', { 'sec-fetch-site': 'whatever' }, false],
  ['our own Origin in an old browser', { origin: 'https://app.example' }, true],
  ['our own Origin with another scheme, behind a TLS proxy', { origin: 'http://app.example' }, true],
  ['our own Origin in capitals', { origin: 'https://APP.example' }, true],
  ['a foreign Origin in an old browser', { origin: 'https://evil.example' }, false],
  ['our host as a prefix of a foreign one', { origin: 'https://app.example.evil.example' }, false],
  ['another port', { origin: 'https://app.example:8443' }, false],
  ['Origin null, from a sandboxed page', { origin: 'null' }, false],
  ['a broken Origin', { origin: 'https://' }, false],
  ['a trusted Origin', { origin: 'https://partner.example', 'sec-fetch-site': 'cross-site' }, true],
  [
    'a trusted Origin with another scheme',
    { origin: 'http://partner.example', 'sec-fetch-site': 'cross-site' },
    false,
  ],
  [
    'a bearer token, which only CORS lets another site send',
    { origin: 'https://evil.example', authorization: 'Bearer abc' },
    true,
  ],
  [
    'basic credentials, which browsers attach by themselves',
    { origin: 'https://evil.example', authorization: 'Basic abc' },
    false,
  ],
]

for (const [name, headers, passes] of rows) {
  test(`decision 39: an unsafe request with ${name} ${passes ? 'passes' : 'is refused'}`, async (t) => {
    const app = await gatedApp(t, { csrf: { trustedOrigins: ['https://partner.example'] } })
    app.post('/login', { config: { access: 'public' } }, async () => 'signed in')
    const answer = await app.inject({
      method: 'POST',
      url: '/login',
      headers: { host: 'app.example', ...headers },
    })
    t.equal(answer.statusCode, passes ? 200 : 403)
    if (passes) return
    t.equal(answer.headers['content-type'], 'application/problem+json')
    t.match(answer.json(), { status: 403, title: 'Forbidden', code: 'CROSS_ORIGIN', requestId: /^req-/ })
  })
}

const foreign = { host: 'app.example', origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }

test('decision 39: every unsafe verb is refused, also with a valid session, and reads are not', async (t) => {
  const app = await gatedApp(t, { csrf: true })
  app.route({ method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], url: '/x', handler: async () => 'ran' })
  const ask = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE') =>
    app.inject({ method, url: '/x', headers: { ...foreign, cookie: 'session=1', 'x-user': 'alice' } })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const)
    t.equal((await ask(method)).statusCode, 403, method)
  t.equal((await ask('GET')).statusCode, 200)
})

test('decision 39: a websocket handshake from another site is refused', async (t) => {
  const app = await gatedApp(t, { csrf: true })
  app.get('/live', { config: { access: 'public' } }, async () => 'ran')
  const headers = { ...foreign, connection: 'Upgrade', upgrade: 'websocket' }
  t.equal((await app.inject({ url: '/live', headers })).statusCode, 403)
  t.equal((await app.inject({ url: '/live', headers: foreign })).statusCode, 200)
})

test('webhooks are exempt, with everything below and nothing beside them', async (t) => {
  const app = await gatedApp(t, { csrf: { exempt: ['/hooks/pay'] } })
  app.post('/*', async () => 'ran')
  const ask = (url: string) => app.inject({ method: 'POST', url, headers: { ...foreign, 'x-user': 'alice' } })
  t.equal((await ask('/hooks/pay')).statusCode, 200)
  t.equal((await ask('/hooks/pay/v2')).statusCode, 200)
  t.equal((await ask('/hooks/payments')).statusCode, 403)
  t.equal((await ask('/hooks/pay/%2e%2e/x')).statusCode, 403)
})

test('without the option nothing is refused', async (t) => {
  const app = await gatedApp(t)
  app.post('/login', { config: { access: 'public' } }, async () => 'signed in')
  t.equal((await app.inject({ method: 'POST', url: '/login', headers: foreign })).statusCode, 200)
})

test('a trusted origin that is not an origin is a boot error', async (t) => {
  for (const origin of ['partner.example', 'https://partner.example/', '*', 'null']) {
    await t.rejects(gatedApp(t, { csrf: { trustedOrigins: [origin] } }), {
      code: 'FMOD_CORE_INVALID_OPTION',
    })
  }
})
