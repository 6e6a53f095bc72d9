import { publicRoutes, safeReturnTo } from '@fastify-modular/public-routes'
import fc from 'fast-check'
import Fastify from 'fastify'
import { test } from 'tap'
import { gatedApp } from '../support/application.ts'

for (const value of ['/', '/page', '/page?tab=2', '/a/b/?x=/y', '/caf%C3%A9?q=%2F%2Fevil']) {
  test(`returning to ${value} is safe`, async (t) => {
    t.equal(safeReturnTo(value), value)
  })
}

const unsafe = [
  '',
  'page',
  '//evil.com',
  '///evil.com',
  '/\\evil.com',
  '\\\\evil.com',
  'https://evil.com',
  'javascript:alert(1)',
  '/%2F%2Fevil.com',
  '/..//evil.com',
  '/a\r\nb',
  '/a\u0000',
  '/a?b\r\nset-cookie:x',
  '/\tevil',
  '/a b',
  `/${'a'.repeat(3000)}`,
  undefined,
  null,
  42,
  ['/a'],
  {},
]

for (const value of unsafe) {
  test(`returning to ${JSON.stringify(value)?.slice(0, 40)} is refused`, async (t) => {
    t.equal(safeReturnTo(value), null)
  })
}

test('property 11: what is returned to stays on this site, whatever a browser makes of it', async (t) => {
  const piece = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    'evil.com',
    '@',
    ':',
    '%2f',
    '%5c',
    '?',
    '#',
    'a',
    '\t',
    '\n',
    ' ',
    'http:',
    '%00',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const safe = safeReturnTo(pieces.join(''))
      return safe === null || new URL(safe, 'https://app.example').origin === 'https://app.example'
    }),
    { numRuns: 20_000, seed: 1 },
  )
  t.pass()
})

test('property 11: Location is this site and carries a page of this site, for any target', async (t) => {
  const app = await gatedApp(t, { provider: { authenticate: () => null, loginUrl: '/login?lang=de' } })
  app.get('/login', { config: { access: 'public' } }, async () => 'login')
  await fc.assert(
    fc.asyncProperty(fc.webPath(), fc.webQueryParameters(), async (path, query) => {
      const answer = await app.inject({ url: `/p${path}?${query}`, headers: { accept: 'text/html' } })
      const location = new URL(String(answer.headers.location), 'https://app.example')
      const returnTo = location.searchParams.get('returnTo') ?? '/'
      t.equal(location.origin, 'https://app.example')
      t.equal(location.pathname, '/login')
      t.equal(location.searchParams.get('lang'), 'de')
      t.equal(new URL(returnTo, 'https://app.example').origin, 'https://app.example')
    }),
    { numRuns: 300, seed: 2 },
  )
})

test('with rewriteUrl, people return to the address that they came from', async (t) => {
  const app = Fastify({ rewriteUrl: ({ url = '' }) => url.replace(/^\/app/, '') })
  t.teardown(() => app.close())
  await app.register(publicRoutes, {
    provider: { authenticate: () => null, loginUrl: '/login' },
    env: false,
  })
  app.get('/login', { config: { access: 'public' } }, async () => 'login')
  app.get('/notes', async () => 'notes')
  const page = await app.inject({ url: '/app/notes?x=1', headers: { accept: 'text/html' } })
  t.equal(page.headers.location, `/login?returnTo=${encodeURIComponent('/app/notes?x=1')}`)
  const problem = await app.inject({ url: '/app/notes?x=1', headers: { accept: 'application/json' } })
  t.match(problem.json(), { status: 401, instance: '/app/notes' })
})
