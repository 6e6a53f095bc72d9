import { test } from 'tap'
import { cookieOf, person, startHost } from '../host.js'

const json = (body: unknown) => ({ method: 'POST', body })

const behindProxy = {
  TRUST_PROXY: 'loopback',
  HOST_ADMIN_PASSWORD: 'a long admin password',
  SESSION_SECRET: 'a session secret of this test, long enough',
}

test('behind a proxy there are no demo accounts, and cookies are as secure as the proxy', async (t) => {
  const host = await startHost(t, behindProxy)
  t.notMatch(host.log(), /demo/i)
  t.notMatch((await host.anonymous.ask('/login')).text, /demo/i, 'the page offers none')
  const attempt = (username: string, password: string, headers: Record<string, string> = {}) =>
    host.anonymous.ask('/login', { ...json({ username, password }), headers })
  for (const name of ['admin', 'editor', 'alice', 'bob']) {
    t.equal((await attempt(name, `demo-${name}`)).status, 401, name)
  }

  const tls = { 'x-forwarded-proto': 'https' }
  const overTls = await attempt('admin', behindProxy.HOST_ADMIN_PASSWORD, tls)
  t.match(overTls.headers.getSetCookie()[0], /^session=.*; Path=\/;.* HttpOnly; Secure; SameSite=Lax$/)
  const admin = person(host.url, cookieOf(overTls))
  t.equal((await admin.ask('/api/notes', { headers: tls })).status, 200)
  t.equal((await admin.ask('/api/faults/unknown', { headers: tls })).status, 404, 'no faults on request')
  const out = await admin.ask('/logout', { method: 'POST', headers: tls })
  t.match(out.headers.getSetCookie()[0], /^session=;.*Expires=Thu, 01 Jan 1970/)
  t.equal((await admin.ask('/api/notes', { headers: tls })).status, 401)

  const plain = await attempt('admin', behindProxy.HOST_ADMIN_PASSWORD)
  t.match(plain.headers.getSetCookie()[0], /^session=.*; Path=\/;.* HttpOnly; SameSite=Lax$/)
})

test('without TRUST_PROXY no header of the client decides about the cookie', async (t) => {
  const { anonymous } = await startHost(t)
  const body = { username: 'alice', password: 'demo-alice' }
  const answer = await anonymous.ask('/login', { ...json(body), headers: { 'x-forwarded-proto': 'https' } })
  t.match(answer.headers.getSetCookie()[0], /^session=.*; HttpOnly; SameSite=Lax$/)
})

test('behind a proxy, an address that the client writes itself buys no further attempts', async (t) => {
  const { anonymous } = await startHost(t, behindProxy)
  const attempt = (forwarded: string) =>
    anonymous.ask('/login', {
      ...json({ username: 'alice', password: 'x' }),
      headers: { 'x-forwarded-for': forwarded },
    })
  const made = Array.from({ length: 12 }, (_, number) => attempt(`10.0.0.${number}, 192.0.2.1`))
  t.equal((await Promise.all(made)).filter(({ status }) => status === 429).length, 2)
  t.equal((await attempt('10.0.0.1, 192.0.2.2')).status, 401, 'another client of the same proxy')
})
