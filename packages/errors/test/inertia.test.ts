import { inertia, type InertiaOptions } from '@fastify-modular/inertia'
import type { LightMyRequestResponse } from 'fastify'
import { type Test, test } from 'tap'
import { ForbiddenException, NotFoundException } from '@fastify-modular/core'
import type { ErrorsOptions } from '@fastify-modular/errors'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import { createApp, type Fixture, listen, throwing } from './support/app.js'
import {
  browserHeaders,
  documentOf,
  inertiaHeaders,
  type PageBody,
  pageOf,
  problemOf,
} from './support/expect.js'

const stale = { ...inertiaHeaders, 'x-inertia-version': 'v0' }

function createFront(
  t: Test,
  options: InertiaOptions = {},
  pages: ErrorsOptions['pages'] = 'inertia',
): Promise<Fixture> {
  return createApp(t, {
    errors: { pages },
    after: async (it) => {
      await it.register(inertia, { version: 'v1', ...options })
      it.get('/page', (_, reply) => reply.inertia('Home', { hello: 'world' }))
      it.post('/page', (_, reply) => reply.inertia('Home'))
      it.put('/page', (_, reply) => reply.redirect('/page'))
      it.get('/missing', throwing(new NotFoundException('Product', '</script><script>alert(1)</script>')))
      it.get('/broken', throwing(new Error('secret')))
      it.get('/forbidden', throwing(new ForbiddenException()))
    },
  })
}

/** The page object of a full document. */
function embeddedPage(t: Test, answer: LightMyRequestResponse, status: number): PageBody {
  const html = documentOf(t, answer, status)
  t.match(html, /id="app"/)
  const [, json] = /<script data-page="app" type="application\/json">([^]*?)<\/script>/.exec(html) ?? []
  return JSON.parse(json ?? 'null') as PageBody
}

test('decision 55: with the adapter, an unmatched GET is a full render with shared props', async (t) => {
  const { app } = await createFront(t, { share: () => ({ user: 'Ada' }) })
  for (const headers of [{}, browserHeaders, { accept: '*/*' }]) {
    const page = embeddedPage(t, await app.inject({ url: '/nope?a=1', headers }), 404)
    t.match(page, { component: 'Error/404', url: '/nope?a=1', version: 'v1' })
    t.match(page.props, { status: 404, title: 'Not Found', user: 'Ada' })
  }
  const visited = pageOf(t, await app.inject({ url: '/nope', headers: inertiaHeaders }), 404)
  t.match(visited, { version: 'v1', props: { user: 'Ada' } })
})

test('S 4.3: /error/{statusCode} is a full render too', async (t) => {
  const { app } = await createFront(t, { share: () => ({ user: 'Ada' }) })
  const page = embeddedPage(t, await app.inject('/error/403'), 403)
  t.match(page, { component: 'Error/403', props: { status: 403, title: 'Forbidden', user: 'Ada' } })
})

test('S 7.2.1: the page of a thrown error has exactly its three props, and the version', async (t) => {
  const { app } = await createFront(t, { share: () => ({ user: 'Ada' }) })
  const page = pageOf(t, await app.inject({ url: '/missing', headers: inertiaHeaders }), 404)
  t.same(Object.keys(page.props), ['status', 'title', 'message'])
  t.equal(page.version, 'v1')
  t.equal(page.url, '/missing')
  problemOf(t, await app.inject({ url: '/missing', headers: browserHeaders }), 404)
})

test('error documents, and visits of missing addresses, carry the shared props, and do without them when they fail', async (t) => {
  for (const [share, expected] of [
    [() => ({ user: 'Ada' }), 'Ada'],
    [() => Promise.reject(new Error('the database is down')), undefined],
  ] as const) {
    const { app } = await createFront(t, { share }, 'browsers')
    for (const page of [
      embeddedPage(t, await app.inject({ url: '/missing', headers: browserHeaders }), 404),
      embeddedPage(t, await app.inject('/nope'), 404),
      pageOf(t, await app.inject({ url: '/nope', headers: inertiaHeaders }), 404),
    ]) {
      t.match(page, { component: 'Error/404', props: { status: 404 } })
      t.same(Object.entries(page.props).find(([name]) => name === 'user')?.[1], expected)
    }
  }
})

test('UI-34: a document about a defect names the request as the log does; a visit and a 4xx do not', async (t) => {
  const { app } = await createFront(t, {}, 'browsers')
  const shown = async (url: string, status: number) =>
    embeddedPage(t, await app.inject({ url, headers: browserHeaders }), status)
  t.match(await shown('/error/500', 200), { props: { requestId: /^req-/ } })
  t.match(await shown('/broken', 500), { props: { requestId: /^req-/ } })
  t.notOk('requestId' in (await shown('/error/404', 404)).props)
  const visited = pageOf(t, await app.inject({ url: '/broken', headers: inertiaHeaders }), 500)
  t.same(Object.keys(visited.props), ['status', 'title', 'message'])
})

test('pages for browsers carry hostile text as data', async (t) => {
  const { app } = await createFront(t, {}, 'browsers')
  const answer = await app.inject({ url: '/missing', headers: browserHeaders })
  t.match(embeddedPage(t, answer, 404).props.message, '</script>')
  t.equal(answer.body.match(/<script/g)?.length, 1)
})

test('E78 and E80: a stale client reloads before it is shown an error', async (t) => {
  const { app } = await createFront(t)
  for (const url of ['/page', '/nope']) {
    const answer = await app.inject({ url, headers: stale })
    t.same([answer.statusCode, answer.body], [409, ''])
    t.equal(answer.headers['x-inertia-location'], url)
    t.equal(answer.headers['x-inertia'], undefined)
  }
})

test('a document that fails leads to the static page, not to a loop', async (t) => {
  const { app, failures } = await createFront(t, {
    rootTemplate: throwing(new Error('secret')),
  })
  const answer = await app.inject('/nope')
  t.equal(answer.statusCode, 500)
  t.match(answer.body, 'Internal Server Error')
  t.notMatch(answer.body, 'secret')
  t.match(failures(), [{ level: 50, err: { message: 'secret' } }])
  const page = await app.inject('/page')
  problemOf(t, page, 500)
})

test('bad URLs are a page with the version, where the client asks', async (t) => {
  const { app } = await createFront(t)
  const answer = await rawRequest(await listen(app), { target: '/%zz', headers: { 'x-inertia': 'true' } })
  t.match(JSON.parse(answer.text), { component: 'Error/400', url: '/', version: 'v1' })
})

test('registered in any order, the adapter is found when it is used', async (t) => {
  const { app } = await createApp(t, {
    before: (it) => it.register(inertia, { version: 'v1' }),
  })
  t.equal(pageOf(t, await app.inject({ url: '/nope', headers: inertiaHeaders }), 404).version, 'v1')
})
