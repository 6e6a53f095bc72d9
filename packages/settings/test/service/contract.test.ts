import { test } from 'tap'
import { type JsonValue, setting, SettingScope } from '@fastify-modular/settings'
import { createApp, definitions, logInto, rejection } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { memoryStore } from '../support/stores.js'

const { System, Application, User } = SettingScope

test('S 4.2: getSetting gives the stored value in raw form, null when none is stored', async (t) => {
  const { settings } = await createApp(t)
  t.equal(await settings.contract.getSetting('mail.port', System), null, 'the default is not stored')
  await settings.contract.setSetting('mail.port', 2525, System)
  await settings.contract.setSetting('app.title', 'Acme', Application)
  await settings.contract.setSetting('app.feature_json', { a: [1] }, Application)
  await settings.contract.setSetting('system.maintenance_mode', true, System)
  t.equal(await settings.contract.getSetting('mail.port', System), '2525')
  t.equal(
    await settings.contract.getSetting('app.title', Application),
    'Acme',
    'decision 4: text is not JSON-encoded',
  )
  t.equal(await settings.contract.getSetting('app.feature_json', Application), '{"a":[1]}')
  t.equal(await settings.contract.getSetting('system.maintenance_mode', System), 'true')
  t.equal(await settings.contract.getSetting('no.such', System), null)
})

test('S 4.2: getSettingAs gives the stored value decoded', async (t) => {
  const { settings } = await createApp(t)
  t.equal(await settings.contract.getSettingAs<number>('mail.port', System), null)
  await settings.contract.setSetting('mail.port', 2525, System)
  t.equal(await settings.contract.getSettingAs<number>('mail.port', System), 2525)
  await settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  t.equal(await settings.contract.getSettingAs('app.theme', User, 'alice'), 'dark')
  t.equal(await settings.contract.getSettingAs('app.theme', User, 'bob'), null)
})

test('S 3.2: resolving goes user, application, default; deleting goes back (S 3.3)', async (t) => {
  const { settings } = await createApp(t)
  const resolve = () => settings.contract.resolveUserSetting('app.theme', 'alice')
  t.equal(await resolve(), 'light')
  await settings.contract.setSetting('app.theme', 'dark', Application)
  t.equal(await resolve(), 'dark')
  await settings.contract.setSetting('app.theme', 'system', User, 'alice')
  t.equal(await resolve(), 'system')
  t.equal(await settings.contract.resolveUserSetting('app.theme', 'bob'), 'dark')
  await settings.contract.deleteSetting('app.theme', User, 'alice')
  t.equal(await resolve(), 'dark')
  await settings.contract.resetToDefault('app.theme', Application)
  t.equal(await resolve(), 'light')
  t.equal(await settings.contract.resolveUserSetting('no.such', 'alice'), null)
})

test('S 4.2: resolveUserSettingElement is decoded, also for System and sensitive settings (S 2.7)', async (t) => {
  const { settings } = await createApp(t)
  t.equal(await settings.contract.resolveUserSettingElement('mail.port', 'alice'), 587)
  await settings.contract.setSetting('mail.port', 25, System)
  t.equal(await settings.contract.resolveUserSettingElement('mail.port', 'alice'), 25)
  t.equal(await settings.contract.resolveUserSetting('mail.port', 'alice'), '25')
  t.equal(await settings.contract.resolveUserSettingElement('user.token', 'alice'), null)
  await settings.contract.setSetting('user.token', 'hush', User, 'alice')
  t.equal(await settings.contract.resolveUserSettingElement('user.token', 'alice'), 'hush')
  t.equal(await settings.contract.getSetting('user.token', User, 'alice'), 'hush')
})

test('S 2.3.3: a write that fails carries the key and its errors', async (t) => {
  const { settings } = await createApp(t)
  const { name, status, error } = await rejection(settings.contract.setSetting('mail.port', 0, System))
  t.same([name, status], ['SettingValidationException', 422])
  t.match(error, { key: 'mail.port', errors: [/1/], errorsByKey: { 'mail.port': [/1/] } })
})

test('S 4.1.2: setMany is all or nothing, with the errors of all keys, and refuses User scope', async (t) => {
  const { settings } = await createApp(t)
  const good = { key: 'app.title', scope: Application, value: 'Acme' }
  const failed = await rejection(
    settings.setMany([
      good,
      { key: 'mail.port', scope: System, value: 0 },
      { key: 'app.support_email', scope: Application, value: 'x' },
    ]),
  )
  t.match(failed, { name: 'SettingValidationException', error: { key: 'mail.port' } })
  t.match(failed.error, { errorsByKey: { 'mail.port': [String], 'app.support_email': [String] } })
  t.match(await rejection(settings.setMany([good, { key: 'app.theme', scope: User, value: 'dark' }])), {
    name: 'ArgumentException',
    status: 400,
  })
  t.match(await rejection(settings.setMany([good, good])), { name: 'ArgumentException', status: 400 })
  t.match(await rejection(settings.setMany([{ ...good, version: 3 }])), {
    name: 'SettingsChangedException',
    status: 409,
  })
  t.equal(await settings.contract.getSetting('app.title', Application), null, 'nothing was written')
  await settings.setMany([good, { key: 'mail.port', scope: System, value: 25 }])
  t.equal(settings.status.revision, 1)
  await settings.setMany([])
  t.equal(settings.status.revision, 1)
})

test('decision 26a: unknown keys are null to reads and NotFoundException to writes', async (t) => {
  const { settings } = await createApp(t)
  t.equal(await settings.contract.getSettingValue('no.such', System), null)
  t.equal(await settings.contract.resolveUserSettingElement('no.such', 'alice'), null)
  t.match(await rejection(settings.contract.setSetting('no.such', 1, System)), {
    name: 'NotFoundException',
    status: 404,
  })
  t.match(await rejection(settings.contract.deleteSetting('no.such', System)), {
    name: 'NotFoundException',
    status: 404,
  })
})

test('decision 26a: User scope without a user is an ArgumentException everywhere', async (t) => {
  const { settings } = await createApp(t)
  for (const call of [
    settings.contract.getSetting('app.theme', User),
    settings.contract.getSettingAs('app.theme', User, ''),
    settings.contract.setSetting('app.theme', 'dark', User),
    settings.contract.setSetting('app.theme', 'dark', User, 'x'.repeat(256)),
    settings.contract.deleteSetting('app.theme', User),
    settings.contract.resolveUserSetting('app.theme', ''),
    settings.contract.getSettingValue('app.theme', User),
    settings.contract.getSettingValues({ scope: User }),
    settings.forUser(''),
  ]) {
    t.match(await rejection(call), { name: 'ArgumentException', status: 400 })
  }
})

test('a user with another scope is refused: the default of everybody is not theirs', async (t) => {
  const { settings } = await createApp(t)
  for (const scope of [SettingScope.System, SettingScope.Application]) {
    const writes = [
      settings.contract.setSetting('app.title', 'x', scope, 'bob'),
      settings.contract.deleteSetting('app.title', scope, 'bob'),
      settings.contract.resetToDefault('app.title', scope, 'bob'),
    ]
    for (const write of writes) t.match(await rejection(write), { name: 'ArgumentException', status: 400 })
  }
  t.equal(settings.status.revision, 0)
})

test('decision 20: a value lives in the scope of its definition: writing elsewhere is refused, reading is null', async (t) => {
  const { settings } = await createApp(t)
  const { contract } = settings
  for (const [key, scope, userId] of [
    ['mail.port', Application],
    ['mail.port', User, 'alice'],
    ['app.title', System],
    ['app.title', User, 'alice'],
    ['app.theme', System],
  ] as const) {
    const place = userId === undefined ? { scope } : { userId }
    for (const writing of [
      contract.setSetting(key, 25, scope, userId),
      settings.set(String(key), 25, place),
      ...(userId === undefined
        ? [
            contract.setMany([{ key, scope, value: 25 }]),
            settings.setMany([{ key, scope, value: 25 }]),
            settings.import({ settings: [{ key, scope, value: 25 }] }),
          ]
        : []),
    ])
      t.match(await rejection(writing), { name: 'ArgumentException', status: 400 }, `${key} ${scope}`)
    t.equal(await contract.getSetting(key, scope, userId), null)
    t.equal(await contract.getSettingValue(key, scope, userId), null)
    t.equal(await settings.record(key, place), null)
  }
  t.equal(settings.status.revision, 0)
})

test('R14a: what a definition of another scope left is named, read as null, and removed by deleting it', async (t) => {
  const store = memoryStore()
  const define = (scope: SettingScope) => [setting.text('x.moved', { displayName: 'Moved', scope })]
  const older = await createApp(t, { store, definitions: define(User) })
  await older.settings.set(String('x.moved'), 'own', { userId: 'alice' })
  await older.settings.set(String('x.moved'), 'of all')
  const lines: string[] = []
  const app = await createApp(t, { store, definitions: define(System) }, logInto(lines))
  const { contract } = app.settings
  t.ok(lines.some((line) => line.includes('x.moved') && line.includes('another scope')))
  t.same(await app.settings.orphans(), [
    { key: 'x.moved', scope: Application, rows: 1 },
    { key: 'x.moved', scope: User, rows: 1 },
  ])
  t.equal(app.settings.get(String('x.moved')), null)
  t.equal(await contract.getSetting('x.moved', Application), null)
  t.equal(await contract.getSetting('x.moved', User, 'alice'), null)
  t.same(await contract.getSettingValues({ userId: 'alice', scope: User }), [])
  await contract.deleteSetting('x.moved', Application)
  await app.settings.reset('x.moved', { userId: 'alice' })
  t.same(await app.settings.orphans(), [])
})

test('S 2.4, S 2.7: DTO reads mask sensitive values, without spoiling other reads', async (t) => {
  const { settings } = await createApp(t)
  await settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  await settings.contract.setSetting('user.token', 'hush', User, 'alice')
  t.match(await settings.contract.getSettingValue('app.api_secret', Application), {
    value: null,
    isOverridden: true,
    source: 'application',
  })
  t.match(await settings.contract.getSettingValue('user.token', User, 'alice'), {
    value: null,
    isOverridden: true,
    source: 'user',
  })
  const values = [
    ...(await settings.contract.getSettingValues()),
    ...(await settings.contract.getSettingValues({ scope: User, userId: 'alice' })),
  ]
  t.notMatch(JSON.stringify(values), /hunter2|hush/)
  t.equal(await settings.contract.getSetting('app.api_secret', Application), 'hunter2')
  t.equal(settings.get(definitions.secret), 'hunter2')
})

test('S 2.6: getSettingValues filters by scope, group and user', async (t) => {
  const { settings } = await createApp(t)
  const keys = async (filter?: Parameters<typeof settings.contract.getSettingValues>[0]) =>
    (await settings.contract.getSettingValues(filter)).map(({ key }) => key)
  t.equal((await keys()).length, 12)
  t.same(await keys({ scope: System, group: 'Mail' }), ['mail.password', 'mail.port'])
  await settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  t.same(await keys({ scope: User, userId: 'alice' }), ['app.theme'])
  t.same(await keys({ scope: User, userId: 'alice', group: 'Mail' }), [])
  t.same(await keys({ scope: User, userId: 'bob' }), [])
})

test('S 2.3.1: a value is validated when it is written and again before it is stored', async (t) => {
  const inner = memoryStore()
  let looks = 0
  const value = {
    get deep(): unknown {
      const tooDeep = Array.from({ length: 40 }).reduce((deep) => [deep], 1)
      return looks++ === 0 ? 'fine' : tooDeep // what the first look does not see
    },
  }
  const asked: string[] = []
  const store = changedStore(inner, {
    async write(request, write) {
      asked.push('transaction')
      return write(request)
    },
  })
  const { settings } = await createApp(t, { store })
  t.match(await rejection(settings.contract.setSetting('mail.port', 0, System)), { status: 422 })
  t.same(asked, [], 'the first check refuses before a transaction begins')
  const writing = settings.contract.setSetting('app.feature_json', value as JsonValue, Application)
  t.match(await rejection(writing), { status: 422, error: { key: 'app.feature_json' } })
  t.same(asked, ['transaction'], 'the second check refuses within it')
  t.same(await inner.scan.values(null, 10), [])
})

test('the actor, origin and note of a write are in its history', async (t) => {
  const { settings } = await createApp(t)
  await settings.contract.setSetting('mail.port', 25, System, undefined, {
    actor: 'job',
    origin: 'cli',
    note: 'why',
  })
  t.match((await settings.history({ key: 'mail.port', scope: System })).entries, [
    { actor: 'job', origin: 'cli', note: 'why', newValue: 25, oldValue: null },
  ])
  t.match(await settings.contract.getSettingValue('mail.port', System), { updatedBy: 'job' })
})
