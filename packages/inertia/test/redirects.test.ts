import { test } from 'tap'
import type { HTTPMethods } from 'fastify'
import { createApp, visit } from './fixture.js'

const host = 'site.test'

async function redirectTo(location: string, method: HTTPMethods = 'GET', status = 302) {
  const app = await createApp({}, (it) =>
    it.route({ method, url: '/', handler: (_, reply) => reply.redirect(location, status) }),
  )
  const options = { url: '/', method: method as 'GET', headers: { host } }
  return { inertia: await visit(app, options), plain: await app.inject(options) }
}

for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
  test(`a redirect after ${method} becomes 303, so that the client follows with GET`, async (t) => {
    const { inertia, plain } = await redirectTo('/notes', method)
    t.equal(inertia.statusCode, 303)
    t.equal(inertia.headers.location, '/notes')
    t.equal(plain.statusCode, 302)
  })
}

test('a redirect of a GET and one that keeps the method stay what they are', async (t) => {
  t.equal((await redirectTo('/notes')).inertia.statusCode, 302)
  t.equal((await redirectTo('/notes', 'PUT', 307)).inertia.statusCode, 307)
  t.equal((await redirectTo('/notes', 'PUT', 308)).inertia.statusCode, 308)
})

test('a redirect to another origin becomes a location visit', async (t) => {
  for (const location of ['https://login.test/?next=1', '//login.test/', 'http://site.test:81/']) {
    const { inertia, plain } = await redirectTo(location, 'POST')
    t.equal(inertia.statusCode, 409, location)
    t.equal(inertia.headers['x-inertia-location'], location)
    t.equal(inertia.headers.location, undefined)
    t.equal(inertia.headers.vary, 'X-Inertia')
    t.equal(inertia.body, '')
    t.equal(plain.headers.location, location)
  }
})

test('an absolute redirect to the own origin stays a redirect', async (t) => {
  t.equal((await redirectTo('http://site.test/notes')).inertia.statusCode, 302)
})

test('a redirect to a fragment becomes an Inertia redirect, which keeps it', async (t) => {
  const { inertia } = await redirectTo('/notes#latest', 'POST')
  t.equal(inertia.statusCode, 409)
  t.equal(inertia.headers['x-inertia-redirect'], '/notes#latest')
  t.equal((await redirectTo('/notes#latest', 'PUT', 307)).inertia.statusCode, 307)
})

test('a prefetch of a redirect to a fragment gets the page, which a background request can follow', async (t) => {
  const app = await createApp({}, (it) => it.get('/', (_, reply) => reply.redirect('/notes#latest')))
  for (const name of ['purpose', 'sec-purpose']) {
    const answer = await visit(app, { url: '/', headers: { [name]: 'prefetch' } })
    t.same([answer.statusCode, answer.headers.location], [302, '/notes#latest'])
  }
})

for (const [location, vary] of [
  ['/notes', undefined],
  ['/notes#latest', 'X-Inertia'],
  ['https://login.test/', 'X-Inertia'],
] as const)
  test(`a document that is redirected to ${location} says what a cache must not take it for: ${vary}`, async (t) => {
    const app = await createApp({}, (it) => {
      it.get('/', (_, reply) => reply.redirect(location, 301))
      it.get('/out', (_, reply) => reply.inertiaLocation(location))
    })
    const headers = { host, accept: 'text/html' }
    const { statusCode, headers: received } = await app.inject({ url: '/', headers })
    t.same([statusCode, received.location, received.vary], [301, location, vary])
    t.equal((await app.inject({ url: '/out', headers: { host } })).headers.vary, 'X-Inertia')
  })

test('redirects of every place are adapted: a head set by hand, an async handler, a hook, an error handler', async (t) => {
  const app = await createApp({}, (it) => {
    it.put('/by-hand', (_, reply) => reply.code(302).header('location', '/notes').send())
    it.put('/async', async (_, reply) => {
      reply.code(302).header('location', '/notes')
      return null
    })
    it.put('/hook', { preHandler: async (_, reply) => reply.redirect('/notes') }, () => 'never')
    it.put('/thrown', { errorHandler: (_, __, reply) => void reply.redirect('/notes', 302) }, () => {
      throw new Error('no')
    })
  })
  for (const url of ['/by-hand', '/async', '/hook', '/thrown']) {
    const answer = await visit(app, { url, method: 'PUT' })
    t.equal(answer.statusCode, 303, url)
    t.equal(answer.headers.location, '/notes')
    t.equal((await app.inject({ url, method: 'PUT' })).statusCode, 302)
  }
})

test('a handler that fails after it chose a redirect has failed', async (t) => {
  const app = await createApp({}, (it) =>
    it.get('/', (_, reply) => {
      reply.code(302).header('location', 'https://login.test/')
      throw new Error('no')
    }),
  )
  const answer = await visit(app, { url: '/' })
  t.equal(answer.statusCode, 500)
  t.equal(answer.headers['x-inertia-location'], undefined)
})

test('a redirect that browsers would ignore is not turned into one that they run', async (t) => {
  const { inertia } = await redirectTo('javascript:alert(1)')
  t.equal(inertia.statusCode, 302)
  t.equal(inertia.headers['x-inertia-location'], undefined)
})

test('an answer with a location that is not a redirect is left alone', async (t) => {
  const app = await createApp({}, (it) =>
    it.post('/', (_, reply) => reply.code(201).header('location', 'https://cdn.test/file').send({ id: 1 })),
  )
  const answer = await visit(app, { url: '/', method: 'POST' })
  t.equal(answer.statusCode, 201)
  t.same(answer.json(), { id: 1 })
})

test('a request with an unusable host still gets an answer', async (t) => {
  const app = await createApp({}, (it) => it.post('/', (_, reply) => reply.redirect('/next')))
  t.equal((await visit(app, { url: '/', method: 'POST', headers: { host: 'a b' } })).statusCode, 303)
})

test('inertiaLocation leaves the application: 409 for the client, a redirect for others', async (t) => {
  const app = await createApp({}, (it) => {
    it.get('/out', (_, reply) => reply.inertiaLocation('https://docs.test/é?q=a b'))
    it.post('/out', async (_, reply) => reply.inertiaLocation('/login'))
  })
  const client = await visit(app, { url: '/out' })
  t.equal(client.statusCode, 409)
  t.equal(client.headers['x-inertia-location'], 'https://docs.test/%C3%A9?q=a%20b')
  t.equal((await visit(app, { url: '/out', method: 'POST' })).headers['x-inertia-location'], '/login')
  const browser = await app.inject('/out')
  t.equal(browser.statusCode, 302)
  t.equal(browser.headers.location, 'https://docs.test/%C3%A9?q=a%20b')
  t.equal((await app.inject({ url: '/out', method: 'POST' })).statusCode, 303)
})

test('inertiaLocation refuses what a browser would run, and lets no header in', async (t) => {
  let url = ''
  const app = await createApp({}, (it) => it.get('/', (_, reply) => reply.inertiaLocation(url)))
  for (url of ['javascript:alert(1)', ' java\nscript:alert(1)', 'data:text/html,x', 'https://']) {
    const answer = await visit(app, { url: '/', headers: { host } })
    t.equal(answer.json().code, 'FMOD_INERTIA_UNSAFE_LOCATION', url)
    t.equal(answer.headers['x-inertia-location'], undefined)
  }
  url = '/a\r\nset-cookie: b=1'
  const answer = await visit(app, { url: '/', headers: { host } })
  t.equal(answer.headers['x-inertia-location'], '/a%0D%0Aset-cookie:%20b=1')
  t.equal(answer.headers['set-cookie'], undefined)
})

const basePath = '/tools/app'

/** What a handler redirects to behind a proxy that takes the base path away, and the header that the client reads. */
const behindProxy: readonly (readonly [to: string, header: string, expected: string])[] = [
  ['/notes#below', 'x-inertia-redirect', '/tools/app/notes#below'],
  ['https://example.com/a', 'x-inertia-location', 'https://example.com/a'],
  ['//example.com/a', 'x-inertia-location', '//example.com/a'],
  ['/notes', 'location', '/notes'], // the proxy mends this one
]

for (const [to, header, expected] of behindProxy) {
  test(`behind a proxy a redirect to ${to} has ${header}: ${expected}`, async (t) => {
    const app = await createApp({ basePath }, (it) => it.post('/', (_, reply) => reply.redirect(to)))
    t.equal((await visit(app, { method: 'POST', url: '/' })).headers[header], expected)
  })
}

test('behind a proxy a stale page and a page outside are addressed with the base path', async (t) => {
  const app = await createApp({ basePath }, (it) =>
    it.get('/file', (_, reply) => reply.inertiaLocation('/a.pdf')),
  )
  const stale = await visit(app, { url: '/file?a=1', headers: { 'x-inertia-version': 'old' } })
  t.equal(stale.headers['x-inertia-location'], '/tools/app/file?a=1')
  t.equal((await visit(app, { url: '/file' })).headers['x-inertia-location'], '/tools/app/a.pdf')
  t.equal((await app.inject('/file')).headers.location, '/a.pdf', 'the proxy mends this one')
})
