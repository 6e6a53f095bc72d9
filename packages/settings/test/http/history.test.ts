import { randomBytes } from 'node:crypto'
import { test } from 'tap'
import { as, createApp, type Expected, expectStatuses } from '../support/app.ts'

const title = (value: unknown) => ({ key: 'app.title', scope: 1, value })

test('history lists who changed what, when and how, newest first', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  await as(app, 'editor')('PUT', '', title('one'))
  await admin('PUT', '/bulk', [title('two'), { key: 'mail.port', scope: 0, value: 25 }])
  await admin('DELETE', '/app.title?scope=1')
  const got = await admin('GET', '/app.title/history?scope=1')
  t.equal(got.headers['cache-control'], 'no-store')
  t.match(got.json.entries, [
    {
      revision: 3,
      oldValue: 'two',
      newValue: null,
      isOverridden: false,
      actor: 'admin',
      origin: 'api',
      key: 'app.title',
      scope: 1,
      userId: null,
    },
    { revision: 2, oldValue: 'one', newValue: 'two', isOverridden: true, actor: 'admin', requestId: String },
    { revision: 1, oldValue: null, newValue: 'one', actor: 'editor', at: /Z$/ },
  ])
  const { next } = (await admin('GET', '/app.title/history?limit=1')).json
  t.match((await admin('GET', `/app.title/history?limit=1&before=${next}`)).json.entries, [{ revision: 2 }])
})

test('a revision groups what was written together', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  await admin('PUT', '/bulk', [title('two'), { key: 'mail.port', scope: 0, value: 25 }])
  await admin('PUT', '', title('three'))
  await admin('PUT', '/me', { key: 'app.theme', value: 'dark' })
  const { changes } = (await admin('GET', '/changes')).json
  t.match(changes, [
    { revision: 2, actor: 'admin', entries: [{ key: 'app.title' }] },
    { revision: 1, entries: [{ key: 'mail.port' }, { key: 'app.title' }] },
  ])
  t.equal(changes.length, 2, 'users’ own values are nobody else’s business')
  const editors = (await as(app, 'editor')('GET', '/changes')).json.changes
  t.same(
    editors[1].entries.map((entry: { key: string }) => entry.key),
    ['app.title'],
    'System rows are for administrators',
  )
})

test('changes are selected by group, by actor and by time, page by page', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  await as(app, 'editor')('PUT', '', title('one'))
  await admin('PUT', '/bulk', [title('two'), { key: 'mail.port', scope: 0, value: 25 }])
  await admin('PUT', '', { key: 'app.feature_json', scope: 1, value: { beta: true } })
  const select = async (query: string): Promise<string[]> => {
    const { changes } = (await admin('GET', `/changes?${query}`)).json
    return changes.flatMap((change: { revision: number; entries: { key: string }[] }) =>
      change.entries.map(({ key }) => `${change.revision} ${key}`),
    )
  }
  t.same(await select('group=General'), ['2 app.title', '1 app.title'])
  t.same(await select('group=General&actor=editor'), ['1 app.title'])
  t.same(await select('group='), ['3 app.feature_json'], 'settings without a group')
  t.same(await select('group=None'), [])
  t.same(await select('actor=editor'), ['1 app.title'])
  t.same(await select('since=2999-01-01T00:00:00Z'), [])
  t.equal((await select('since=2020-01-01T00:00:00Z')).length, 4)
  const first = (await admin('GET', '/changes?actor=admin&limit=1')).json
  t.same(await select(`actor=admin&limit=5&before=${first.next}`), ['2 mail.port', '2 app.title'])
  t.equal((await admin('GET', '/changes?since=yesterday')).status, 400)
  t.equal((await admin('GET', '/changes?since=2025-02-30T25:00:00Z')).status, 400)
  t.same((await as(app, 'editor')('GET', '/changes?group=Mail')).json.changes, [], 'System rows')
})

test('a time without an offset is UTC, wherever the server is', async (t) => {
  const { TZ } = process.env
  t.teardown(() => (TZ === undefined ? delete process.env.TZ : (process.env.TZ = TZ)))
  const app = await createApp(t)
  await as(app, 'admin')('PUT', '', title('one'))
  const changesSince = async (since: string) =>
    (await as(app, 'admin')('GET', `/changes?since=${encodeURIComponent(since)}`)).json.changes.length
  const { at } = (await as(app, 'admin')('GET', '/changes')).json.changes[0]
  const later = new Date(Date.parse(at) + 1).toISOString()
  for (const zone of ['Pacific/Auckland', 'America/New_York']) {
    process.env.TZ = zone
    t.not(new Date().getTimezoneOffset(), 0, 'the zone is in effect')
    for (const offset of ['', 'Z', '+00:00']) {
      t.equal(await changesSince(at.replace('Z', offset)), 1, `${zone} ${offset}`)
      t.equal(await changesSince(later.replace('Z', offset)), 0, `${zone} ${offset}`)
    }
  }
})

test('a change of one value is undone, or made again: a secret without being shown', async (t) => {
  const keys = [{ id: 'one', key: randomBytes(32) }]
  const app = await createApp(t, { encryption: { keys } })
  const admin = as(app, 'admin')
  const undo = (key: string, revision: number) =>
    admin('POST', `/changes/${revision}/revert`, { keys: [key] })
  await admin('PUT', '', title('one'))
  await admin('PUT', '', title('two'))
  t.equal((await undo('app.title', 2)).status, 200)
  t.equal(app.settings.get('app.title'), 'one')
  t.equal((await undo('app.title', 1)).status, 409, 'it does not hold any more')
  await admin('DELETE', '/app.title?scope=1')
  t.equal((await undo('app.title', 4)).status, 200)
  t.equal(app.settings.get('app.title'), 'one')
  await admin('PUT', '', { key: 'mail.password', scope: 0, value: 'first' })
  await admin('PUT', '', { key: 'mail.password', scope: 0, value: 'second' })
  t.equal((await undo('mail.password', 7)).status, 200)
  t.equal(await app.settings.contract.getSetting('mail.password', 0), 'first')
  t.equal((await admin('POST', '/mail.password/restore', { scope: 0, revision: 7 })).status, 204)
  t.equal(await app.settings.contract.getSetting('mail.password', 0), 'second')
  t.notMatch((await admin('GET', '/mail.password/history')).text, /first|second/)
})

test('decision 26b: history needs Settings.Update, System rows an administrator, User rows their owner', async (t) => {
  const app = await createApp(t)
  await as(app, 'admin')('PUT', '/bulk', [{ key: 'mail.port', scope: 0, value: 25 }])
  await as(app, 'admin')('PUT', '/me', { key: 'app.theme', value: 'dark' })
  const forEditors = ['/app.title/history', '/changes', '/export', '/app.title/inspect']
  const forAdmins = ['/mail.port/history', '/mail.port/history?scope=0', '/mail.port/inspect']
  await expectStatuses(t, app, [
    ...forEditors.map((path): Expected => [403, 'GET', path, undefined, 'alice']),
    ...forAdmins.map((path): Expected => [403, 'GET', path, undefined, 'editor']),
    ...forAdmins.map((path): Expected => [200, 'GET', path]),
    [403, 'POST', '/mail.port/restore', { scope: 0, revision: 1 }, 'editor'],
    [403, 'POST', '/app.title/restore', { scope: 1, revision: 1 }, 'alice'],
  ])
  const entriesOf = async (caller: 'admin' | 'editor') =>
    (await as(app, caller)('GET', '/app.theme/history?scope=2')).json.entries.length
  t.same([await entriesOf('admin'), await entriesOf('editor')], [1, 0], 'another user’s rows')
})

test('restore writes the value of a revision again, as a new revision', async (t) => {
  const app = await createApp(t)
  const editor = as(app, 'editor')
  await editor('PUT', '', title('one'))
  await editor('PUT', '', title('two'))
  await editor('DELETE', '/app.title?scope=1')
  const back = await editor('POST', '/app.title/restore', { scope: 1, revision: 1, note: 'better before' })
  t.equal(back.status, 204)
  t.equal(back.headers.etag, '"r4"')
  t.equal((await editor('GET', '/app.title?scope=1')).json.value, 'one')
  t.match((await editor('GET', '/app.title/history')).json.entries[0], {
    revision: 4,
    origin: 'restore',
    note: 'better before',
    actor: 'editor',
  })
  t.equal((await editor('POST', '/app.title/restore', { scope: 1, revision: 3 })).status, 204, 'a removal')
  t.equal((await editor('GET', '/app.title?scope=1')).json.isOverridden, false)
  t.match(await editor('POST', '/app.title/restore', { scope: 1, revision: 99 }), {
    status: 404,
    json: { title: 'Resource not found' },
  })
  t.equal((await editor('POST', '/app.title/restore', { scope: 1, revision: '1' })).status, 400)
})

test('restore of a value that no longer validates is 422, of a locked one 409', async (t) => {
  const { memoryStore, setting, SettingScope } = await import('@fastify-modular/settings')
  const store = memoryStore()
  const before = await createApp(t, {
    store,
    definitions: [setting.text('app.title', { displayName: 'T', scope: SettingScope.Application })],
  })
  await before.settings.contract.setSetting('app.title', '', 1)
  await before.settings.contract.setSetting('app.title', 'now', 1)
  const after = await createApp(t, { store })
  t.match(await as(after, 'editor')('POST', '/app.title/restore', { scope: 1, revision: 1 }), {
    status: 422,
    json: { errors: { 'app.title': [String] } },
  })
  const locked = await createApp(t, { store, overrides: { 'app.title': 'fixed' } })
  t.equal((await as(locked, 'editor')('POST', '/app.title/restore', { scope: 1, revision: 2 })).status, 409)
})

test('history pages are bounded', async (t) => {
  const app = await createApp(t)
  const queries = 'limit=0 limit=501 limit=x limit=-1 before=x before=1 before=1: before=1:1:%00 scope=7'
  for (const query of queries.split(' ')) {
    const got = await as(app, 'admin')('GET', `/app.title/history?${query}`)
    t.match(got, { status: 400, json: { code: 'VALIDATION' } }, query)
  }
  t.match(await as(app, 'admin')('GET', '/app.title/history?before=1:9:a'), { status: 400 })
})
