/** Forms: what is refused comes back to its page with its errors. */
import cookie from '@fastify/cookie'
import { cookieFlash, inertia, type Page } from '@fastify-modular/inertia'
import Fastify from 'fastify'
import { test } from 'tap'
import { embeddedPage } from './fixture.js'
import { Client, client, createApp, secret } from './form-fixture.js'

test('a form that the schema refuses is shown again with the first message of each field', async (t) => {
  const { answer, page } = await (
    await client(t)
  ).submit('/notes?page=2', '/notes', { title: 'a', body: 'too long' })
  t.equal(answer.statusCode, 303)
  t.equal(answer.headers.location, '/notes?page=2')
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(answer.body, '')
  t.match(page, { component: 'Notes', url: '/notes?page=2', props: { list: [1] } })
  t.same(page?.props['errors'], { title: 'must NOT have fewer than 3 characters' })
})

test('a ValidationException is treated alike, field by field or as one message', async (t) => {
  const sent = await client(t)
  const byField = await sent.submit('/notes', '/throws', { title: ['is taken', 'is short'], tag: ['is odd'] })
  t.same(byField.page?.props['errors'], { title: 'is taken', tag: 'is odd' })
  const whole = await sent.submit('/notes', '/throws', { message: 'The shop is closed.' })
  t.same(whole.page?.props['errors'], { form: 'The shop is closed.' })
})

test('two forms of one page keep their errors apart by their bags', async (t) => {
  const { page } = await (await client(t)).submit('/notes', '/notes', {}, { 'x-inertia-error-bag': 'create' })
  t.same(page?.props['errors'], { create: { title: "must have required property 'title'" } })
})

test('errors and messages of a handler come with the next page, once', async (t) => {
  const sent = await client(t)
  const { page } = await sent.submit('/notes', '/taken', {})
  t.same([page?.props['errors'], page?.flash], [{ title: 'is taken' }, { tries: 2 }])
  const again = (await sent.send('GET', '/notes')).json<Page>()
  t.same([again.props['errors'], again.flash], [{}, undefined])
  const saved = await sent.submit('/notes', '/notes', { title: 'Tea' })
  t.same([saved.page?.props['errors'], saved.page?.flash], [{}, { message: 'Saved.' }])
})

test('errors, messages and flags go with a redirect to another page, and to no other', async (t) => {
  const app = await createApp(t)
  const left = {
    errors: { a: 'b' },
    flash: { message: 'Saved.' },
    clearHistory: true,
    preserveFragment: true,
  }
  app.post('/to', (request, reply) => reply.inertiaBack({ ...left, to: (request.body as { to: string }).to }))
  app.get('/to', (_, reply) => reply.inertiaBack({ to: '/to' }))
  const sent = new Client(app)
  const { answer, page } = await sent.submit('/new', '/to', { to: '/notes?page=2' })
  t.same([answer.statusCode, answer.headers.location], [303, '/notes?page=2'])
  t.match(page, { url: '/notes?page=2', flash: left.flash, clearHistory: true, preserveFragment: true })
  t.same(page?.props['errors'], left.errors)
  const again = (await sent.send('GET', '/notes?page=2')).json<Page>()
  t.same([again.flash, again.clearHistory, again.preserveFragment], [undefined, undefined, undefined])

  const below = await sent.submit('/new', '/to', { to: '/notes#latest' })
  t.same([below.answer.statusCode, below.answer.headers['x-inertia-redirect']], [409, '/notes#latest'])
  t.same((await sent.send('GET', '/new')).json<Page>().flash, undefined)
  t.same((await sent.send('GET', '/notes')).json<Page>().flash, left.flash)

  for (const to of [
    '//evil.example/',
    'https://evil.example/',
    'notes',
    '/a/../b',
    '/é',
    '/a b',
    '/a#b\r\nx: y',
  ]) {
    const refused = await sent.submit('/new', '/to', { to })
    t.same([refused.answer.statusCode, refused.answer.headers['set-cookie']], [500, undefined], to)
  }
  t.equal((await sent.send('GET', '/to')).statusCode, 500, 'to itself')
})

test('a form that names the props that it wants back gets its errors with them', async (t) => {
  const sent = await client(t)
  const partial = { 'x-inertia-partial-component': 'Notes', 'x-inertia-partial-data': 'list' }
  const { page } = await sent.submit('/notes', '/taken', {}, partial)
  t.same(page?.props, { list: [1], errors: { title: 'is taken' } })
  t.same(page?.flash, { tries: 2 })
  const polled = (await sent.send('GET', '/notes', { headers: partial })).json<Page>()
  t.same([polled.props['errors'], polled.flash], [{}, undefined], 'once')

  await sent.send('POST', '/taken', { headers: { ...partial, referer: 'http://app.test/notes' } })
  const other = { ...partial, 'x-inertia-partial-data': 'count' }
  t.same((await sent.send('GET', '/notes', { headers: other })).json<Page>().props['errors'], {}, 'a poll')
  t.same((await sent.send('GET', '/notes')).json<Page>().props['errors'], { title: 'is taken' })
})

test('an answer for another page does not bring back what its own page has shown', async (t) => {
  const sent = await client(t)
  await sent.send('POST', '/taken', { headers: { referer: 'http://app.test/notes' } })
  const other = await sent.send('GET', '/new')
  t.equal(other.headers['set-cookie'], undefined, 'which may arrive after the page')
})

test('a handler of GET that goes back never redirects to itself', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(cookie)
  await app.register(inertia, { flash: cookieFlash({ secret }) })
  app.get('/notes', (_, reply) => reply.inertia('Notes'))
  app.get('/verify', (_, reply) => reply.inertiaBack({ flash: { message: 'Thanks.' } }))
  app.get('/', (_, reply) => reply.inertiaBack())
  const goesTo = async (url: string, referer?: string) => {
    const answer = await app.inject({ url, headers: { host: 'app.test', ...(referer && { referer }) } })
    return answer.headers.location ?? answer.json().code
  }
  t.equal(await goesTo('/verify', 'http://app.test/notes'), '/notes')
  t.equal(await goesTo('/verify', 'http://app.test/verify'), '/')
  t.equal(await goesTo('/verify'), '/')
  t.equal(await goesTo('/'), 'FMOD_INERTIA_INVALID_FLASH')
  t.equal(await goesTo('/', 'http://app.test/'), 'FMOD_INERTIA_INVALID_FLASH')
})

test('what a validator of Standard Schema throws goes back to the form, under the names of its fields', async (t) => {
  const app = await createApp(t)
  app.post('/issues', async () => {
    throw Object.assign(new Error('x'), {
      issues: [{ message: 'Too short', path: ['owner', { key: 'name' }] }],
    })
  })
  const { answer, page } = await new Client(app).submit('/notes', '/issues', {})
  t.same([answer.statusCode, page?.props['errors']], [303, { 'owner.name': 'Too short' }])
})

test('a form without script goes back, too: the document carries the errors', async (t) => {
  const sent = await client(t)
  sent.hasScript = false
  const headers = { referer: 'http://app.test/notes' }
  const answer = await sent.send('POST', '/taken', { payload: {}, headers })
  t.same([answer.statusCode, answer.headers.location], [303, '/notes'])
  const { body } = await sent.send('GET', '/notes')
  t.same(embeddedPage(body).props['errors'], { title: 'is taken' })
})

test('one line of the log names the policy that takes the Referer away, whatever is refused without one', async (t) => {
  const lines: unknown[] = []
  const app = await createApp(t)
  app.addHook('onRequest', async ({ log }) => {
    log.warn = (text: unknown) => void lines.push(text)
  })
  const sent = new Client(app)
  await sent.submit('/notes', '/throws', { title: ['x'] })
  t.same(lines, [])
  for (const url of ['/throws', '/new', '/taken']) await sent.send('POST', url, { payload: { title: '' } })
  t.equal(lines.length, 1)
  t.match(lines, [/Referrer-Policy such as same-origin/])
})

/** Where a refused form goes: its own path, the referer, and what is answered. */
const addresses: readonly (readonly [
  what: string,
  url: string,
  referer: string | undefined,
  to: string | 400,
])[] = [
  ['the page it was sent from', '/notes', 'http://app.test/notes', '/notes'],
  ['with its query', '/notes', 'http://app.test/notes?q=a%20b', '/notes?q=a%20b'],
  ['a page with parameters', '/notes', 'http://app.test/notes/7/edit', '/notes/7/edit'],
  ['https behind a proxy', '/notes', 'https://app.test/notes', '/notes'],
  ['a page that is gone, and says so itself', '/new', 'http://app.test/missing', '/missing'],
  ['a page that was registered before the plugin', '/new', 'http://app.test/early', '/early'],
  ['a page spelt as only some routers read it', '/new', 'http://app.test/NOTES/', '/NOTES/'],
  ['its own address, without a referer', '/new?from=1', undefined, '/new?from=1'],
  ['its own address, with its parameters', '/items/7', undefined, '/items/7'],
  ['its own address, if the referer is of another site', '/new', 'http://evil.example/notes', '/new'],
  ['its own address, if the referer is of another port', '/new', 'http://app.test:81/notes', '/new'],
  ['its own address, if the referer is not a URL', '/new', 'nonsense', '/new'],
  ['its own address, if the referer is not canonical', '/new', 'http://app.test//notes', '/new'],
  ['its own address, if the referer hides its path', '/new', 'http://app.test/%6eotes', '/new'],
  ['nowhere: GET has no route of its pattern', '/throws', undefined, 400],
  ['nowhere: the literal answer to foreign referers', '/throws', 'http://evil.example/notes', 400],
  ['nowhere: its own address would leave the site', '//evil.example/x', undefined, 400],
  ['nowhere: the API', '/api/notes', 'http://app.test/notes', 400],
  ['nowhere: a route for programs', '/programs', 'http://app.test/notes', 400],
]

for (const [what, url, referer, to] of addresses) {
  test(`a refused form goes to ${what}: ${url} from ${referer}`, async (t) => {
    const headers = { ...(referer && { referer }) }
    const answer = await (await client(t)).send('POST', url, { payload: { title: [''] }, headers })
    if (to === 400) {
      t.equal(answer.statusCode, 400)
      t.equal(answer.json<Page>().component, 'Error/400')
      t.equal(answer.headers['set-cookie'], undefined)
    } else t.same([answer.statusCode, answer.headers.location], [303, to])
  })
}

test('other failures, other methods and other clients are answered literally', async (t) => {
  const sent = await client(t)
  const referer = 'http://app.test/notes'
  t.equal((await sent.send('POST', '/fails', { headers: { referer } })).json<Page>().component, 'Error/500')
  sent.hasScript = false
  const answer = await sent.send('POST', '/notes', { payload: {}, headers: { referer } })
  t.equal(answer.headers['content-type'], 'application/problem+json')
  t.equal(answer.statusCode, 400)
})

test('without the option a refused form is answered as any other failure (S 7.2.1)', async (t) => {
  const { answer } = await (await client(t, {})).submit('/notes', '/notes', {})
  t.equal(answer.statusCode, 400)
  t.match(answer.json(), { component: 'Error/400', props: { status: 400, title: 'Validation Error' } })
})

test('behind a proxy that takes a prefix away, the page is compared without it, and addresses carry it', async (t) => {
  const sent = await client(t, { flash: cookieFlash({ secret }), basePath: '/tools/app' })
  const { answer, page } = await sent.submit('/tools/app/notes', '/notes', {})
  t.equal(answer.headers.location, '/notes', 'which the proxy mends')
  t.equal(page?.url, '/tools/app/notes')
  t.match(page?.props['errors'], { title: /required/ })
  const home = await sent.submit('/tools/app?q=1', '/throws', { title: ['x'] })
  t.equal(home.answer.headers.location, '/?q=1', 'its root, without the slash')
  for (const from of ['/notes', '/tools/apple/notes']) {
    const foreign = await sent.submit(from, '/throws', { title: ['x'] })
    t.equal(foreign.answer.statusCode, 400, 'a page of the host behind the same proxy')
  }
})
