import { test } from 'tap'
import { cookieOf, person, startHost } from '../host.js'

test('people create accounts while registration is on, and never otherwise', async (t) => {
  const host = await startHost(t)
  const { anonymous } = host
  const admin = await host.signIn('admin')
  const json = (username: unknown, password: unknown = 'long enough') => ({
    method: 'POST',
    body: { username, password },
  })

  await t.test('it is off until an administrator turns it on', async (t) => {
    t.equal((await anonymous.ask('/register')).status, 404)
    t.equal((await anonymous.ask('/register', json('carol'))).status, 404)
    t.notMatch((await anonymous.ask('/login')).text, '/register')
  })

  await admin.ask('/api/settings', {
    method: 'PUT',
    body: { key: 'system.registration_enabled', scope: 0, value: true },
  })

  await t.test('the form works without JavaScript, and a new account may do nothing special', async (t) => {
    const page = await anonymous.ask('/register?returnTo=%2Fnotes')
    t.match(page.text, /action="\/register">\s*<input type="hidden" name="returnTo" value="\/notes" \/>/)
    const fields = { username: 'carol', password: 'long enough', returnTo: '/notes' }
    const answer = await anonymous.ask('/register', {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    t.equal(answer.status, 303)
    t.equal(answer.headers.get('location'), '/notes')
    const carol = person(host.url, cookieOf(answer))
    t.same((await carol.ask('/api/notes')).json, [])
    t.equal((await carol.ask('/api/mails')).status, 403)
    t.equal((await host.signIn('carol', 'long enough')).cookie === '', false)
  })

  await t.test('a taken name is refused, that of a demo account always', async (t) => {
    for (const name of ['carol', 'admin', 'bob']) {
      const answer = await anonymous.ask('/register', json(name))
      t.equal(answer.status, 409, name)
      t.same(answer.headers.getSetCookie(), [])
    }
  })

  await t.test('names and passwords have a form', async (t) => {
    for (const body of [
      json('Carla'),
      json('carla\n'),
      json('cаrla'), // its second letter is Cyrillic
      json('x'),
      json('a b'),
      json('dave', 'short'),
      json('a'.repeat(41)),
      json(7),
    ]) {
      t.equal((await anonymous.ask('/register', body)).status, 400, JSON.stringify(body))
    }
  })

  await t.test('another site cannot send it', async (t) => {
    const answer = await anonymous.ask('/register', {
      ...json('mallory'),
      headers: { origin: 'https://evil.test' },
    })
    t.equal(answer.status, 403)
  })

  await t.test('of those who want one name at the same moment one gets it', async (t) => {
    const answers = await Promise.all([1, 2, 3].map(() => anonymous.ask('/register', json('erin'))))
    t.same(answers.map(({ status }) => String(status)).toSorted(), ['204', '409', '409'])
  })

  await t.test('attempts are limited as for signing in', async (t) => {
    const statuses: number[] = []
    for (let attempt = 1; attempt <= 11; attempt++)
      statuses.push((await anonymous.ask('/register', json('alice'))).status)
    t.same(statuses, [...Array.from({ length: 10 }, () => 409), 429])
  })

  await t.test('a form that was shown before it was turned off creates nothing', async (t) => {
    const body = { key: 'system.registration_enabled', scope: 0, value: false }
    await admin.ask('/api/settings', { method: 'PUT', body })
    const answer = await anonymous.ask('/register', {
      method: 'POST',
      body: 'username=frank&password=long+enough',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    t.equal(answer.status, 404)
    await t.rejects(host.signIn('frank', 'long enough'), /401/)
  })
})
