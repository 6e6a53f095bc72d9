/** Writing a secret that is already stored: it must look like writing another one. */
import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import { test } from 'tap'
import { events } from '@fastify-modular/core'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { user, rowOf } from '../contract/case.ts'
import { as, callerByHeader, createApp, definitions } from '../support/app.ts'
import { recorder } from '../support/recorder.ts'
import { memoryStore } from '../support/stores.js'

const { Application } = SettingScope
const one = { id: 'one', key: randomBytes(32) }
const row = { scope: Application, owner: '', key: 'app.api_secret' } as const

for (const [way, options] of [
  ['encrypted', { encryption: { keys: [one] } }],
  ['plain', {}],
] as const) {
  test(`an equal secret is a write like any other, so that it cannot be guessed (${way})`, async (t) => {
    const store = memoryStore()
    const { published, transport } = recorder()
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(events, { transport })
    app.register(settings, { definitions: [definitions], findCaller: callerByHeader, store, ...options })
    await app.ready()
    const admin = as(app, 'admin')
    const secret = { key: 'app.api_secret', scope: Application, value: 'hunter2' }
    await admin('PUT', '', secret)
    await admin('PUT', '/me', { key: 'user.token', value: 'hush' })
    const file = (value: string) => ({ format: 1, settings: [{ ...secret, value }] })
    for (const value of ['hunter2', 'a guess']) {
      t.match((await admin('PUT', '/bulk?dryRun=true', [{ ...secret, value }])).json, [
        { change: 'update', oldValue: null, newValue: null },
      ])
      t.match((await admin('POST', '/import?dryRun=true', file(value))).json, {
        update: ['app.api_secret'],
        unchanged: [],
      })
    }
    t.equal(app.settings.status.revision, 1, 'a dry run writes nothing')
    const [mine] = await store.owned.read(user('admin'))
    published.length = 0
    const tags = [
      (await admin('PUT', '', secret)).headers.etag,
      (await admin('PUT', '/bulk', [secret])).headers.etag,
      (await admin('POST', '/import', file('hunter2'))).headers.etag,
      (await admin('POST', '/app.api_secret/restore', { scope: 1, revision: 1 })).headers.etag,
    ]
    t.same(tags, ['"r2"', '"r3"', '"r4"', '"r5"'])
    await admin('PUT', '/me', { key: 'user.token', value: 'hush' })
    t.ok(((await store.owned.read(user('admin')))[0]?.revision ?? 0) > (mine?.revision ?? Infinity))
    t.equal(published.length, 5)
    for (const { event } of published) t.match(event, { oldValue: null, newValue: null, changedBy: 'admin' })
    t.equal((await store.history({ key: 'app.api_secret', limit: 10 })).length, 5)
    t.equal(app.settings.get(definitions.secret), 'hunter2')
    await admin('PUT', '', { key: 'app.title', scope: 1, value: 'Acme' })
    t.equal((await admin('PUT', '', { key: 'app.title', scope: 1, value: 'Acme' })).headers.etag, '"r6"')
  })
}

test('a value that was encrypted before its definition changed cannot be guessed either', async (t) => {
  const store = memoryStore()
  const keys = [one]
  const before = await createApp(t, { store, encryption: { keys } })
  await before.settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  const plain = setting.text('app.api_secret', { displayName: 'No secret any more', scope: Application })
  const after = await createApp(t, { store, encryption: { keys }, definitions: [plain] })
  await after.settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  t.match(await rowOf(store, row), { value: '"hunter2"', encrypted: false, revision: 2 })
})
