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

  await t.test(
    'the definitions are those of the application, with their types, scopes and defaults',
    async (t) => {
      const definitions = (await alice.ask('/api/settings/definitions')).json
      const summary = definitions.map(
        (it: Record<'key' | 'scope' | 'type' | 'defaultValue', string | number | null>) =>
          `${it.key} ${it.scope}/${it.type} ${it.defaultValue}`,
      )
      t.same(summary.toSorted(), [
        'app.api_secret 1/0 null',
        'app.banner 1/9 null',
        'app.feature_json 1/3 {"search":true,"sharing":true}',
        'app.homepage_url 1/6 null',
        'app.language 2/4 en',
        'app.launch_at 1/10 null',
        'app.logo 1/4 note',
        'app.primary_color 1/5 #2f57dd',
        'app.support_email 1/7 null',
        'app.theme 2/4 system',
        'app.timezone 1/4 UTC',
        'app.title 1/0 Fastify Modular',
        'mail.host 0/0 localhost',
        'mail.password 0/8 null',
        'mail.port 0/1 587',
        'mail.user 0/0 null',
        'system.maintenance_mode 0/2 false',
        'user.preferred_density 2/4 comfortable',
      ])
      for (const { key, group, description, order } of definitions) {
        t.ok(group && description && Number.isInteger(order), key)
      }
    },
  )

  await t.test('history names people, not their accounts', async (t) => {
    const body = { key: 'app.timezone', scope: scope.application, value: 'UTC' }
    t.equal((await editor.ask('/api/settings', { method: 'PUT', body })).status, 204)
    const { entries, people } = (await admin.ask('/api/settings/app.timezone/history')).json
    t.same([entries[0].actor, people], ['editor', { editor: 'Eli' }])
    const { people: ofAll } = (await admin.ask('/api/settings/changes')).json
    t.match(ofAll, { editor: 'Eli' })
  })

  await t.test('a changed title is on the next page', async (t) => {
    const body = { key: 'app.title', scope: scope.application, value: '</title><script>alert(1)</script>' }
    t.equal((await editor.ask('/api/settings', { method: 'PUT', body })).status, 204)
    const page = await host.anonymous.ask('/', { headers: { accept: 'text/html' } })
    t.match(page.text, 'Home · &lt;/title&gt;&lt;script&gt;')
    t.notMatch(page.text, /<script>alert/)
  })

  await t.test('decision 23: each user keeps preferences of their own', async (t) => {
    const body = { key: 'app.theme', value: 'dark' }
    t.equal((await alice.ask('/api/settings/me', { method: 'PUT', body })).status, 204)
    t.match((await alice.ask('/notes', { headers: { accept: 'text/html' } })).text, 'data-theme="dark"')
    t.match((await editor.ask('/notes', { headers: { accept: 'text/html' } })).text, 'data-theme="system"')
    t.equal((await alice.ask('/api/settings/me/app.theme', { method: 'DELETE' })).status, 204)
    t.equal((await alice.ask('/api/settings/app.theme/resolved')).json, 'system')
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
