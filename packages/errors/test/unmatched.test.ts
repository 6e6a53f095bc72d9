import { test } from 'tap'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import { createApp, type Fixture, listen } from './support/app.js'
import {
  browserHeaders,
  documentOf,
  inertiaHeaders,
  type PageBody,
  pageOf,
  problemOf,
} from './support/expect.js'

const message = 'The requested resource was not found.'

const always = { errors: { pages: 'inertia' } } as const

test('S 4.3, E25, E26, E32: an unmatched GET is a page, for browsers and for clients without a preference', async (t) => {
  const { app } = await createApp(t, always)
  for (const headers of [{}, browserHeaders, { accept: '*/*' }]) {
    const html = documentOf(t, await app.inject({ url: '/nope', headers }), 404)
    t.match(html, '<title>Not Found</title>')
    t.match(html, message)
    t.notMatch(html, /<script|<link|src=/, 'self-contained (decision 55)')
  }
})

test('S 4.3, E27: the Inertia client gets page Error/404', async (t) => {
  const { app } = await createApp(t)
  const page = pageOf(t, await app.inject({ url: '/nope?a=1', headers: inertiaHeaders }), 404)
  t.same(page.props, { status: 404, title: 'Not Found', message })
  t.equal(page.url, '/nope?a=1')
  t.equal(page.version, null, 'decision 55: no adapter, no version')
})

test('S 7.2.4, E28 and E29: an unmatched request of another method is a problem', async (t) => {
  const { app } = await createApp(t)
  const answer = await app.inject({ method: 'POST', url: '/nope', payload: {}, headers: browserHeaders })
  const body = problemOf(t, answer, 404, 'Not Found')
  t.equal(body.type, 'about:blank')
  t.equal(body.detail, message)
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
    problemOf(t, await app.inject({ method, url: '/nope' }), 404, 'Not Found')
  }
})

test('E30: HEAD of an unmatched path has the headers of the page and no body', async (t) => {
  const { app } = await createApp(t, always)
  const head = await app.inject({ method: 'HEAD', url: '/nope' })
  const get = await app.inject('/nope')
  t.equal(head.statusCode, 404)
  t.match(head.headers['content-type'], /^text\/html/)
  t.equal(head.body, '')
  t.equal(head.headers['content-length'], get.headers['content-length'])
})

test('S 7.2.4, E40, E41, E43: what handlers and gates send is theirs', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .get('/private', (_, reply) => reply.code(401).send())
        .get('/forbidden-bare', (_, reply) => reply.code(403).send('no'))
        .get('/own-404', (_, reply) => reply.code(404).send({ x: 1 })),
  })
  for (const headers of [{}, inertiaHeaders, browserHeaders]) {
    const bare401 = await app.inject({ url: '/private', headers })
    t.same([bare401.statusCode, bare401.body], [401, ''])
    const bare403 = await app.inject({ url: '/forbidden-bare', headers })
    t.same([bare403.statusCode, bare403.body], [403, 'no'])
    const own404 = await app.inject({ url: '/own-404', headers })
    t.same([own404.statusCode, own404.json()], [404, { x: 1 }])
  }
})

test('S 5.1, E42: a gate refuses before an unmatched path is looked at', async (t) => {
  const { app, failures } = await gated(t)
  const answer = await app.inject({ url: '/nope', headers: { accept: 'application/json' } })
  t.same([answer.statusCode, answer.body], [401, '{"gate":true}'])
  t.same(failures(), [])
})

function gated(t: Parameters<typeof createApp>[0]): Promise<Fixture> {
  return createApp(t, {
    after: (it) =>
      it.addHook('onRequest', (_request, reply, _done) => {
        void reply.code(401).send({ gate: true })
      }),
  })
}

test('a handler that calls callNotFound without returning gets the same page', async (t) => {
  const { app } = await createApp(t, {
    ...always,
    after: (it) =>
      it
        .get('/sync', (_, reply) => reply.callNotFound())
        .get('/async', async (_, reply) => {
          reply.callNotFound()
        }),
  })
  for (const url of ['/sync', '/async']) documentOf(t, await app.inject(url), 404)
})

test('a scope with its own not-found handler keeps it', async (t) => {
  const { app } = await createApp(t, {
    ...always,
    after: (it) =>
      it.register(async (scope) => scope.setNotFoundHandler((_, reply) => reply.code(404).send('mine')), {
        prefix: '/own',
      }),
  })
  t.equal((await app.inject('/own/x')).body, 'mine')
  documentOf(t, await app.inject('/x'), 404)
})

test('the address of a page never leads off the site', async (t) => {
  const { app } = await createApp(t)
  const address = await listen(app)
  const urlOf = async (target: string): Promise<string> => {
    const { text } = await rawRequest(address, { target, headers: { 'x-inertia': 'true' } })
    return (JSON.parse(text) as PageBody).url
  }
  t.equal(await urlOf('/x?a=//b'), '/x?a=//b')
  for (const target of ['//evil.example/x', '/\\evil.example', 'http://evil.example/x'])
    t.equal(await urlOf(target), '/')
})
