import { test } from 'tap'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import { formOf, startHost } from './host.js'

const scope = { system: 0, application: 1 }

test('settings of the application', async (t) => {
  const host = await startHost(t)
  const [admin, editor, alice] = await Promise.all(
    ['admin', 'editor', 'alice'].map((name) => host.signIn(name)),
  )
  if (!admin || !editor || !alice) throw new Error('Nobody signed in')

  await t.test('a changed title is on the next page', async (t) => {
    const body = { key: 'app.title', scope: scope.application, value: '</title><script>alert(1)</script>' }
    t.equal((await editor.ask('/api/settings', { method: 'PUT', body })).status, 204)
    const page = await host.anonymous.ask('/', { headers: { accept: 'text/html' } })
    t.match(page.text, 'Home · &lt;/title&gt;&lt;script&gt;')
    t.notMatch(page.text, /<script>alert/)
  })

  await t.test('maintenance turns all but administrators away; public routes stay open', async (t) => {
    const set = (value: boolean) =>
      admin.ask('/api/settings', {
        method: 'PUT',
        body: { key: 'system.maintenance_mode', scope: scope.system, value },
      })
    const note = (
      await alice.ask('/api/notes', { method: 'POST', body: { title: 'A private title', body: '' } })
    ).json
    t.equal((await set(true)).status, 204)
    for (const path of ['/api/notes', '/api/settings', '/notes', '/nowhere']) {
      const refused = await alice.ask(path)
      t.equal(refused.status, 503, path)
      t.ok(refused.headers.get('retry-after'), path)
    }
    const asAlice = { user: 'alice', password: 'demo-alice' }
    const refused = await host.anonymous.ask('/login', formOf(asAlice))
    t.equal(refused.status, 503)
    t.equal(refused.headers.get('retry-after'), '120')
    t.same(refused.headers.getSetCookie(), [])
    const wrong = { ...asAlice, password: 'wrong' }
    t.equal((await host.anonymous.ask('/login', formOf(wrong))).status, 401)
    const outside = await rawRequest(host, {
      target: '/static/../api/notes',
      headers: { cookie: alice.cookie },
    })
    t.notMatch(outside.status, 200)
    // The router ends a path at "#", and the pattern of shared notes would match the text behind it.
    const hash = await rawRequest(host, {
      target: `/api/notes/${note.id}#/share`,
      headers: { cookie: alice.cookie },
    })
    t.equal(hash.status, 503)
    t.notMatch(hash.text, note.title)
    for (const target of ['/health/live', '/?from=mail', '/login', '/error/404']) {
      const [read, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) =>
          rawRequest(host, { method, target, headers: { cookie: alice.cookie } }),
        ),
      )
      t.notMatch(read?.status, 503, target)
      t.equal(head?.status, read?.status, `HEAD ${target}`)
    }
    t.equal((await alice.ask('/health/live')).status, 200)
    t.equal((await alice.ask('/?from=mail')).status, 200)
    t.equal((await host.anonymous.ask('/login')).status, 200)
    t.equal((await host.anonymous.ask('/api/notes')).status, 401)
    t.equal((await admin.ask('/api/notes')).status, 200)
    t.equal((await host.signIn('admin')).cookie === '', false)
    t.equal((await set(false)).status, 204)
    t.equal((await alice.ask('/api/notes')).status, 200)
  })
})
