/** What waits for the next page: for which page, how long, and where. */
import cookie from '@fastify/cookie'
import { cookieFlash, type FlashEntry, type FlashStore, inertia, type Page } from '@fastify-modular/inertia'
import Fastify, { type LightMyRequestResponse } from 'fastify'
import { test } from 'tap'
import { Client, client, createApp, secret } from './form-fixture.js'

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
  'a partial reload with other props than the form named': [
    (sent) =>
      sent.send('GET', '/notes', {
        headers: { 'x-inertia-partial-component': 'Notes', 'x-inertia-partial-data': 'count' },
      }),
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

for (const [what, before, after] of [
  ['sign-in', '', 'ada'],
  ['sign-out', 'ada', ''],
] as const) {
  test(`a message without errors is shown after a ${what}, which changes the caller`, async (t) => {
    const sent = await client(t)
    sent.caller = before
    const headers = { referer: 'http://app.test/notes' }
    await sent.send('POST', '/notes', { payload: { title: 'long enough' }, headers })
    sent.caller = after
    t.same((await sent.send('GET', '/notes')).json<Page>().flash, { message: 'Saved.' })
    t.equal((await sent.send('GET', '/notes')).json<Page>().flash, undefined, 'once')
  })
}

for (const hasScript of [true, false]) {
  test(`a page that fails leaves the message for the next attempt, ${hasScript ? 'as a visit' : 'as a document'}`, async (t) => {
    const app = await createApp(t)
    let isDown = true
    app.get('/down', (_, reply) =>
      reply.inertia('Down', {
        list: () => {
          if (isDown) throw new Error('the database is down')
          return []
        },
      }),
    )
    const sent = new Client(app)
    await sent.send('POST', '/notes', {
      payload: { title: 'long enough' },
      headers: { referer: 'http://app.test/down' },
    })
    sent.hasScript = hasScript
    const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
    t.equal((await sent.send('GET', '/down', { headers })).statusCode, 500)
    isDown = false
    sent.hasScript = true
    t.same((await sent.send('GET', '/down')).json<Page>().flash, { message: 'Saved.' })
  })
}

test('errors are forgotten after a minute', async (t) => {
  for (const [at, isShown] of [
    [Date.now() - 59_000, true],
    [Date.now() - 61_000, false],
    [Date.now() + 120_000, false],
  ] as const) {
    let kept: FlashEntry | null = null
    const flash: FlashStore = { put: (_, entry) => void (kept = entry), get: () => kept }
    const sent = await client(t, { flash })
    await sent.send('POST', '/taken', { headers: { referer: 'http://app.test/notes' } })
    Object.assign(kept ?? {}, { at })
    const page = (await sent.send('GET', '/notes')).json<Page>()
    t.equal(kept, null)
    t.same(page.props['errors'], isShown ? { title: 'is taken' } : {})
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
  app.post('/', (_, reply) => reply.inertiaBack({ errors: { a: 'b' } }))
  const answer = await app.inject({ method: 'POST', url: '/', headers: { 'x-forwarded-proto': 'https' } })
  t.match(
    answer.headers['set-cookie'],
    /^__Host-inertia-flash=[\w-]+; .*Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  )
})

test('nothing but what is documented waits for the next page, whatever a handler passes on', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const kept: object[] = []
  const flash = {
    put: (_: unknown, entry: object | null) => void (entry && kept.push(entry)),
    get: () => null,
  }
  await app.register(inertia, { flash })
  app.post('/', ({ body }, reply) => reply.inertiaBack({ flash: { a: 1 }, ...(body as object) }))
  const payload = { page: 'other', at: 0, bag: 'b', caller: 'ada', more: 'x', clearHistory: true }
  await app.inject({ method: 'POST', url: '/', payload })
  const [{ at, page, ...rest } = {} as Record<string, unknown>] = kept as Record<string, unknown>[]
  t.same(rest, { flash: { a: 1 }, clearHistory: true })
  t.ok(Number(at) > 0 && page !== 'other', 'what the plugin says of the page is its own')
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
    const headers = {
      'x-inertia': 'true',
      'x-inertia-version': 'v1',
      cookie: `inertia-flash=${before.cookie}`,
    }
    const page = (await after.inject({ url: '/notes', headers })).json<Page>()
    t.same(page.props['errors'], isShown ? { title: 'is taken' } : {})
  }
})

test('what no cookie holds is cut: first many errors, then messages', async (t) => {
  const app = await createApp(t)
  let warnings = 0
  app.addHook('onRequest', async (request) => {
    request.log.warn = (text: unknown) => void (warnings += Number(/cut to fit a cookie/.test(String(text))))
  })
  const long = 'x'.repeat(3000)
  app.post('/many', (_, reply) =>
    reply.inertiaBack({
      errors: Object.fromEntries(Array.from({ length: 200 }, (__, at) => [`f${at}`, 'is wrong'])),
      flash: { m: 1 },
    }),
  )
  app.post('/loud', (_, reply) => reply.inertiaBack({ errors: { a: 'b' }, flash: { long } }))
  const sent = new Client(app)
  const many = await sent.submit('/notes', '/many', {})
  t.same(many.page?.props['errors'], { form: 'One or more validation errors occurred.' })
  t.same(many.page?.flash, { m: 1 })
  const bag = await sent.submit('/notes', '/many', {}, { 'x-inertia-error-bag': 'create' })
  t.same(bag.page?.props['errors'], { create: { form: 'One or more validation errors occurred.' } })
  const far = await sent.submit(`/notes?q=${'x'.repeat(3400)}`, '/notes', {})
  t.same(far.page?.props['errors'], { title: "must have required property 'title'" }, 'a long address')
  const loud = await sent.submit('/notes', '/loud', {})
  t.same(
    [loud.page?.props['errors'], loud.page?.flash],
    [{ form: 'One or more validation errors occurred.' }, undefined],
  )
  t.equal(warnings, 3, 'one line of the log each')
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

const failures: Readonly<Record<string, () => Promise<never>>> = {
  fails: () => Promise.reject(new Error('the session store is down')),
  'throws at once': () => {
    throw new Error('the session store is down')
  },
  'never answers': () => new Promise(() => {}),
}

for (const [how, fail] of Object.entries(failures)) {
  test(`a store that ${how} when it is written loses the errors of a form, and the answer is the literal one`, async (t) => {
    for (const get of [() => null, fail]) {
      const sent = await client(t, { flash: { put: fail, get } })
      const { answer }: { answer: LightMyRequestResponse } = await sent.submit('/notes', '/notes', {})
      t.same([answer.statusCode, answer.json<Page>().component], [400, 'Error/400'])
      t.equal((await sent.send('POST', '/taken')).statusCode, 500, 'reply.inertiaBack says so')
    }
  })

  test(`a store that ${how} when it is read costs no page`, async (t) => {
    const sent = await client(t, { flash: { put: fail, get: fail } })
    t.equal((await sent.send('GET', '/notes')).json<Page>().component, 'Notes')
    const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
    t.equal((await sent.send('GET', '/missing', { headers })).json<Page>().component, 'Error/404')
  })

  test(`a store that ${how} when it is emptied costs no page, also after signing out`, async (t) => {
    let entry: FlashEntry | null = null
    const put: FlashStore['put'] = (_, given) => (given === null ? fail() : void (entry = given))
    const sent = await client(t, { flash: { put, get: () => entry } })
    sent.caller = 'ada'
    await sent.send('POST', '/taken', { headers: { referer: 'http://app.test/notes' } })
    const errorsOf = async () => (await sent.send('GET', '/notes')).json<Page>().props['errors']
    t.same(await errorsOf(), { title: 'is taken' })
    sent.caller = ''
    t.same(await errorsOf(), {}, 'of another caller')
  })
}
