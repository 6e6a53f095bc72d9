import { setting, SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { as, createApp, expectStatuses, rejection } from '../support/app.ts'
import { memoryStore } from '../support/stores.js'

async function filled(t: Parameters<typeof createApp>[0]) {
  const app = await createApp(t)
  await as(app, 'admin')('PUT', '/bulk', [
    { key: 'mail.port', scope: 0, value: 25 },
    { key: 'app.title', scope: 1, value: 'Acme' },
    { key: 'app.theme', scope: 1, value: 'dark' },
    { key: 'app.api_secret', scope: 1, value: 'hunter2' },
  ])
  await as(app, 'admin')('PUT', '/me', { key: 'app.theme', value: 'system' })
  return app
}

test('an export has the stored shared values in a stable order, secrets by name only', async (t) => {
  const app = await filled(t)
  const file = await as(app, 'admin')('GET', '/export')
  t.same(file.json, {
    format: 1,
    settings: [
      { key: 'app.theme', scope: 1, value: 'dark' },
      { key: 'app.title', scope: 1, value: 'Acme' },
      { key: 'mail.port', scope: 0, value: 25 },
    ],
    omitted: ['app.api_secret'],
  })
  const editors = (await as(app, 'editor')('GET', '/export')).json
  t.same(
    editors.settings.map(({ key }: { key: string }) => key),
    ['app.theme', 'app.title'],
    'System rows are for administrators',
  )
  await app.settings.contract.setSetting('mail.password', 'hunter2', SettingScope.System)
  t.same((await as(app, 'admin')('GET', '/export')).json.omitted, ['app.api_secret', 'mail.password'])
  t.same((await as(app, 'editor')('GET', '/export')).json.omitted, ['app.api_secret'], 'nor are they named')
})

test('an export is imported elsewhere, after a dry run that lists what changes', async (t) => {
  const file = (await as(await filled(t), 'admin')('GET', '/export')).json
  const app = await createApp(t)
  const admin = as(app, 'admin')
  await admin('PUT', '/bulk', [
    { key: 'app.title', scope: 1, value: 'Other' },
    { key: 'mail.port', scope: 0, value: 25 },
    { key: 'app.banner', scope: 1, value: 'stays' },
  ])
  const dry = await admin('POST', '/import?dryRun=true', file)
  const report = {
    create: ['app.theme'],
    update: ['app.title'],
    delete: [],
    unchanged: ['mail.port'],
    unknown: [],
    kept: [],
  }
  t.same(dry.json, { ...report, revision: 1, dryRun: true })
  t.equal(app.settings.status.revision, 1)

  t.equal(dry.headers.etag, '"r1"')
  const stale = await admin('POST', '/import', file, { 'if-match': '"r0"' })
  t.equal(stale.status, 412, 'not the revision of the dry run')
  t.match(await rejection(app.settings.import(file, { revision: 0 })), { status: 412 })
  const imported = await admin('POST', '/import', file, { 'if-match': '"r1"' })
  t.same(imported.json, { ...report, revision: 2, dryRun: false })
  t.equal(app.settings.get('app.title'), 'Acme')
  t.equal(app.settings.get('app.banner'), 'stays')
})

test('mode=replace removes what the file does not have, except secrets and locked values', async (t) => {
  const app = await filled(t)
  const admin = as(app, 'admin')
  const file = { format: 1, settings: [{ key: 'app.title', scope: 'Application', value: 'New' }] }
  const editors = (await as(app, 'editor')('POST', '/import?mode=replace&dryRun=true', file)).json
  t.same(editors.delete, ['app.theme'], 'an editor removes no System rows')
  t.match((await admin('POST', '/import?mode=replace', file)).json, {
    update: ['app.title'],
    delete: ['app.theme', 'mail.port'],
  })
  t.equal(app.settings.get('app.api_secret'), 'hunter2')
})

test('an import is all or nothing, with every error by key', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  const file = (...settings: readonly (readonly [string, number, unknown])[]) => ({
    format: 1,
    settings: settings.map(([key, scope, value]) => ({ key, scope, value })),
  })
  const broken = file(['app.title', 1, 'ok'], ['mail.port', 0, 0], ['app.support_email', 1, 'x'])
  t.match(await admin('POST', '/import', broken), {
    status: 422,
    json: { errors: { 'mail.port': [String], 'app.support_email': [String] } },
  })
  t.equal(app.settings.status.revision, 0)
  const partly = await admin('POST', '/import', file(['gone.away', 1, 1], ['app.title', 1, 'ok']))
  t.match(partly.json, { unknown: ['gone.away'], create: ['app.title'] })
  await expectStatuses(t, app, [
    [400, 'POST', '/import', { format: 2, settings: [] }],
    [400, 'POST', '/import', file(['app.title', 1, 'a'], ['app.title', 1, 'b'])],
    [403, 'POST', '/import', file(['mail.port', 0, 25]), 'editor'],
    [403, 'POST', '/import', file(), 'alice'],
  ])
})

test('mode=replace keeps what an export of the same application omits, and names it', async (t) => {
  const store = memoryStore()
  const encryption = { keys: [{ id: 'k', key: Buffer.from('0123456789abcdef0123456789abcdef') }] }
  const older = await createApp(t, { store, encryption })
  for (const [key, scope, value] of [
    ['app.title', 1, 'Acme'],
    ['app.api_secret', 1, 'hunter2'],
    ['app.support_email', 1, 'help@example.com'],
    ['app.banner', 1, 'stored beneath a lock'],
    ['mail.port', 0, 25],
    ['mail.password', 0, 'hush'],
  ] as const)
    await older.settings.contract.setSetting(key, value, scope)

  const { Application, System } = SettingScope
  const newer = await createApp(t, {
    store,
    encryption,
    overrides: { 'app.banner': 'locked' },
    definitions: [
      setting.text('app.title', { displayName: 'Title', scope: Application }),
      setting.text('app.api_secret', { displayName: 'No secret any more', scope: Application }),
      setting.number('app.support_email', { displayName: 'Of another type', scope: Application }),
      setting.text('app.banner', { displayName: 'Banner', scope: Application }),
      setting.number('mail.port', { displayName: 'With other bounds', scope: System, min: 1000 }),
      setting.password('mail.password', { displayName: 'Password', scope: System, sensitive: true }),
    ],
  })
  const admin = as(newer, 'admin')
  const file = (await admin('GET', '/export')).json
  const left = ['app.api_secret', 'app.support_email', 'mail.password', 'mail.port']
  t.same(file.omitted, left, 'secrets, also of the past, and what does not fit its definition here')
  const stored = await store.scan.values(null, 100)
  for (const dryRun of [true, false]) {
    t.match(await admin('POST', `/import?mode=replace&dryRun=${dryRun}`, { ...file, settings: [] }), {
      status: 200,
      json: { delete: ['app.title'], kept: ['app.api_secret', 'app.banner', ...left.slice(1)] },
    })
  }
  await older.settings.refresh()
  t.same(
    (await store.scan.values(null, 100)).map(({ key }) => key),
    stored.map(({ key }) => key).filter((key) => key !== 'app.title'),
  )
  const empty = { format: 1, settings: [] }
  const editors = await as(newer, 'editor')('POST', '/import?mode=replace', empty)
  t.same(editors.json.kept, ['app.api_secret', 'app.banner', 'app.support_email'], 'no System rows')
  t.same((await admin('POST', '/import', empty)).json.kept, [], 'a merge removes nothing')
})

test('an export goes back into the instance that it came from, beneath locks and permissions', async (t) => {
  const store = memoryStore()
  const { Application } = SettingScope
  const text = (key: string, more = {}) =>
    setting.text(key, { displayName: key, scope: Application, ...more })
  const definitions = [
    text('x.free'),
    text('x.locked'),
    text('x.guarded', { writePermission: 'Mail.Configure' }),
  ]
  const keys = definitions.map(({ key }) => key)
  const before = await createApp(t, { store, definitions })
  for (const key of keys) await before.settings.set(key as string, 'stored')
  const app = await createApp(t, { store, definitions, overrides: { 'x.locked': 'fixed' } })
  const editor = as(app, 'editor')
  const file = (await editor('GET', '/export')).json
  t.equal(file.settings.length, 3)
  const edited = (key: string, value: string) =>
    file.settings.map((each: { key: string }) => (each.key === key ? { ...each, value } : each))
  for (const query of ['', '?mode=replace', '?dryRun=true', '?mode=replace&dryRun=true']) {
    const report = { status: 200, json: { unchanged: keys.toSorted(), update: [], delete: [], revision: 3 } }
    t.match(await editor('POST', `/import${query}`, file), report, query)
    for (const [key, status] of [
      ['x.locked', 409],
      ['x.guarded', 403],
    ] as const) {
      const body = { ...file, settings: edited(key, 'another') }
      t.equal((await editor('POST', `/import${query}`, body)).status, status, `${query} ${key}`)
    }
  }
  t.equal((await editor('PUT', '/bulk?dryRun=true', file.settings)).status, 200)
  t.equal((await editor('PUT', '', file.settings[1])).status, 403, 'one value alone is asked for as before')
  await editor('PUT', '/bulk', edited('x.free', 'new'))
  t.equal(app.settings.get('x.free' as string), 'new')
  // Memory may be older than the row, which decides.
  await before.settings.set('x.guarded' as string, 'newer')
  t.equal((await editor('POST', '/import', file)).status, 403)
})

test('a thousand guesses of a secret that the caller may not write are answered alike', async (t) => {
  const store = memoryStore()
  const { Application } = SettingScope
  const encryption = { keys: [{ id: 'k', key: Buffer.from('0123456789abcdef0123456789abcdef') }] }
  const text = (key: string, more = {}) =>
    setting.text(key, { displayName: key, scope: Application, ...more })
  const writePermission = 'Mail.Configure'
  const older = await createApp(t, {
    store,
    encryption,
    definitions: ['x.guarded', 'x.locked', 'x.past'].map((key) => text(key, { sensitive: true })),
  })
  for (const key of ['x.guarded', 'x.locked', 'x.past']) await older.settings.set(key, 'guess 500')
  const app = await createApp(t, {
    store,
    encryption,
    overrides: { 'x.locked': 'fixed' },
    definitions: [
      text('x.other', { required: true }),
      text('x.guarded', { sensitive: true, writePermission }),
      text('x.locked', { sensitive: true }),
      text('x.past', { writePermission }),
    ],
  })
  const editor = as(app, 'editor')
  for (const [key, status] of [
    ['x.guarded', 403],
    ['x.locked', 409],
    ['x.past', 403],
  ] as const) {
    const answers = new Set<string>()
    for (let guess = 0; guess < 1000; guess++) {
      const settings = [
        { key: 'x.other', scope: 1, value: '' }, // does not fit, which is said later
        { key, scope: 1, value: `guess ${guess}` },
      ]
      const query = guess % 2 ? '?dryRun=true' : ''
      // The right one is tried in both ways.
      for (const more of guess === 500 ? ['', '?dryRun=true'] : [query]) {
        const bulk = await editor('PUT', `/bulk${more}`, settings)
        const file = await editor('POST', `/import${more}`, { format: 1, settings })
        for (const { status: got, json } of [bulk, file]) answers.add(`${got} ${json.detail} ${json.code}`)
      }
    }
    t.equal(answers.size, 1, key)
    t.match([...answers][0], new RegExp(`^${status} `))
  }
  t.equal(app.settings.status.revision, 3)
})
