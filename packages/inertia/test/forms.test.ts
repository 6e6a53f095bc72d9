/** Forms: what is refused comes back with its errors, and messages are shown once. */
import cookie from '@fastify/cookie'
import { errors } from '@fastify-modular/errors'
import { type Caller, ValidationException } from '@fastify-modular/core'
import {
  cookieFlash,
  type FlashEntry,
  type FlashStore,
  inertia,
  type InertiaOptions,
  type Page,
} from '@fastify-modular/inertia'
import Fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import { test, type Test } from 'tap'
import { embeddedPage } from './fixture.js'

const secret = 'a secret of thirty-two characters or more'
const schema = {
  body: {
    type: 'object',
    required: ['title'],
    properties: { title: { type: 'string', minLength: 3 }, body: { type: 'string', maxLength: 5 } },
  },
} as const

/** A client that keeps cookies, and says who calls by a header. */
class Client {
  readonly #app: FastifyInstance
  readonly #jar = new Map<string, string>()
  readonly setCookies: string[] = []
  caller = ''
  hasScript = true

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  async send(method: 'GET' | 'POST' | 'HEAD' | 'PUT', url: string, options: InjectOptions = {}) {
    const answer = await this.#app.inject({
      method,
      url,
      ...options,
      headers: {
        ...(this.hasScript && { 'x-inertia': 'true' }),
        host: 'app.test',
        ...(this.caller && { 'x-caller': this.caller }),
        ...(this.#jar.size > 0 && { cookie: [...this.#jar].map((pair) => pair.join('=')).join('; ') }),
        ...options.headers,
      },
    })
    for (const { name, value } of answer.cookies) {
      if (value === '') this.#jar.delete(name)
      else this.#jar.set(name, value)
    }
    this.setCookies.push(...[answer.headers['set-cookie'] ?? []].flat())
    return answer
  }

  /** Sends a form from a page, and follows the redirect as the client does: with the same headers. */
  async submit(from: string, url: string, payload: object, headers: Record<string, string> = {}) {
    const referer = `http://app.test${from}`
    const answer = await this.send('POST', url, { payload, headers: { referer, ...headers } })
    const location = String(answer.headers.location)
    const page = answer.statusCode === 303 ? await this.send('GET', location, { headers }) : undefined
    return { answer, page: page?.json<Page>() }
  }

  get cookie(): string {
    return [...this.#jar.values()][0] ?? ''
  }
  set cookie(value: string) {
    for (const name of this.#jar.keys()) this.#jar.set(name, value)
  }
}

async function createApp(t: Test, options: InertiaOptions = { flash: cookieFlash({ secret }) }) {
  const app = Fastify()
  t.teardown(() => app.close())
  app.decorateRequest('caller', null)
  app.addHook('onRequest', async (request) => {
    const { 'x-caller': id } = request.headers
    if (typeof id === 'string') Object.assign(request, { caller: { id } satisfies Caller })
  })
  await app.register(errors, { errorPage: false })
  await app.register(cookie)
  await app.register(inertia, { version: 'v1', ...options })
  app.get('/notes', (_, reply) => reply.inertia('Notes', { list: [1] }))
  app.get('/notes/:id/edit', (_, reply) => reply.inertia('Edit'))
  app.get('/callback', { config: { back: false } }, (_, reply) => reply.inertia('Callback'))
  app.get('/new', (_, reply) => reply.inertia('New'))
  app.post('/new', { schema }, (_, reply) => reply.inertiaBack())
  app.post('/notes', { schema }, (_, reply) => reply.inertiaBack({}, { message: 'Saved.' }))
  app.post('/api/notes', { schema }, async () => 'ok')
  app.post('/hook', { schema, config: { back: false } }, async () => 'ok')
  app.post<{ Body: Record<string, unknown> }>('/throws', (request) => {
    const { message, ...byField } = request.body as Record<string, string[]>
    throw new ValidationException(message === undefined ? byField : String(message))
  })
  app.post('/taken', (_, reply) => reply.inertiaBack({ title: ['is taken', 'is short'] }, { tries: 2 }))
  app.post('/fails', () => {
    throw new Error('secret')
  })
  return app
}

const client = async (t: Test, options?: InertiaOptions): Promise<Client> =>
  new Client(await createApp(t, options))

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

test('a form without script goes back, too: the document carries the errors', async (t) => {
  const sent = await client(t)
  sent.hasScript = false
  const headers = { referer: 'http://app.test/notes' }
  const answer = await sent.send('POST', '/taken', { payload: {}, headers })
  t.same([answer.statusCode, answer.headers.location], [303, '/notes'])
  const { body } = await sent.send('GET', '/notes')
  t.same(embeddedPage(body).props['errors'], { title: 'is taken' })
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
  ['its own address, without a referer', '/new', undefined, '/new'],
  ['its own address, if the referer is of another site', '/new', 'http://evil.example/notes', '/new'],
  ['its own address, if the referer is of another port', '/new', 'http://app.test:81/notes', '/new'],
  ['its own address, if no route answers the referer', '/new', 'http://app.test/missing', '/new'],
  ['its own address, if only POST answers the referer', '/new', 'http://app.test/throws', '/new'],
  ['its own address, if the referer is not for forms', '/new', 'http://app.test/callback', '/new'],
  ['its own address, if the referer is not a URL', '/new', 'nonsense', '/new'],
  ['its own address, if the referer is not canonical', '/new', 'http://app.test//notes', '/new'],
  ['its own address, if the referer hides its path', '/new', 'http://app.test/%6eotes', '/new'],
  ['nowhere: the literal answer', '/throws', undefined, 400],
  ['nowhere: the literal answer to foreign referers', '/throws', 'http://evil.example/notes', 400],
  ['nowhere: the API', '/api/notes', 'http://app.test/notes', 400],
  ['nowhere: a route that says so', '/hook', 'http://app.test/notes', 400],
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
  const foreign = await sent.submit('/notes', '/throws', { title: ['x'] })
  t.equal(foreign.answer.statusCode, 400, 'a page of the host behind the same proxy')
})

/** What comes between the refused form and the page, and whether the page then has the errors. */
const between: Readonly<Record<string, readonly [(sent: Client) => Promise<unknown>, boolean]>> = {
  nothing: [async () => {}, true],
  'a prefetch': [(sent) => sent.send('GET', '/notes', { headers: { purpose: 'prefetch' } }), true],
  'a partial reload or poll': [
    (sent) =>
      sent.send('GET', '/notes', {
        headers: { 'x-inertia-partial-component': 'Notes', 'x-inertia-partial-data': 'list' },
      }),
    true,
  ],
  'another page': [(sent) => sent.send('GET', '/new'), true],
  'the same path with another query': [(sent) => sent.send('GET', '/notes?q=1'), true],
  'a HEAD request': [(sent) => sent.send('HEAD', '/notes'), true],
  'a stale client (409)': [
    (sent) => sent.send('GET', '/notes', { headers: { 'x-inertia-version': 'old' } }),
    true,
  ],
  'the page itself': [(sent) => sent.send('GET', '/notes'), false],
  'a sign-in': [async (sent) => void (sent.caller = 'ada'), false],
  'a cookie of another key': [async (sent) => void (sent.cookie = await foreignCookie()), false],
  'a changed cookie': [
    async (sent) => void (sent.cookie = sent.cookie.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))),
    false,
  ],
  'a cookie of rubbish': [async (sent) => void (sent.cookie = '%00'), false],
}

/** The value that this store gives an entry under another secret. */
async function foreignCookie(): Promise<string> {
  let kept = ''
  const reply = { setCookie: (_name: string, value: string) => void (kept = value) }
  await cookieFlash({ secret: secret.toUpperCase() }).put({} as never, {} as never, reply as never)
  return kept
}

for (const [what, [happens, isShown]] of Object.entries(between)) {
  test(`errors wait for a whole page of their path: ${what} ${isShown ? 'leaves' : 'takes'} them`, async (t) => {
    const sent = await client(t)
    await sent.send('POST', '/notes', { payload: {}, headers: { referer: 'http://app.test/notes' } })
    await happens(sent)
    const page = (await sent.send('GET', '/notes')).json<Page>()
    t.equal('title' in (page.props['errors'] as object), isShown)
  })
}

test('errors of a signed-in caller are for that caller alone: signing out loses them', async (t) => {
  const sent = await client(t)
  sent.caller = 'ada'
  await sent.send('POST', '/notes', { payload: {}, headers: { referer: 'http://app.test/notes' } })
  sent.caller = ''
  t.same((await sent.send('GET', '/notes')).json<Page>().props['errors'], {})
  sent.caller = 'ada'
  t.same((await sent.send('GET', '/notes')).json<Page>().props['errors'], {}, 'and the cookie is gone')
})

test('errors are forgotten after a minute', async (t) => {
  for (const [at, isShown] of [
    [Date.now() - 59_000, true],
    [Date.now() - 61_000, false],
    [Date.now() + 120_000, false],
  ] as const) {
    const entry: FlashEntry = { at, path: '/notes', caller: null, errors: { title: 'x' } }
    const kept: (FlashEntry | null)[] = [entry]
    const flash: FlashStore = { put: (_, each) => void kept.push(each), take: () => kept.pop() }
    const page = (await (await client(t, { flash })).send('GET', '/notes')).json<Page>()
    t.same(page.props['errors'], isShown ? { title: 'x' } : {})
  }
})

test('the cookie is readable by nothing but the server, and bound to the host over TLS', async (t) => {
  const sent = await client(t)
  await sent.submit('/notes', '/taken', {})
  const [set = '', cleared = ''] = sent.setCookies
  t.match(set, /^inertia-flash=[\w-]+; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/)
  t.match(cleared, /^inertia-flash=; .*Path=\/; .*Expires=Thu, 01 Jan 1970/)
  t.notMatch(Buffer.from(sent.cookie, 'base64url').toString('latin1'), 'taken')

  const app = Fastify({ trustProxy: true })
  t.teardown(() => app.close())
  await app.register(cookie)
  await app.register(inertia, { flash: cookieFlash({ secret }) })
  app.post('/', (_, reply) => reply.inertiaBack({ a: 'b' }))
  const answer = await app.inject({ method: 'POST', url: '/', headers: { 'x-forwarded-proto': 'https' } })
  t.match(
    answer.headers['set-cookie'],
    /^__Host-inertia-flash=[\w-]+; .*Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  )
})

test('secrets are rotated: the first encrypts, all decrypt', async (t) => {
  const [old, young] = [secret, secret.toUpperCase()]
  const before = await client(t, { flash: cookieFlash({ secret: old }) })
  await before.send('POST', '/taken', { payload: {}, headers: { referer: 'http://app.test/notes' } })
  for (const [secrets, isShown] of [
    [[young, old], true],
    [[young], false],
  ] as const) {
    const after = await createApp(t, { flash: cookieFlash({ secret: secrets }) })
    const headers = { 'x-inertia': 'true', cookie: `inertia-flash=${before.cookie}` }
    const page = (await after.inject({ url: '/notes', headers })).json<Page>()
    t.same(page.props['errors'], isShown ? { title: 'is taken' } : {})
  }
})

test('what no cookie holds is cut: first many errors, then messages', async (t) => {
  const app = await createApp(t)
  const long = 'x'.repeat(3000)
  app.post('/many', (_, reply) =>
    reply.inertiaBack(Object.fromEntries(Array.from({ length: 200 }, (__, at) => [`f${at}`, 'is wrong'])), {
      m: 1,
    }),
  )
  app.post('/loud', (_, reply) => reply.inertiaBack({ a: 'b' }, { long }))
  const sent = new Client(app)
  const many = await sent.submit('/notes', '/many', {})
  t.same(many.page?.props['errors'], { form: 'One or more validation errors occurred.' })
  t.same(many.page?.flash, { m: 1 })
  const loud = await sent.submit('/notes', '/loud', {})
  t.same(
    [loud.page?.props['errors'], loud.page?.flash],
    [{ form: 'One or more validation errors occurred.' }, undefined],
  )
  for (const set of sent.setCookies) t.ok(Buffer.byteLength(set) < 4096, String(set.length))
})

test('mistakes of the developer stop the boot, or the call', async (t) => {
  const code = 'FMOD_INERTIA_INVALID_FLASH'
  for (const short of ['', 'short', [], [secret, 'short']])
    t.throws(() => cookieFlash({ secret: short }), { code, message: /32 characters/ })
  const app = Fastify()
  t.teardown(() => app.close())
  void app.register(inertia, { flash: cookieFlash({ secret }) })
  await t.rejects(async () => app.ready(), { code, message: /@fastify\/cookie/ })
  const without = await client(t, {})
  t.equal((await without.send('POST', '/taken', { payload: {} })).statusCode, 500)
})

test('a store that fails loses the errors of a form, and the answer is the literal one', async (t) => {
  const flash: FlashStore = {
    put: () => Promise.reject(new Error('the session store is down')),
    take: () => null,
  }
  const { answer }: { answer: LightMyRequestResponse } = await (
    await client(t, { flash })
  ).submit('/notes', '/notes', {})
  t.equal(answer.statusCode, 400)
  t.equal(answer.json<Page>().component, 'Error/400')
})
