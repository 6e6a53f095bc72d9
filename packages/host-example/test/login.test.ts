import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { accountsIn } from '#src/accounts.js'
import { openSqlite } from '#src/database/sqlite.js'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import { cookieOf, formOf, person, startHost, tempFolder } from './host.js'

test('sign-in is the file of created applications: node scripts/copy-sign-in.mjs copies it', (t) => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  t.equal(read('../src/sign-in.ts'), read('../../create-fastify-modular/template/src/sign-in.ts'))
  t.end()
})

test('signing in', async (t) => {
  const host = await startHost(t)
  const { anonymous } = host

  await t.test('UI-37: the form works without JavaScript and leads back', async (t) => {
    const page = await anonymous.ask('/login?returnTo=%2Fnotes')
    t.equal(page.status, 200)
    const [form = ''] = /<form class="card login-form"[^]*?<\/form>/.exec(page.text) ?? []
    t.match(form, 'action="/login?returnTo=%2Fnotes"')
    t.match(form, /name="user"[^]*name="password"[^]*type="submit"/)
    const answer = await anonymous.ask(
      '/login?returnTo=%2Fnotes',
      formOf({ user: 'alice', password: 'demo-alice' }),
    )
    t.equal(answer.status, 303)
    t.equal(answer.headers.get('location'), '/notes')
    t.equal((await person(host.url, cookieOf(answer)).ask('/api/notes')).status, 200)
  })

  await t.test('F-38: each demo account has a button, a form that needs no JavaScript', async (t) => {
    const { text } = await anonymous.ask('/login')
    const forms = [
      ...text.matchAll(/<form (?!class)[^>]*action="\/login\?returnTo=%2F"[^>]*>([^]*?)<\/form>/g),
    ]
    t.equal(forms.length, 4)
    for (const [, form = ''] of forms) {
      const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)]
      const { user, password } = Object.fromEntries(fields.map(([, name, value]) => [name, value]))
      t.equal((await (await host.signIn(user, password)).ask('/api/notes')).status, 200, user)
    }
  })

  await t.test('UI-36: an unknown account and a wrong password get the same page', async (t) => {
    const read = async (user: string) => {
      const page = await anonymous.ask('/login?returnTo=%2Fx%22%3E%3Cx', formOf({ user, password: 'wrong' }))
      t.equal(page.status, 401)
      t.same(page.headers.getSetCookie(), [])
      t.match(page.text, /role="alert">The user name or the password is wrong/)
      t.notMatch(page.text, /<script>alert|<x/)
      return /role="alert">[^<]*/.exec(page.text)?.[0]
    }
    const [wrong, unknown] = [await read('alice'), await read('mallory')]
    t.equal(wrong, unknown)
    await read('"><script>alert(1)</script>')
  })

  await t.test('signing out ends the session itself, and the streams of the account', async (t) => {
    const [alice, bob, admin] = [
      await host.signIn('alice'),
      await host.signIn('bob'),
      await host.signIn('admin'),
    ]
    const open = ({ cookie }: { cookie: string }) =>
      fetch(`${host.url}/api/settings/stream`, { headers: { cookie } })
    const [ended, other] = [await open(alice), await open(bob)]
    t.equal((await alice.ask('/logout', { method: 'POST' })).headers.get('location'), '/')
    t.equal((await alice.ask('/api/notes')).status, 401)
    const body = { key: 'app.title', scope: 1, value: 'After Alice' }
    t.equal((await admin.ask('/api/settings', { method: 'PUT', body })).status, 204)
    t.notMatch(await ended.text(), 'After Alice')
    await bob.ask('/logout', { method: 'POST' })
    t.match(await other.text(), 'After Alice')
  })

  await t.test(
    'an account that is removed, and rights that are taken back, are gone at the next request',
    async (t) => {
      const own = `sqlite:${join(await tempFolder(t), 'host.sqlite')}`
      const two = await startHost(t, { DATABASE_URL: own })
      const [eli, bob] = [await two.signIn('editor'), await two.signIn('bob')]
      const database = await openSqlite(own.slice('sqlite:'.length))
      t.teardown(() => database.close())
      const change = (value: string) =>
        eli.ask('/api/settings', { method: 'PUT', body: { key: 'app.title', scope: 1, value } })
      t.equal((await change('Allowed')).status, 204)
      const caller = JSON.stringify({ id: 'editor', name: 'Eli' })
      await database.query('update accounts set caller = $1 where id = $2', [caller, 'editor'])
      t.equal((await change('Refused')).status, 403)
      await accountsIn(database.query).remove('bob')
      t.equal((await bob.ask('/api/notes')).status, 401)
    },
  )

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
          formOf({ user: 'alice', password: 'demo-alice' }, headers),
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

  await t.test(
    'an Inertia visit without a session ends on the sign-in page, which forgets what was shown',
    async (t) => {
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
      t.match(followed.json, {
        component: 'SignIn',
        props: { form: { returnTo: '/notes' } },
        clearHistory: true,
      })
    },
  )

  await t.test('nothing secret is in the log', (t) => {
    t.notMatch(host.log(), /demo-alice|demo-bob|session=/)
    t.end()
  })
})
