/** A change set is taken back as a whole, on three stores. */
import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { ServiceUnavailableException } from '@fastify-modular/core'
import { setting, SettingScope, type SettingsOptions } from '@fastify-modular/settings'
import { type Test, test } from 'tap'
import { nextMillisecond, trimAll, until } from '../contract/case.ts'
import { admin, as, createApp, definitions, editor, expectStatuses, rejection } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { engines } from '../support/engines.ts'
import { memoryStore } from '../support/stores.js'

const { System, Application } = SettingScope

const title = (value: unknown) => ({ key: 'app.title', scope: 1, value })
const banner = (value: unknown) => ({ key: 'app.banner', scope: 1, value })
const port = (value: unknown) => ({ key: 'mail.port', scope: 0, value })

/** Revision 1 has a title; revision 2, by the administrator, changes it, adds a banner and removes the port of 0. */
async function createChanged(t: Test, options: SettingsOptions = {}) {
  const app = await createApp(t, options)
  await as(app, 'admin')('PUT', '/bulk', [title('one'), port(25)])
  await as(app, 'admin')('PUT', '/bulk', [title('two'), banner('hello'), port(null)])
  return app
}

for (const [name, open] of Object.entries(engines)) {
  test(`${name}: a revert puts back every value of the set, as one revision of its own`, async (t) => {
    const app = await createChanged(t, { store: (await open(t))() })
    const reverted = await as(app, 'admin')('POST', '/changes/2/revert', { note: 'a mistake' })
    t.equal(reverted.status, 200)
    t.equal(reverted.headers.etag, '"r3"')
    t.match(reverted.json, {
      revision: 3,
      dryRun: false,
      values: [
        { key: 'mail.port', scope: 0, change: 'create', oldValue: null, newValue: 25, isSecret: false },
        { key: 'app.banner', scope: 1, change: 'delete', oldValue: 'hello', newValue: null },
        { key: 'app.title', scope: 1, change: 'update', oldValue: 'two', newValue: 'one', storedAt: null },
      ],
    })
    t.equal(app.settings.get(definitions.title), 'one')
    t.equal(app.settings.get(definitions.banner), null)
    t.equal(app.settings.get(definitions.port), 25)
    const [{ entries }] = (await as(app, 'admin')('GET', '/changes?limit=3')).json.changes
    for (const entry of entries)
      t.match(entry, { revision: 3, origin: 'revert', note: 'Reverts revision 2. a mistake', actor: 'admin' })
    const again = await app.settings.revert(3)
    t.equal(again.revision, 4, 'a revert is a change set like any other')
    t.equal(app.settings.get(definitions.title), 'two')
  })

  test(`${name}: where a value has changed since, nothing is put back, unless by force`, async (t) => {
    const app = await createChanged(t, { store: (await open(t))() })
    await as(app, 'editor')('PUT', '', title('three'))
    const refused = await as(app, 'admin')('POST', '/changes/2/revert', {})
    t.match(refused, {
      status: 409,
      json: {
        code: 'CONFLICT',
        conflicts: [{ key: 'app.title', scope: 1, version: 3, updatedBy: 'editor' }],
      },
    })
    t.match(refused.json.conflicts[0].updatedAt, /Z$/)
    t.equal(app.settings.get(definitions.banner), 'hello', 'all or nothing')
    t.match(await rejection(app.settings.revert(2)), { status: 409 })
    const some = await app.settings.revert(2, { keys: ['app.banner', 'mail.port'] })
    t.same(
      some.values.map(({ key }) => key),
      ['mail.port', 'app.banner'],
    )
    t.equal(app.settings.get(definitions.title), 'three')
    await app.settings.revert(2, { keys: ['app.title'], force: { 'app.title': 3 } })
    t.equal(app.settings.get(definitions.title), 'one')
  })

  test(`${name}: what the set removed is put back only if nobody wrote it since`, async (t) => {
    const app = await createChanged(t, { store: (await open(t))() })
    const asAdmin = as(app, 'admin')
    await asAdmin('PUT', '', port(26))
    await asAdmin('DELETE', '/mail.port?scope=0')
    const refused = await asAdmin('POST', '/changes/2/revert', {})
    t.match(refused, { status: 409, json: { conflicts: [{ key: 'mail.port', scope: 0, version: 0 }] } })
    t.equal(app.settings.get(definitions.port), 587)
    t.equal(app.settings.get(definitions.title), 'two', 'all or nothing')
    const keys = ['app.title']
    t.equal((await asAdmin('POST', '/changes/2/revert', { keys })).status, 200, 'the others were not written')
    const forced = await asAdmin('POST', '/changes/2/revert', {
      keys: ['mail.port'],
      force: { 'mail.port': 0 },
    })
    t.equal(forced.status, 200)
    t.equal(app.settings.get(definitions.port), 25)
  })

  test(`${name}: what the set removed is put back, however much others write meanwhile`, async (t) => {
    const database = await open(t)
    const app = await createChanged(t, { store: database() })
    const other = await createApp(t, { store: database() })
    const writer = { isDone: false }
    const writing = (async () => {
      for (let count = 0; !writer.isDone; count++) {
        await other.settings.set('app.support_email', `a${count}@example.com`)
        await setImmediate()
      }
    })()
    const statuses: number[] = []
    try {
      for (let round = 0; round < 20; round++) {
        await app.settings.reset('mail.port')
        await app.settings.set('mail.port', 25)
        await app.settings.reset('mail.port')
        const [{ revision }] = (await as(app, 'admin')('GET', '/mail.port/history?limit=1')).json.entries
        statuses.push((await as(app, 'admin')('POST', `/changes/${revision}/revert`, {})).status)
        t.equal(app.settings.get(definitions.port), 25)
      }
    } finally {
      writer.isDone = true
      await writing
    }
    t.same(
      statuses,
      Array.from({ length: 20 }, () => 200),
    )
  })

  test(`${name}: keys may be more than a statement has parameters`, async (t) => {
    const app = await createChanged(t, { store: (await open(t))() })
    const keys = ['app.title', ...Array.from({ length: 70_000 }, (_, index) => `no.such${index}`)]
    t.match(await rejection(app.settings.revert(2, { keys })), { status: 404 })
    t.match((await app.settings.history({ keys, limit: 1 })).entries, [{ key: 'app.title', revision: 2 }])
  })

  test(`${name}: text that no key can be is refused as any other, whoever sends it`, async (t) => {
    const app = await createChanged(t, { store: (await open(t))() })
    for (const text of ['\u0000', 'app.title\u0000', '\ud800']) {
      const keys = [text]
      t.equal((await as(app, 'alice')('POST', '/changes/2/revert', { keys })).status, 403)
      t.equal((await as(app, 'admin')('POST', '/changes/2/revert', { keys })).status, 404)
      const some = { keys: ['app.title', text] }
      t.equal((await as(app, 'admin')('POST', '/changes/2/revert', some)).status, 404)
      for (const filter of [{ keys }, { key: text }, { actor: text }, { userId: text }])
        t.same((await app.settings.history(filter)).entries, [])
    }
    for (const revision of [1.5, 2 ** 53, 2 ** 63, NaN])
      t.match(await rejection(app.settings.history({ revision })), { status: 400 }, String(revision))
  })

  test(`${name}: a set of which an entry was trimmed is not found, also by force`, async (t) => {
    const store = (await open(t))()
    const app = await createChanged(t, { store })
    await as(app, 'editor')('PUT', '', title('three'))
    await nextMillisecond(until)
    await trimAll(store, { olderThan: Date.now() + 60_000 })
    for (const options of [{}, { force: { 'app.title': 3 } }, { keys: ['app.title'] }])
      t.match(await rejection(app.settings.revert(2, options)), { name: 'NotFoundException', status: 404 })
    t.equal((await app.settings.revert(2, { keys: ['app.banner'] })).values.length, 1, 'what is left of it')
  })
}

test('a dry run decides everything and writes nothing', async (t) => {
  const app = await createChanged(t)
  const { status, headers, json } = await as(app, 'admin')('POST', '/changes/2/revert?dryRun=true', {})
  t.equal(status, 200)
  t.equal(headers.etag, '"r2"')
  t.match(json, { revision: 2, dryRun: true, values: [{}, { change: 'delete' }, { newValue: 'one' }] })
  t.equal(app.settings.get(definitions.title), 'two')
  await as(app, 'editor')('PUT', '', title('three'))
  t.equal((await as(app, 'admin')('POST', '/changes/2/revert?dryRun=true', {})).status, 409)
})

test('a revert asks for the rights of every value of the set', async (t) => {
  const app = await createChanged(t)
  const url = '/changes/2/revert'
  await expectStatuses(t, app, [
    [401, 'POST', url, {}, null],
    [403, 'POST', url, {}, 'alice'],
    [403, 'POST', '/changes/99/revert', {}, 'alice'], // before 404
    [403, 'POST', url, {}, 'editor'], // the set has a System value
    [403, 'POST', url, { force: { 'app.title': 2 } }, 'editor'],
    [403, 'POST', url, { keys: ['mail.port'] }, 'editor'],
    [403, 'POST', url, { keys: ['mail.password'] }, 'editor'], // no entry, and nothing says so
    [403, 'POST', '/changes/99/revert', { keys: ['mail.port'] }, 'editor'],
    [204, 'PUT', '', port(26)], // revision 3
    [404, 'POST', '/changes/3/revert', {}, 'editor'], // an entry that he does not see is none
    [404, 'POST', '/changes/3/revert', { keys: ['app.title'] }, 'editor'],
    [404, 'POST', '/changes/99/revert', {}, 'editor'],
    [404, 'POST', url, { keys: ['no.such'] }, 'editor'],
    [200, 'POST', url, { keys: ['app.title', 'app.banner'] }, 'editor'],
    [400, 'POST', '/changes/x/revert', {}],
    [400, 'POST', url, { kyes: [] }],
  ])
  t.match(await rejection(app.settings.revert(2, { as: editor })), { status: 403 })
  t.match(await rejection(app.settings.revert(0)), { status: 400 })
  await app.settings.revert(3, { keys: ['mail.port'], as: admin })
})

test('locked settings and values that no longer fit refuse the whole set, in the order of the checks', async (t) => {
  const store = memoryStore()
  await createChanged(t, { store })
  const { title: _, ...others } = definitions
  const strict = setting.text('app.title', {
    displayName: 'T',
    scope: Application,
    default: 'this',
    pattern: '^t',
  })
  const app = await createApp(t, { store, definitions: [others, { strict }] })
  const misfit = await as(app, 'admin')('POST', '/changes/2/revert', {})
  t.match(misfit, { status: 422, json: { errors: { 'app.title': [String] } } })
  const gone = await createApp(t, { store, definitions: [others] })
  t.equal((await as(gone, 'admin')('POST', '/changes/2/revert', {})).status, 404, 'no module defines it')
  const locked = await createApp(t, { store, overrides: { 'app.title': 'fixed' } })
  await as(locked, 'admin')('PUT', '', banner('newer'))
  const refused = await as(locked, 'admin')('POST', '/changes/2/revert', { force: { 'app.banner': 3 } })
  t.match(refused, { status: 409, json: { locked: ['app.title'] } })
  t.equal((await as(locked, 'admin')('POST', '/changes/2/revert', { keys: ['app.banner'] })).status, 409)
  t.equal(locked.settings.get(definitions.banner), 'newer')
})

test('a secret is put back without being shown, and refused where its key is gone', async (t) => {
  const store = memoryStore()
  const [one, two] = ['one', 'two'].map((id) => ({ id, key: randomBytes(32) }))
  const secret = (value: string) => [{ key: 'mail.password', scope: 0, value }, title(value)]
  const app = await createApp(t, { store, encryption: { keys: one ? [one] : [] } })
  await as(app, 'admin')('PUT', '/bulk', secret('first'))
  await as(app, 'admin')('PUT', '/bulk', secret('second'))
  const shown = await as(app, 'admin')('POST', '/changes/2/revert?dryRun=true', {})
  t.match(shown.json.values, [
    {
      key: 'mail.password',
      isSecret: true,
      oldValue: null,
      newValue: null,
      storedAt: /Z$/,
      change: 'update',
    },
    { key: 'app.title', isSecret: false, newValue: 'first', storedAt: null },
  ])
  t.equal((await as(app, 'admin')('POST', '/changes/2/revert', {})).status, 200)
  t.equal(await app.settings.contract.getSetting('mail.password', System), 'first')

  await as(app, 'admin')('DELETE', '/mail.password?scope=0')
  const rotated = await createApp(t, { store, encryption: { keys: two ? [two] : [] } })
  const lost = await as(rotated, 'admin')('POST', '/changes/2/revert', {
    force: { 'mail.password': 0, 'app.title': 3 },
  })
  t.match(lost, { status: 422, json: { errors: { 'mail.password': [/cannot be read any more/] } } })
  t.notMatch(lost.text, /first|second/)
})

test('a value that is written and removed while a revert begins is not put back', async (t) => {
  const store = memoryStore()
  const other = await createApp(t, { store })
  let meanwhile = async () => {}
  const interrupted = changedStore(store, {
    async write(request, inner) {
      await meanwhile()
      return inner(request)
    },
  })
  const app = await createChanged(t, { store: interrupted })
  meanwhile = async () => {
    meanwhile = async () => {}
    await other.settings.set('mail.port', 26)
    await other.settings.reset('mail.port')
  }
  t.match(await rejection(app.settings.revert(2)), { name: 'SettingsChangedException', status: 409 })
  t.equal(other.settings.get(definitions.port), 587)
})

test('force with versions replaces what was seen, and nothing newer', async (t) => {
  const app = await createChanged(t)
  const [asAdmin, asEditor] = [as(app, 'admin'), as(app, 'editor')]
  await asEditor('PUT', '', title('three'))
  const { json } = await asAdmin('POST', '/changes/2/revert', {})
  const seen = Object.fromEntries(
    json.conflicts.map(({ key, version }: { key: string; version: number }) => [key, version]),
  )
  t.same(seen, { 'app.title': 3 })
  await asEditor('PUT', '', title('four'))
  const newer = await asAdmin('POST', '/changes/2/revert', { force: seen })
  t.match(newer, { status: 409, json: { conflicts: [{ key: 'app.title', version: 4 }] } })
  t.equal(app.settings.get(definitions.title), 'four')
  await asAdmin('PUT', '', port(26))
  await asAdmin('DELETE', '/mail.port?scope=0')
  const both = { 'app.title': 4, 'mail.port': 0 }
  t.equal((await asAdmin('POST', '/changes/2/revert', { force: { 'app.title': 4 } })).status, 409)
  t.equal((await asAdmin('POST', '/changes/2/revert', { force: both })).status, 200)
  t.equal(app.settings.get(definitions.title), 'one')
  t.equal(app.settings.get(definitions.port), 25)
  for (const force of [true, 'yes', 1, { 'app.title': '4' }, { 'app.title': -1 }])
    t.equal((await asAdmin('POST', '/changes/2/revert', { force })).status, 400, JSON.stringify(force))
})

test('a revert keeps the conditions of its request, on the revision of the store', async (t) => {
  const app = await createChanged(t)
  for (const body of [{}, { force: { 'app.title': 2 } }, { keys: ['app.title'] }]) {
    const revert = (headers: Record<string, string>) =>
      as(app, 'admin')('POST', '/changes/2/revert?dryRun=true', body, headers)
    for (const headers of [{ 'if-match': '"r1"' }, { 'if-none-match': '"r2"' }])
      t.equal((await revert(headers)).status, 412, JSON.stringify(headers))
    for (const headers of [{ 'if-match': '"r2"' }, { 'if-none-match': '"r1"' }])
      t.equal((await revert(headers)).status, 200, JSON.stringify(headers))
  }
})

test('a revert that was committed is answered, whatever the history does afterwards', async (t) => {
  const store = memoryStore()
  const silent = changedStore(store, {
    history: async (query) => {
      if ((await store.shared.read()).revision > 2) throw new ServiceUnavailableException('silent')
      return store.history(query)
    },
  })
  const app = await createApp(t, { store: silent })
  for (const value of ['first', 'second'])
    await as(app, 'admin')('PUT', '/bulk', [{ key: 'mail.password', scope: 0, value }])
  const reverted = await as(app, 'admin')('POST', '/changes/2/revert', {})
  t.match(reverted, { status: 200, json: { revision: 3, values: [{ isSecret: true, storedAt: /Z$/ }] } })
})
