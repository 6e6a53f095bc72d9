import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { defineModule, modules } from '@fastify-modular/core'
import { setting, settings, SettingScope, type SettingsOptions } from '@fastify-modular/settings'
import { as, createApp, definitions, logInto, rejection, routesOf } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { memoryStore } from '../support/stores.js'

const { Application } = SettingScope
const text = (key: string, options = {}) =>
  setting.text(key, { displayName: key, scope: Application, ...options })

test('modules contribute by their hook, in dependency order, and read stored values in their bodies', async (t) => {
  const store = memoryStore()
  const earlier = await createApp(t, { store, definitions: [text('notes.title')] })
  await earlier.settings.contract.setSetting('notes.title', 'stored', Application)

  const app = Fastify()
  t.teardown(() => app.close())
  const read: unknown[] = []
  const notes = defineModule({
    name: 'notes',
    settings: (builder) => void builder.add(text('notes.title')).add(text('notes.other')),
    plugin: async (scope) => void read.push(scope.settings.get(String('notes.title'))),
  })
  const mail = defineModule({
    name: 'mail',
    dependsOn: ['notes'],
    settings: { a: text('mail.a') },
  })
  app.register(settings, { store, definitions: [text('app.first')] })
  app.register(modules, { modules: [mail, notes] })
  await app.ready()
  t.same(read, ['stored'])
  t.same(
    app.settings.definitions.getDefinitions().map(({ key }) => key),
    ['app.first', 'notes.title', 'notes.other', 'mail.a'],
  )
})

test('decision 3: all problems of all modules stop the boot in one error, before module bodies mount', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  let isMounted = false
  app.register(settings, {
    definitions: [
      text('app.title'),
      setting.number('app.bad', { displayName: 'Bad', scope: Application, min: 10, max: 5 }),
    ],
  })
  app.register(modules, {
    modules: [
      defineModule({
        name: 'one',
        settings: (builder) => void builder.add(text('app.title')),
        plugin: async () => void (isMounted = true),
      }),
      defineModule({ name: 'two', settings: { bulk: text('bulk') } }),
    ],
  })
  const { error } = await rejection(Promise.resolve(app.ready()))
  t.match(error, {
    code: 'FMOD_SETTINGS_INVALID_DEFINITIONS',
    message: /app\.bad[^]*app\.title[^]*one[^]*app[^]*bulk/,
  })
  t.equal(isMounted, false)
})

test('a plugin that is not a module defines its settings while it registers, and not later', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(settings)
  app.register(async (scope) => {
    t.equal(scope.settings.define({ greeting: text('hello.greeting', { default: 'Hi' }) }), app.settings)
    t.equal(scope.settings.get(String('hello.greeting')), 'Hi')
  })
  await app.ready()
  t.throws(() => app.settings.define(text('too.late')), { code: 'FMOD_CORE_ADDED_LATE' })
})

test('the plugin is registered once, in whatever scopes', async (t) => {
  const inScope = (app: FastifyInstance) => void app.register(async (scope) => void scope.register(settings))
  const inRoot = (app: FastifyInstance) => void app.register(settings)
  for (const [first, second] of [
    [inRoot, inRoot],
    [inRoot, inScope],
    [inScope, inRoot],
    [inScope, inScope],
  ] as const) {
    const app = Fastify()
    t.teardown(() => app.close())
    first(app)
    second(app)
    t.match(await rejection(Promise.resolve(app.ready())), {
      error: { code: 'FMOD_CORE_REGISTERED_TWICE' },
    })
  }
})

test('decision 2: a key that would shadow a route of the API is refused, whichever routes there are', async (t) => {
  const urls = routesOf(await createApp(t)).map(({ url }) => url.slice('/api/settings/'.length))
  const reserved = [...new Set(urls.map((url) => url.split('/')[0] ?? ''))].filter((name) => /^\w/.test(name))
  t.ok(reserved.length > 5, reserved.join(' '))
  for (const key of [...reserved, 'ME']) {
    const { error } = await rejection(createApp(t, { definitions: [text(key)] }))
    t.match(
      error,
      { code: 'FMOD_SETTINGS_INVALID_DEFINITIONS', message: /is a path of the settings API/ },
      key,
    )
    await createApp(t, { definitions: [text(key)], routes: false })
  }
  await createApp(t, { definitions: [text('me.name'), text('history'), text('inspect')] })
})

test('options that cannot be right stop the boot by name', async (t) => {
  const wrong: [string, unknown][] = [
    ['findCaller', 'alice'],
    ['selfService', 'everybody'],
    ['resolvedSecrets', true],
    ['maxCachedUsers', 0],
    ['limits', { bulkEntries: -1 }],
    ['encryption', { mode: 'maybe' }],
    ['encryption', { key: 'singular' }],
    ['limits', { txtBytes: 5 }],
    ['overrides', []],
    ['routes', '/settings'],
    ['routes', { prefx: '/settings' }],
    ['store', {}],
    ['translate', 'de'],
    ['findPeople', {}],
    ['history', { days: 0 }],
    ['history', { days: Number.NaN }],
    ['history', { perValue: 1.5 }],
    ['history', { perValue: -1 }],
    ['definitons', []],
  ]
  for (const [name, value] of wrong) {
    const options = { [name]: value } as unknown as SettingsOptions
    t.match(
      await rejection(createApp(t, options)),
      { error: { code: 'FMOD_CORE_INVALID_OPTION', message: name } },
      name,
    )
  }
})

test('all options that cannot be right are named at once, a misspelt one with the nearest name', async (t) => {
  const options = { maxCachedUsers: 0, encryption: { mod: 'warn' }, definitons: [] }
  t.match(await rejection(createApp(t, options as SettingsOptions)), {
    error: {
      message:
        /encryption\.mod \(did you mean encryption\.mode\?\).*maxCachedUsers must be a positive integer.*definitons \(did you mean definitions\?\)/,
    },
  })
})

test('the boot log says what is legal and probably not meant, once each', async (t) => {
  const lines: string[] = []
  const app = Fastify(logInto(lines))
  t.teardown(() => app.close())
  await app.register(settings, { definitions: [definitions] })
  await app.ready()
  for (const part of ['not persisted', 'answer 401', 'plain text', 'resolvedSecrets']) {
    t.equal(lines.filter((line) => line.includes(part)).length, 1, part)
  }
  t.equal((await app.inject('/api/settings')).statusCode, 401, 'decision 52: no caller can be known')
})

test('values of settings that are gone are kept, reported and not shown', async (t) => {
  const store = memoryStore()
  const before = await createApp(t, {
    store,
    definitions: [text('old.one'), setting.text('old.mine', { displayName: 'M', scope: SettingScope.User })],
  })
  await before.settings.contract.setSetting('old.one', 'x', Application)
  await before.settings.contract.setSetting('old.mine', 'y', SettingScope.User, 'alice')
  await before.settings.contract.setSetting('old.mine', 'z', SettingScope.User, 'bob')
  const lines: string[] = []
  const app = await createApp(t, { store }, logInto(lines))
  t.same(await app.settings.orphans(), [
    { key: 'old.one', scope: Application, rows: 1 },
    { key: 'old.mine', scope: SettingScope.User, rows: 2 },
  ])
  t.ok(lines.some((line) => line.includes('old.one')))
  const admin = as(app, 'admin')
  t.notMatch(
    (await admin('GET', '')).text +
      (await admin('GET', '/export')).text +
      (await admin('GET', '/changes')).text,
    /old\./,
  )
  const again = await createApp(t, { store, definitions: [text('old.one')] })
  t.equal(again.settings.get(String('old.one')), 'x', 'back with its module')
})

test('a store that cannot be opened or read stops the boot and is closed', async (t) => {
  const fail = () => Promise.reject(new Error('no database'))
  for (const broken of [{ open: fail }, { shared: { read: fail } }]) {
    let closed = 0
    const store = changedStore(memoryStore(), { ...broken, close: async () => void closed++ })
    t.match(await rejection(createApp(t, { store })), { error: { message: 'no database' } })
    t.equal(closed, 0, 'nothing closes before the application does')
  }
})
