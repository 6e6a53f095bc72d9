import { setting, SettingScope, type SettingsOptions } from '@fastify-modular/settings'
import { test } from 'tap'
import { admin, alice, as, bob, type CallerName, createApp, editor, rejection } from '../support/app.ts'
import { memoryStore } from '../support/stores.js'

const { System, Application, User } = SettingScope

async function createWithHistory(t: Parameters<typeof createApp>[0], options: SettingsOptions = {}) {
  const app = await createApp(t, { selfService: true, ...options })
  await as(app, 'admin')('PUT', '/bulk', [
    { key: 'app.title', scope: 1, value: 'one' },
    { key: 'mail.port', scope: 0, value: 25 },
  ])
  for (const name of ['admin', 'editor', 'alice'] as const)
    await as(app, name)('PUT', '/me', { key: 'app.theme', value: 'dark' })
  return app
}

const keysOf = ({ entries }: { entries: readonly { key: string }[] }) => entries.map(({ key }) => key)

test('history for a caller has what the routes show to this caller, whatever is asked for', async (t) => {
  const app = await createWithHistory(t)
  const asked = [
    { key: 'app.title' },
    { key: 'app.title', scope: Application },
    { key: 'app.title', scope: System },
    { key: 'mail.port' },
    { key: 'mail.port', scope: System },
    { key: 'mail.port', scope: Application },
    { key: 'app.theme' },
    { key: 'app.theme', scope: User },
  ]
  for (const caller of [admin, editor, alice]) {
    for (const { key, scope } of asked) {
      const name = `${caller.id}: ${key} in scope ${scope}`
      const query = scope === undefined ? '' : `?scope=${scope}`
      const response = await as(app, caller.id as 'admin')('GET', `/${key}/history${query}`)
      const filter = {
        key,
        visibleTo: caller,
        ...(scope !== undefined && { scope }),
        ...(scope === User && { userId: caller.id }),
      }
      const inProcess = app.settings.history(filter)
      if (response.status === 403) t.equal((await rejection(inProcess)).status, 403, name)
      else t.same(keysOf(await inProcess), keysOf(response.json), name)
    }
  }
})

test('history for a caller without a filter is that of the route /changes', async (t) => {
  const app = await createWithHistory(t)
  t.same(keysOf(await app.settings.history({ visibleTo: admin })), ['mail.port', 'app.title'])
  t.same(keysOf(await app.settings.history({ visibleTo: editor })), ['app.title'])
  t.match(await rejection(app.settings.history({ visibleTo: alice })), { status: 403 })
  t.same(keysOf(await app.settings.history()), ['mail.port', 'app.title'], 'nobody is named')
})

test('history for a caller has no other user’s values', async (t) => {
  const app = await createWithHistory(t)
  for (const caller of [admin, editor]) {
    t.match(await rejection(app.settings.history({ userId: 'alice', visibleTo: caller })), { status: 403 })
    t.same(keysOf(await app.settings.history({ userId: caller.id, visibleTo: caller })), ['app.theme'])
  }
})

test('an export for a caller is that of the route', async (t) => {
  const app = await createWithHistory(t)
  for (const caller of [admin, editor]) {
    const { json } = await as(app, caller.id as 'admin')('GET', '/export')
    t.same(app.settings.export({ visibleTo: caller }), json, caller.id)
  }
  t.match(app.settings.export({ visibleTo: editor }), {
    settings: [{ key: 'app.title' }],
    omitted: [],
  })
  t.throws(() => app.settings.export({ visibleTo: alice }), /needs the permission/)
  t.equal(app.settings.export().settings.length, 2, 'nobody is named')
})

test('an import for a caller removes nothing that the caller may not see', async (t) => {
  const app = await createWithHistory(t)
  const report = await app.settings.import({ settings: [] }, { mode: 'replace', as: editor })
  t.same(report.delete, ['app.title'])
  t.match(await rejection(app.settings.import({ settings: [] }, { mode: 'replace', as: alice })), {
    status: 403,
  })
})

test('what was stored before a setting became System is for administrators', async (t) => {
  const store = memoryStore()
  const account = (scope: SettingScope) => [
    setting.text('pay.account', { displayName: 'Account', scope, required: true, default: 'none' }),
  ]
  const before = await createApp(t, { store, definitions: account(Application) })
  await as(before, 'editor')('PUT', '', { key: 'pay.account', scope: 1, value: 'an editor’s' })
  const app = await createApp(t, { store, definitions: account(System) })
  await as(app, 'admin')('PUT', '', { key: 'pay.account', scope: 0, value: 'fixed' })
  const asEditor = as(app, 'editor')
  for (const scope of ['', '?scope=0', '?scope=1', '?scope=2']) {
    t.equal((await asEditor('GET', `/pay.account/history${scope}`)).status, 403, `history${scope}`)
    t.equal((await as(app, 'admin')('GET', `/pay.account/history${scope}`)).status, 200, `history${scope}`)
  }
  t.same((await asEditor('GET', '/changes')).json.changes, [])
  t.equal((await as(app, 'admin')('GET', '/changes')).json.changes.length, 2)
  for (const scope of [0, 1, 2]) {
    const target = { scope, revision: 1 }
    t.equal((await asEditor('POST', '/pay.account/restore', target)).status, 403, `scope ${scope}`)
  }
  t.match(
    await as(app, 'admin')('POST', '/pay.account/restore', { scope: 1, revision: 1 }),
    { status: 400, json: { detail: /has its value in the scope System/ } },
    'no row that nothing reads',
  )
  t.match((await store.shared.read()).rows, [
    { scope: System },
    { scope: Application, value: '"an editor’s"' },
  ])
})

test('decision 87: history of a user is that user’s, and a filter that cannot apply is an error', async (t) => {
  const app = await createWithHistory(t)
  t.match((await app.settings.history({ userId: 'alice' })).entries, [{ key: 'app.theme', userId: 'alice' }])
  t.same((await app.settings.history({ userId: 'nobody' })).entries, [])
  for (const scope of [System, Application])
    t.match(await rejection(app.settings.history({ userId: 'alice', scope })), {
      name: 'ArgumentException',
      status: 400,
    })
  t.match(await rejection(app.settings.history({ scope: User })), { name: 'ArgumentException' })
  t.match(await rejection(app.settings.history({ userId: '' })), { name: 'ArgumentException' })
})

test('an option visibleTo, or as, without a caller shows and reverts nothing: nobody is signed in', async (t) => {
  const app = await createWithHistory(t)
  const nobody: object = { visibleTo: null, as: null }
  for (const refused of [
    app.settings.history(nobody),
    app.settings.history({ visibleTo: undefined } as object),
    Promise.resolve().then(() => app.settings.export(nobody)),
    app.settings.revert(1, { ...nobody, dryRun: true }),
    app.settings.import({ settings: [] }, nobody),
  ])
    t.match(await rejection(refused), { name: 'ForbiddenException' })
})

test('an import for a caller who may not change settings is refused in both modes, and writes nothing', async (t) => {
  const app = await createWithHistory(t)
  const file = { settings: [{ key: 'app.title', scope: 1, value: 'hers' } as const] }
  for (const mode of ['merge', 'replace'] as const) {
    const refused = app.settings.import(file, { mode, as: alice })
    t.match(await rejection(refused), { name: 'ForbiddenException' }, mode)
  }
  t.match(await app.settings.record('app.title'), { value: 'one' })
})

test('an import in a mode that there is not is refused, and removes nothing', async (t) => {
  const app = await createWithHistory(t)
  const file = { settings: [] }
  const mode: object = { mode: 'marge' }
  t.match(await rejection(app.settings.import(file, mode)), { name: 'ArgumentException' })
  t.equal((await app.settings.record('app.title'))?.isOverridden, true)
})

test('an import for a caller has no System entries of one who is not an administrator, in both modes', async (t) => {
  const app = await createWithHistory(t)
  const title = { key: 'app.title', scope: 1, value: 'theirs' } as const
  const port = { key: 'mail.port', scope: 0, value: 26 } as const
  for (const mode of ['merge', 'replace'] as const) {
    const refused = app.settings.import({ settings: [title, port] }, { mode, as: editor })
    t.match(
      await rejection(refused),
      { name: 'ForbiddenException', error: { message: /administrators/ } },
      mode,
    )
    t.same(await app.settings.import({ settings: [] }, { mode: 'merge', as: editor }), {
      revision: 1,
      create: [],
      update: [],
      delete: [],
      unchanged: [],
      unknown: [],
      kept: [],
      dryRun: false,
    })
    const dry = app.settings.import({ settings: [port] }, { mode, dryRun: true, as: editor })
    t.match(await rejection(dry), { name: 'ForbiddenException' }, `a dry run, ${mode}`)
  }
  t.match(await app.settings.record('app.title'), { value: 'one' })
  t.match(await app.settings.record('mail.port'), { value: 25 })
  const file = { settings: [title, port] }
  t.same((await app.settings.import(file, { as: admin })).update, ['app.title', 'mail.port'])
})

/** Routes of what was stored: of a value in a scope; `revision` is the version that the value has there. */
const past = {
  history: (key: string, scope: number) => ['GET', `/${key}/history?scope=${scope}`, undefined] as const,
  unnamed: (key: string, _scope: number) => ['GET', `/${key}/history`, undefined] as const,
  restore: (key: string, scope: number, revision: number) =>
    ['POST', `/${key}/restore`, { scope, revision }] as const,
}

test('decision 26b: with selfService users see and restore what they stored themselves, and nothing else', async (t) => {
  const values = [
    ['app.theme', User, 'dark'],
    ['app.theme', Application, 'dark'],
    ['user.token', User, 'hush'],
    ['app.title', Application, 'one'],
    ['mail.port', System, 25],
    ['app.title', User, 'stray'],
    ['mail.port', User, 26],
  ] as const
  for (const selfService of [true, false]) {
    const store = memoryStore()
    // Rows of users that are older than the definitions.
    const older = await createApp(t, {
      store,
      definitions: ['app.title', 'mail.port'].map((key) =>
        setting.json(key, { displayName: key, scope: User }),
      ),
    })
    const app = await createApp(t, { store, selfService })
    for (const caller of [admin, editor, alice, bob]) {
      for (const [key, scope, value] of values) {
        const isOlder = scope === User && (key === 'app.title' || key === 'mail.port')
        const { contract } = (isOlder ? older : app).settings
        const user = scope === User ? caller.id : undefined
        await contract.setSetting(key, value, scope, user)
        const { version = 0 } = (await contract.getSettingValue(key, scope, user)) ?? {}
        for (const [route, request] of Object.entries(past)) {
          const name = `${caller.id}: ${route} of ${key} in scope ${scope}, selfService ${selfService}`
          const asked = route === 'unnamed' && scope === User ? undefined : scope
          const mayUpdate = caller === admin || caller === editor
          const isOwn = asked === User && (key === 'app.theme' || key === 'user.token')
          const isAllowed = (isOwn && selfService) || (mayUpdate && (key !== 'mail.port' || caller === admin))
          const [method, path, body] = request(key, scope, version)
          const answer = await as(app, caller.id as CallerName)(method, path, body)
          // Only User settings have own values that a write may make.
          const done = body ? (asked === User && !isOwn ? 400 : 204) : 200
          t.equal(answer.status, isAllowed ? done : 403, name)
          t.notMatch(answer.text, /hush/, name)
          if (asked !== User || !answer.json?.entries) continue
          t.ok(answer.json.entries.length > 0, name)
          for (const entry of answer.json.entries) t.match(entry, { key, scope, userId: caller.id }, name)
        }
      }
    }
  }
})

test('restoring an own value writes it back, hides a secret, and needs If-Match to hold', async (t) => {
  const app = await createApp(t, { selfService: true })
  const request = as(app, 'alice')
  for (const value of ['first', 'second']) await request('PUT', '/me', { key: 'user.token', value })
  const { entries } = (await request('GET', '/user.token/history?scope=2')).json
  t.match(entries, [{ newValue: null }, { newValue: null }])
  const body = { scope: 2, revision: entries[1].revision }
  t.equal((await request('POST', '/user.token/restore', body, { 'if-match': '"r1"' })).status, 412)
  const prefer = { prefer: 'return=representation' }
  const restored = await request('POST', '/user.token/restore', body, prefer)
  t.match(restored.json, { value: null, userId: 'alice', isOverridden: true })
  t.equal(await app.settings.contract.getSetting('user.token', User, 'alice'), 'first')
  t.equal((await as(app, 'bob')('POST', '/user.token/restore', body)).status, 404, "not another user's")
  t.equal((await request('GET', '/user.unknown/history?scope=2')).status, 404)
  t.equal((await request('POST', '/user.unknown/restore', body)).status, 404)
})
