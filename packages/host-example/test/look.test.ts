/** What settings make of pages that the server writes, and whom the dashboard names. */
import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { type Person, startHost } from './host.js'

/** Behind a proxy there are no demo accounts. */
const own = {
  TRUST_PROXY: 'loopback',
  HOST_ADMIN_PASSWORD: 'a long admin password',
  SESSION_SECRET: 'a session secret of this test, long enough',
}

const navigation = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }

test('the look, and whom it names', async (t) => {
  const host = await startHost(t)

  await t.test('an accent has a style sheet, whatever the case of its digits', async (t) => {
    const admin = await host.signIn('admin')
    const body = { key: 'app.primary_color', scope: 1, value: '#B91c1C' }
    const save = (value: unknown) => admin.ask('/api/settings', { method: 'PUT', body: { ...body, value } })
    for (const none of ['', null]) t.equal((await save(none)).status, 422, 'there is always one')
    t.equal((await save(body.value)).status, 204)
    const { text } = await host.anonymous.ask('/login')
    const [, path = ''] = /href="(\/accent\/[^"]+)"/.exec(text) ?? []
    const style = await host.anonymous.ask(path)
    t.equal(style.status, 200)
    t.equal(style.text, ':root{--fm-accent:light-dark(#B91c1C,#dc8e8e)}')

    for (const file of [
      'red.css',
      'b91c1c.css%0A',
      'b91c1c',
      '%7D*%7Bcolor:red.css',
      '..%2Fb91c1c.css',
      '%00.css',
    ]) {
      const { status, headers } = await host.anonymous.ask(`/accent/${file}`)
      t.ok(status >= 400 && status < 500, `${file}: ${status}`)
      t.notMatch(headers.get('content-type'), 'css')
    }
  })

  await t.test('the dashboard names the people of a demonstration there only', async (t) => {
    for (const [{ signIn }, password, actor] of [
      [host, 'demo-admin', 'Ada'],
      [await startHost(t, own), own.HOST_ADMIN_PASSWORD, 'admin'],
    ] as const) {
      const admin = await signIn('admin', password)
      const body = { key: 'app.title', scope: 1, value: 'Seen' }
      t.equal((await admin.ask('/api/settings', { method: 'PUT', body })).status, 204)
      const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
      const { text } = await admin.ask('/', { headers })
      t.match(text, `"actor":{"id":"admin","name":"${actor}"}`)
      t.match(text, `"name":"${actor}"`, 'as the header does')
    }
  })

  await t.test('the dashboard shows the history of System settings to administrators alone', async (t) => {
    const [admin, editor] = [await host.signIn('admin'), await host.signIn('editor')]
    for (const body of [
      { key: 'mail.host', scope: 0, value: 'smtp-second.internal' },
      { key: 'app.title', scope: 1, value: 'Seen by editors' },
    ])
      t.equal((await admin.ask('/api/settings', { method: 'PUT', body })).status, 204)
    t.match((await admin.ask('/', { headers: navigation })).text, 'smtp-second.internal')
    const { text } = await editor.ask('/', { headers: navigation })
    t.notMatch(text, 'smtp-second.internal')
    t.match(text, 'Seen by editors')
  })

  await t.test('no route shows the old value of a System setting to an editor', async (t) => {
    const [admin, editor] = [await host.signIn('admin'), await host.signIn('editor')]
    for (const value of ['smtp-first.internal', 'smtp-second.internal']) {
      const body = { key: 'mail.host', scope: 0, value }
      t.equal((await admin.ask('/api/settings', { method: 'PUT', body })).status, 204)
    }
    const rows: { route?: string }[] = JSON.parse(
      readFileSync(new URL('../access.json', import.meta.url), 'utf8'),
    )
    const paths = rows
      .flatMap(({ route }) => (route?.startsWith('GET ') ? [route] : []))
      .map((route) =>
        route
          .slice('GET '.length)
          .replace(':key', 'mail.host')
          .replaceAll(/:\w+|\*$/g, '1'),
      )
    t.ok(paths.length > 30)
    const seenBy = async (person: Person) => {
      const seen: string[] = []
      for (const path of paths.flatMap((each) => [each, `${each}?scope=0`, `${each}?limit=100`])) {
        for (const headers of [{ accept: 'application/json' }, navigation]) {
          if ((await person.ask(path, { headers })).text.includes('smtp-first.internal')) seen.push(path)
        }
      }
      return seen
    }
    t.same(await seenBy(editor), [])
    t.ok((await seenBy(admin)).includes('/'), 'the dashboard of an administrator has it')
  })
})
