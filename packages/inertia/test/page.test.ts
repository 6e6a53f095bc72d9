import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { createApp, embeddedPage, visit } from './fixture.js'

test('S 2.9: a first visit gets a document with the page as data beside the root element', async (t) => {
  const app = await createApp({}, (it) =>
    it.get('/notes', (_, reply) => reply.inertia('Notes', { count: 2 })),
  )
  const answer = await app.inject('/notes?page=2')
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
  t.equal(answer.headers['x-inertia'], undefined)
  t.equal(answer.headers.vary, 'X-Inertia')
  t.same(embeddedPage(answer.body), {
    component: 'Notes',
    props: { count: 2, errors: {} },
    url: '/notes?page=2',
    version: 'v1',
  })
})

test('S 7.2.1: the client gets the page as JSON, marked by X-Inertia', async (t) => {
  const app = await createApp({}, (it) =>
    it.get('/notes', async (_, reply) => reply.inertia('Notes', { count: 2 })),
  )
  const answer = await visit(app, { url: '/notes' })
  t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  t.equal(answer.headers['x-inertia'], 'true')
  t.same(answer.json(), { component: 'Notes', props: { count: 2, errors: {} }, url: '/notes', version: 'v1' })
})

test('X-Inertia decides before Accept: the client asks for text/html and gets JSON', async (t) => {
  const app = await createApp({}, (it) => it.get('/', (_, reply) => reply.inertia('Home')))
  const answer = await visit(app, { url: '/', headers: { accept: 'text/html, application/xhtml+xml' } })
  t.equal(answer.json().component, 'Home')
})

test('Vary is appended to what the application set, once', async (t) => {
  const app = await createApp({}, (it) => {
    it.get('/cookie', (_, reply) => reply.header('vary', 'Cookie').inertia('Home'))
    it.get('/twice', (_, reply) => reply.header('vary', 'cookie, x-inertia').inertia('Home'))
    it.get('/any', (_, reply) => reply.header('vary', '*').inertia('Home'))
  })
  t.equal((await app.inject('/cookie')).headers.vary, 'Cookie, X-Inertia')
  t.equal((await visit(app, { url: '/twice' })).headers.vary, 'cookie, x-inertia')
  t.equal((await app.inject('/any')).headers.vary, '*')
})

test('the status that the handler set is kept', async (t) => {
  const app = await createApp({}, (it) => it.post('/', (_, reply) => reply.code(422).inertia('Form')))
  t.equal((await visit(app, { url: '/', method: 'POST' })).statusCode, 422)
})

test('HEAD gets the headers of the document and no body', async (t) => {
  const app = await createApp({}, (it) => it.get('/', (_, reply) => reply.inertia('Home')))
  const answer = await app.inject({ url: '/', method: 'HEAD' })
  t.equal(answer.statusCode, 200)
  t.equal(answer.body, '')
  t.equal(answer.headers['content-length'], (await app.inject('/')).headers['content-length'])
})

test('a page answered to a POST keeps the address of the page it was sent from, on the same site only', async (t) => {
  const app = await createApp({}, (it) => it.post('/orders', (_, reply) => reply.inertia('Form')))
  const urlFor = async (referer?: string) => {
    const headers = { host: 'shop.test', ...(referer !== undefined && { referer }) }
    return (await visit(app, { url: '/orders', method: 'POST', headers })).json().url
  }
  t.equal(await urlFor('http://shop.test/orders/new?from=1'), '/orders/new?from=1')
  t.equal(await urlFor('http://shop.test//evil.test/'), '/orders')
  t.equal(await urlFor('http://evil.test/orders/new'), '/orders')
  t.equal(await urlFor('not a url'), '/orders')
  t.equal(await urlFor(), '/orders')
})

test('a page may say its address, and messages that it shows itself', async (t) => {
  const app = await createApp({ basePath: '/app' }, (it) => {
    it.post('/orders', (_, reply) =>
      reply.inertia('Order', {}, { url: '/orders/7?new', flash: { message: 'Ordered.' } }),
    )
    it.post('/evil', (_, reply) => reply.inertia('Order', {}, { url: '//evil.test/' }))
  })
  const headers = { host: 'shop.test', referer: 'http://shop.test/app/cart' }
  const page = (await visit(app, { url: '/orders', method: 'POST', headers })).json()
  t.same([page.url, page.flash], ['/app/orders/7?new', { message: 'Ordered.' }])
  t.equal((await visit(app, { url: '/evil', method: 'POST', headers })).json().url, '/app/evil.test/')
})

test('history flags travel in the page, from the page or from the plugin', async (t) => {
  const app = await createApp({ encryptHistory: true }, (it) => {
    it.get('/secret', (_, reply) => reply.inertia('Secret'))
    it.get('/open', (_, reply) =>
      reply.inertia('Open', {}, { encryptHistory: false, preserveFragment: true }),
    )
    it.get('/bye', (_, reply) => reply.inertia('Bye', {}, { clearHistory: true }))
  })
  const flagsOf = async (url: string) => {
    const { encryptHistory, clearHistory, preserveFragment } = (await visit(app, { url })).json()
    return { encryptHistory, clearHistory, preserveFragment }
  }
  t.same(await flagsOf('/secret'), {
    encryptHistory: true,
    clearHistory: undefined,
    preserveFragment: undefined,
  })
  t.same(await flagsOf('/open'), {
    encryptHistory: undefined,
    clearHistory: undefined,
    preserveFragment: true,
  })
  t.same(await flagsOf('/bye'), { encryptHistory: true, clearHistory: true, preserveFragment: undefined })
})

test('with encrypted history every document throws away the key of what the tab held before; visits keep it', async (t) => {
  const routes = (it: FastifyInstance) => {
    it.get('/', (_, reply) => reply.inertia('Page'))
    it.get('/open', (_, reply) => reply.inertia('Page', {}, { encryptHistory: false }))
    it.get('/private', (_, reply) => reply.inertia('Page', {}, { encryptHistory: true }))
    it.get('/bare', async (request, reply) => {
      const page = { component: 'Error/404', props: {}, status: 404, shared: false }
      const { body, contentType } = await it.inertia.render(request, reply, page)
      return reply.type(contentType).send(body)
    })
  }
  for (const [encryptHistory, cleared] of [
    [true, ['/', '/open', '/private', '/bare']],
    [false, ['/private']],
  ] as const) {
    const app = await createApp({ encryptHistory }, routes)
    for (const url of ['/', '/open', '/private', '/bare']) {
      const { body } = await app.inject(url)
      t.equal(embeddedPage(body).clearHistory, cleared.some((each) => each === url) || undefined, url)
      t.equal((await visit(app, { url })).json().clearHistory, undefined, `${url}, a visit`)
    }
  }
})

test('app.inertia renders without sending, with nothing but the props where nothing is shared', async (t) => {
  const app = await createApp({ share: { app: 'shared' } }, (it) =>
    it.get('/', async (request, reply) => {
      const props = { status: 404, title: 'Not Found', message: 'Gone' }
      const page = { component: 'Error/404', props, status: 404 }
      const bare = await it.inertia.render(request, reply, { ...page, shared: false })
      const full = await it.inertia.render(request, reply, { ...page, shared: true })
      return {
        bare: JSON.parse(String(bare.body)),
        full: JSON.parse(String(full.body)),
        headers: bare.headers,
      }
    }),
  )
  const { bare, full, headers } = (await visit(app, { url: '/' })).json()
  t.same(bare.props, { status: 404, title: 'Not Found', message: 'Gone' })
  t.same(full.props, { status: 404, title: 'Not Found', message: 'Gone', app: 'shared', errors: {} })
  t.same(headers, { vary: 'X-Inertia', 'x-inertia': 'true' })
  t.equal(app.inertia.version(), 'v1')
})

test('a page without a partial match is whole: error pages never answer a partial reload of another component', async (t) => {
  const app = await createApp({}, (it) =>
    it.get('/', async (request, reply) => {
      const page = {
        component: 'Error/404',
        props: { status: 404, title: 'Not Found' },
        status: 404,
        shared: false,
      }
      return reply.send(JSON.parse(String((await it.inertia.render(request, reply, page)).body)))
    }),
  )
  const headers = { 'x-inertia-partial-component': 'Error/404', 'x-inertia-partial-data': 'status' }
  t.same((await visit(app, { url: '/', headers })).json().props, { status: 404, title: 'Not Found' })
})
