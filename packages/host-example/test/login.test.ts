import { test } from 'tap'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import { type Ask, cookieOf, person, startHost } from './host.js'

const formOf = (fields: Record<string, string>, headers: Record<string, string> = {}): Ask => ({
  method: 'POST',
  body: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
})
const json = (body: unknown): Ask => ({ method: 'POST', body })

test('signing in', async (t) => {
  const host = await startHost(t)
  const { anonymous } = host

  await t.test('UI-37: the form works without JavaScript and leads back', async (t) => {
    const page = await anonymous.ask('/login?returnTo=%2Fnotes')
    t.equal(page.status, 200)
    t.match(
      page.text,
      /<form class="[^"]*" method="post" action="\/login">\s*<input type="hidden" name="returnTo" value="\/notes" \/>/,
    )
    const answer = await anonymous.ask(
      '/login',
      formOf({ username: 'alice', password: 'demo-alice', returnTo: '/notes' }),
    )
    t.equal(answer.status, 303)
    t.equal(answer.headers.get('location'), '/notes')
    const [cookie = ''] = answer.headers.getSetCookie()
    t.match(cookie, /^session=.*; Path=\/; Expires=.*; HttpOnly; SameSite=Lax$/)
    const ends = Date.parse(/Expires=([^;]*)/.exec(cookie)?.[1] ?? '')
    t.ok(ends > Date.now() + 11 * 3_600_000 && ends <= Date.now() + 12 * 3_600_000, 'after twelve hours')
    t.equal((await person(host.url, cookieOf(answer)).ask('/api/notes')).status, 200)
  })

  await t.test('F-38: each demo account has a button, a form that needs no JavaScript', async (t) => {
    const { text } = await anonymous.ask('/login?returnTo=%2Fnotes')
    const forms = [...text.matchAll(/<form method="post" action="\/login">([^]*?)<\/form>/g)]
    t.equal(forms.length, 4)
    for (const [, form = ''] of forms) {
      const fields = [...form.matchAll(/name="(\w+)"\s+value="([^"]*)"/g)].map(
        ([, name = '', value = '']) => [name, value],
      )
      const answer = await anonymous.ask(
        '/login',
        formOf(Object.fromEntries(fields) as Record<string, string>),
      )
      t.equal(answer.status, 303, form)
      t.equal(answer.headers.get('location'), '/notes')
    }
  })

  await t.test('JSON gets 204 and a cookie', async (t) => {
    const answer = await anonymous.ask('/login', json({ username: ' Alice ', password: 'demo-alice' }))
    t.equal(answer.status, 204)
    t.equal(answer.text, '')
    t.not(cookieOf(answer), '')
  })

  await t.test('UI-36: a return address never leads to another site', async (t) => {
    for (const returnTo of ['//evil.test', '/\\evil.test']) {
      const answer = await anonymous.ask(
        '/login',
        formOf({ username: 'bob', password: 'demo-bob', returnTo }),
      )
      t.equal(answer.headers.get('location'), '/', returnTo)
    }
  })

  await t.test('UI-36: an unknown account and a wrong password get the same answer', async (t) => {
    const wrong = await anonymous.ask('/login', json({ username: 'alice', password: 'wrong' }))
    const unknown = await anonymous.ask('/login', json({ username: 'mallory', password: 'wrong' }))
    for (const answer of [wrong, unknown]) {
      t.equal(answer.status, 401)
      t.equal(answer.headers.get('www-authenticate'), 'Cookie')
      t.match(answer.headers.get('content-type'), /^application\/problem\+json/)
      t.same(answer.headers.getSetCookie(), [])
    }
    t.equal(wrong.json.detail, unknown.json.detail)
    const page = await anonymous.ask(
      '/login',
      formOf({ username: '"><script>', password: 'x', returnTo: '/notes"><x' }),
    )
    t.equal(page.status, 401)
    t.match(page.text, /role="alert">The user name or the password is wrong/)
    t.notMatch(page.text, /<script>|<x/)
  })

  await t.test('missing and mistyped fields are named, in the form or as a problem', async (t) => {
    for (const body of [
      {},
      { username: 'alice' },
      { username: 7, password: 'x' },
      [],
      { username: 'a'.repeat(101), password: 'x' },
      { username: 'a\u0000', password: 'x' },
    ]) {
      t.equal((await anonymous.ask('/login', json(body))).status, 400, JSON.stringify(body).slice(0, 40))
    }
    t.equal(
      (
        await anonymous.ask('/login', {
          method: 'POST',
          body: '{',
          headers: { 'content-type': 'application/json' },
        })
      ).status,
      400,
    )
    const page = await anonymous.ask('/login', formOf({ username: 'alice', password: '' }))
    t.equal(page.status, 400)
    t.match(page.text, /Enter your user name and your password/)
    t.match(page.text, /value="alice"/)
  })

  await t.test('an earlier session ends at a sign-in over it (session fixation)', async (t) => {
    const before = await host.signIn('alice')
    const answer = await before.ask('/login', json({ username: 'alice', password: 'demo-alice' }))
    t.not(cookieOf(answer), before.cookie)
    t.equal((await before.ask('/api/notes')).status, 401)
  })

  await t.test('a cookie that was changed or made up belongs to no session', async (t) => {
    const alice = await host.signIn('alice')
    const value = decodeURIComponent(alice.cookie.slice('session='.length))
    const id = value.slice(0, value.lastIndexOf('.'))
    for (const forged of [id, `${id}.`, `${value}x`, `x${value}`, '', 'null', '%', 'a'.repeat(5000)]) {
      t.equal(
        (await person(host.url, `session=${forged}`).ask('/api/notes')).status,
        401,
        forged.slice(0, 20),
      )
    }
  })

  await t.test('signing out ends the session itself, not only the cookie', async (t) => {
    const alice = await host.signIn('alice')
    const answer = await alice.ask('/logout', { method: 'POST' })
    t.equal(answer.status, 204)
    t.match(answer.headers.getSetCookie()[0], /^session=;.*Expires=Thu, 01 Jan 1970/)
    t.equal((await alice.ask('/api/notes')).status, 401)
    const bob = await host.signIn('bob')
    t.equal((await bob.ask('/logout', formOf({}))).headers.get('location'), '/')
    t.equal((await bob.ask('/api/notes')).status, 401)
    t.equal((await anonymous.ask('/logout', { method: 'POST' })).status, 204)
  })

  await t.test('signing out ends the streams of the account, and no other ones', async (t) => {
    const [alice, bob, admin] = await Promise.all(['alice', 'bob', 'admin'].map((name) => host.signIn(name)))
    const open = async (cookie = '') => fetch(`${host.url}/api/settings/stream`, { headers: { cookie } })
    const [ended, other] = [await open(alice?.cookie), await open(bob?.cookie)]
    t.equal((await alice?.ask('/logout', { method: 'POST' }))?.status, 204)
    const body = { key: 'app.title', scope: 1, value: 'After Alice' }
    t.equal((await admin?.ask('/api/settings', { method: 'PUT', body }))?.status, 204)
    t.notMatch(await ended.text(), 'After Alice')
    t.equal((await bob?.ask('/logout', { method: 'POST' }))?.status, 204)
    t.match(await other.text(), 'After Alice')
  })

  await t.test(
    'decision 39: a request that another site makes is refused, whatever it carries',
    async (t) => {
      const alice = await host.signIn('alice')
      const foreign: Record<string, string>[] = [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.test' },
        { origin: 'null' },
      ]
      for (const headers of foreign) {
        const write = await alice.ask('/api/notes', { method: 'POST', body: { title: 'x' }, headers })
        t.equal(write.status, 403, JSON.stringify(headers))
        const login = await anonymous.ask(
          '/login',
          formOf({ username: 'alice', password: 'demo-alice' }, headers),
        )
        t.equal(login.status, 403, JSON.stringify(headers))
        t.equal((await alice.ask('/logout', { method: 'POST', headers })).status, 403)
      }
      t.same((await alice.ask('/api/notes')).json, [])
      const own = { origin: host.url, 'sec-fetch-site': 'same-origin' }
      t.equal(
        (await alice.ask('/api/notes', { method: 'POST', body: { title: 'x' }, headers: own })).status,
        201,
      )
    },
  )

  await t.test('a form that another site could send is not read as JSON', async (t) => {
    const alice = await host.signIn('alice')
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const headers = { 'content-type': type }
      const answer = await alice.ask('/api/notes', { method: 'POST', body: '{"title":"x"}', headers })
      t.equal(answer.status, type === 'text/plain' ? 400 : 415, type)
    }
  })

  await t.test('a signed-in caller is redirected', async (t) => {
    const alice = await host.signIn('alice')
    const answer = await alice.ask('/login?returnTo=/notes')
    t.equal(answer.status, 303)
    t.equal(answer.headers.get('location'), '/notes')
  })

  await t.test(
    'S 5.1: a browser without a session goes to sign in and comes back, a program gets 401',
    async (t) => {
      const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
      const page = await rawRequest(host, { target: '/notes?page=2', headers }) // fetch cannot navigate
      t.equal(page.status, 302)
      t.equal(page.headers['location'], '/login?returnTo=%2Fnotes%3Fpage%3D2')
      const api = await anonymous.ask('/api/notes')
      t.equal(api.status, 401)
      t.match(api.headers.get('content-type'), /^application\/problem\+json/)
      t.equal(api.headers.get('www-authenticate'), 'Cookie', 'a session, not a token')
    },
  )

  await t.test('an Inertia visit without a session ends on the sign-in page, loaded afresh', async (t) => {
    const home = await anonymous.ask('/', { headers: { accept: 'text/html' } })
    const version = /"version":"([^"]+)"/.exec(home.text)?.[1] ?? ''
    const headers = {
      'x-inertia': 'true',
      'x-inertia-version': version,
      accept: 'text/html, application/xhtml+xml',
    }
    const visit = await anonymous.ask('/notes', { headers })
    t.equal(visit.status, 302)
    const followed = await anonymous.ask(visit.headers.get('location') ?? '', { headers })
    t.equal(followed.status, 409)
    t.equal(followed.headers.get('x-inertia-location'), '/login?returnTo=%2Fnotes')
  })

  await t.test('nothing secret is in the log', (t) => {
    t.notMatch(host.log(), /demo-alice|demo-bob|session=|scrypt\$/)
    t.end()
  })
})

test('ten attempts a minute for one account and address, then 429 with Retry-After', async (t) => {
  const { anonymous, signIn } = await startHost(t)
  const attempts = Array.from({ length: 10 }, () =>
    anonymous.ask('/login', json({ username: 'alice', password: 'x' })),
  )
  t.same(
    (await Promise.all(attempts)).map(({ status }) => status),
    Array.from({ length: 10 }, () => 401),
  )
  const refused = await anonymous.ask('/login', json({ username: 'ALICE', password: 'demo-alice' }))
  t.equal(refused.status, 429)
  const wait = Number(refused.headers.get('retry-after'))
  t.ok(wait >= 1 && wait <= 60, `Retry-After: ${wait}`)
  const page = await anonymous.ask('/login', formOf({ username: 'alice', password: 'demo-alice' }))
  t.equal(page.status, 429)
  t.ok(page.headers.get('retry-after'))
  t.match(page.text, /Too many attempts/)
  t.equal((await (await signIn('bob')).ask('/api/notes')).status, 200)
})
