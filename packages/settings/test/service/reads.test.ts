import Fastify from 'fastify'
import { test } from 'tap'
import { Observer } from '#src/diagnostics.js'
import { OwnedCache } from '#src/memory/owned-values.js'
import { Encryption } from '#src/secrets/encryption.js'
import { RowCodec } from '#src/secrets/row-codec.js'
import { user, silentLog } from '../contract/case.ts'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { type Owner, ownerHash, type StorePort } from '#src/store/store.js'
import { alice, as, callerByHeader, createApp, definitions, logInto, rejection } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { memoryStore } from '../support/stores.js'

const { Application, User, System } = SettingScope

test('get is synchronous for System, Application and the default of User settings', async (t) => {
  const { settings } = await createApp(t)
  t.equal(settings.get(definitions.port), 587)
  t.equal(settings.get('app.theme'), 'light')
  t.equal(settings.get(definitions.banner), null, 'no default')
  await settings.contract.setSetting('mail.port', 25, System)
  await settings.contract.setSetting('app.theme', 'dark', Application)
  await settings.contract.setSetting('app.theme', 'system', User, 'alice')
  t.equal(settings.get(definitions.port), 25)
  t.equal(settings.get(definitions.theme), 'dark', 'not a user’s own value')
})

test('an unknown key names the closest one', async (t) => {
  const { settings } = await createApp(t)
  // @ts-expect-error -- the compiler knows it too
  t.throws(() => settings.get('mail.prot'), {
    code: 'FMOD_SETTINGS_UNKNOWN_KEY',
    message: /"mail\.prot".*"mail\.port"/,
  })
})

test('values are deep-frozen', async (t) => {
  const { settings } = await createApp(t)
  await settings.contract.setSetting('app.feature_json', { list: [{ on: true }] }, Application)
  const value: unknown = settings.get(definitions.features)
  t.throws(() => (value as { list: unknown[] }).list.push(1), TypeError)
})

test('forUser reads one user; its own values stay what they were, shared ones are live', async (t) => {
  const { settings } = await createApp(t)
  await settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  const reader = await settings.forUser('alice')
  t.equal(reader.userId, 'alice')
  t.equal(reader.get(definitions.theme), 'dark')
  t.equal(reader.get(definitions.density), 'comfortable')
  await settings.contract.setSetting('user.preferred_density', 'compact', Application)
  t.equal(reader.get(definitions.density), 'compact')
  await settings.contract.deleteSetting('app.theme', User, 'alice')
  t.equal(reader.get(definitions.theme), 'dark', 'one reader, one answer')
  t.equal((await settings.forUser('alice')).get(definitions.theme), 'light')
  t.equal((await settings.forUser(null)).get(definitions.theme), 'light')
})

test('request.settings reads the values of the caller, or the shared ones', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(settings, { definitions: [definitions], findCaller: callerByHeader })
  app.get('/theme', async (request) => {
    const mine = await request.settings
    return { user: mine.userId, theme: mine.get(definitions.theme), same: mine === (await request.settings) }
  })
  await app.settings.contract.setSetting('app.theme', 'dark', User, alice.id)
  t.same((await app.inject({ url: '/theme', headers: { 'x-caller': 'alice' } })).json(), {
    user: 'alice',
    theme: 'dark',
    same: true,
  })
  t.same((await app.inject('/theme')).json(), { user: null, theme: 'light', same: true })
})

test('request.settings that a hook read before the caller was known is that of the caller afterwards', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', async (request) => void (await request.settings))
  app.addHook('onRequest', (request, _reply, done) => {
    void request.settings // not awaited
    done()
  })
  app.decorateRequest('caller', null)
  app.addHook('onRequest', async (request) => {
    Object.assign(request, { caller: callerByHeader(request) })
  })
  await app.register(settings, { definitions: [definitions] })
  app.get('/theme', async (request) => (await request.settings).get(definitions.theme))
  await app.settings.contract.setSetting('app.theme', 'dark', User, alice.id)
  t.equal((await app.inject({ url: '/theme', headers: { 'x-caller': 'alice' } })).payload, 'dark')
})

test('users are loaded by one query, however many ask at once', async (t) => {
  const store = counting(memoryStore())
  const { settings } = await createApp(t, { store })
  await Promise.all(Array.from({ length: 50 }, () => settings.forUser('alice')))
  t.equal(store.loads.get('alice'), 1)
  await settings.forUser('alice')
  t.equal(store.loads.get('alice'), 1, 'kept')
})

test('the users seen last stay in memory, the others are loaded again', async (t) => {
  const store = counting(memoryStore())
  const { settings } = await createApp(t, { store, maxCachedUsers: 3 })
  for (const user of ['a', 'b', 'c', 'a', 'd', 'a', 'b']) await settings.forUser(user)
  t.same(Object.fromEntries(store.loads), { a: 1, b: 2, c: 1, d: 1 })
})

test('a write while its user is being loaded is seen by all loads', async (t) => {
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const inner = memoryStore()
  const store = changedStore(inner, {
    owned: {
      async read(owner) {
        const rows = await inner.owned.read(owner) // read before the write, answered after it
        await gate
        return rows
      },
    },
  })
  const { settings } = await createApp(t, { store })
  const loading = settings.forUser('alice')
  await settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  release()
  t.equal((await loading).get(definitions.theme), 'dark')
  t.equal((await settings.forUser('alice')).get(definitions.theme), 'dark')
})

test('a load that fails is tried again by the next load', async (t) => {
  const inner = memoryStore()
  let isDown = true
  const store = changedStore(inner, {
    owned: { read: (owner) => (isDown ? Promise.reject(new Error('down')) : inner.owned.read(owner)) },
  })
  const { settings } = await createApp(t, { store })
  t.match(await rejection(settings.forUser('alice')), { error: { message: 'down' } })
  isDown = false
  t.equal((await settings.forUser('alice')).get(definitions.theme), 'light')
})

test('of users whose values could not be read nothing stays in memory', async (t) => {
  const observer = new Observer()
  const codec = new RowCodec({
    encryption: new Encryption(),
    refusesPlain: () => false,
    observer,
    log: silentLog,
  })
  const store = changedStore(memoryStore(), { owned: { read: () => Promise.reject(new Error('down')) } })
  const users = new OwnedCache({
    scope: User,
    store,
    sharedValues: { find: () => undefined },
    codec,
    capacity: 1,
  })
  users.forget({ hashes: [] })
  await rejection(Promise.resolve(users.load('alice')))
  const deleted = t.capture(Map.prototype, 'delete', Map.prototype.delete)
  users.forget({ hashes: [ownerHash(user('alice'))] })
  t.same(deleted(), [], 'the name in notifications is not known')
})

test('a stored value at which a rule fails counts as unset, and nothing else suffers', async (t) => {
  const store = memoryStore()
  const define = (scope: SettingScope, key: string, isStrict: boolean) =>
    setting.text(key, {
      displayName: 'Name',
      scope,
      default: 'default',
      validate(value) {
        if (isStrict && value.includes('hush')) throw new Error(`${value} is refused`)
      },
    })
  const declare = (isStrict: boolean) => [
    define(Application, 'rule.shared', isStrict),
    define(User, 'rule.own', isStrict),
    define(User, 'rule.other', false),
  ]
  const lines: string[] = []
  const stored = await createApp(t, { store, definitions: declare(false) })
  await stored.settings.set('rule.shared' as string, 'hush')
  await stored.settings.set('rule.own' as string, 'hush', { userId: 'alice' })
  await stored.settings.set('rule.other' as string, 'mine', { userId: 'alice' })

  const app = await createApp(t, { store, definitions: declare(true) }, logInto(lines))
  t.equal(app.settings.get('rule.shared' as string), 'default')
  const reader = await app.settings.forUser('alice')
  t.same([reader.get('rule.own' as string), reader.get('rule.other' as string)], ['default', 'mine'])
  t.match(await as(app, 'alice')('GET', '/me'), {
    status: 200,
    json: [{ value: 'mine' }, { value: 'default' }],
  })
  await stored.settings.set('rule.shared' as string, 'hush again')
  await stored.settings.set('rule.other' as string, 'for all')
  await app.settings.refresh()
  t.equal(app.settings.get('rule.other' as string), 'for all', 'what another instance wrote meanwhile')
  t.equal(app.settings.status.state, 'ready')
  t.equal(lines.filter((line) => line.includes('fails at its stored value')).length, 2)
  t.notMatch(lines.join(), /hush/)
})

test('a stored value that no longer fits counts as unset, is logged once and shown by inspect', async (t) => {
  const store = memoryStore()
  const before = await createApp(t, {
    store,
    definitions: [setting.text('mail.port', { displayName: 'Port', scope: System })],
  })
  await before.settings.contract.setSetting('mail.port', 'secret-text', System)
  const lines: string[] = []
  const after = await createApp(t, { store }, logInto(lines))
  t.equal(after.settings.get(definitions.port), 587)
  t.equal(await after.settings.contract.getSetting('mail.port', System), null)
  t.match(await after.settings.inspect('mail.port'), {
    value: 587,
    source: 'default',
    invalid: true,
    layers: [{}, { source: 'system', isSet: true, invalid: true, value: null }, {}],
  })
  t.equal(lines.filter((line) => line.includes('no longer fits')).length, 1)
  t.notMatch(lines.join(''), /secret-text/)
})

test('inspect names the layer that supplies a value, strongest first, masked', async (t) => {
  const { settings } = await createApp(t, { overrides: { 'mail.port': 2525 } })
  await settings.contract.setSetting('app.theme', 'dark', Application)
  await settings.contract.setSetting('app.theme', 'system', User, 'alice')
  const theme = await settings.inspect('app.theme', 'alice')
  t.match(theme, { value: 'system', source: 'user', invalid: false, module: 'app', scope: User })
  t.same(
    theme?.layers.map(({ source, value, isSet }) => [source, value, isSet]),
    [
      ['locked', null, false],
      ['user', 'system', true],
      ['application', 'dark', true],
      ['default', 'light', true],
    ],
  )
  t.match(await settings.inspect('app.theme'), { value: 'dark', source: 'application' })
  t.match(await settings.inspect('mail.port'), { value: 2525, source: 'locked' })
  await settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  const secret = await settings.inspect('app.api_secret')
  t.match(secret, { value: null, source: 'application' })
  t.notMatch(JSON.stringify(secret), /hunter2/)
  t.equal(await settings.inspect('no.such'), null)
})

function counting(inner: StorePort): StorePort & { readonly loads: Map<string, number> } {
  const loads = new Map<string, number>()
  const read = (owner: Owner) => {
    loads.set(owner.id, (loads.get(owner.id) ?? 0) + 1)
    return inner.owned.read(owner)
  }
  return { ...changedStore(inner, { owned: { read } }), loads }
}
