import { randomBytes } from 'node:crypto'
import { test } from 'tap'
import { setting, SettingScope } from '@fastify-modular/settings'
import type { StorePort } from '#src/store/store.js'
import { as, createApp, definitions, logInto, rejection } from '../support/app.ts'
import { memoryStore } from '../support/stores.js'

const { System, Application, User } = SettingScope
const key = (id: string) => ({ id, key: randomBytes(32) })
const [one, two] = [key('one'), key('two')]
const row = { scope: Application, owner: '', key: 'app.api_secret' } as const

test('decision 13: sensitive values are encrypted at rest and readable in process', async (t) => {
  const store = memoryStore()
  const { settings } = await createApp(t, { store, encryption: { keys: [one] } })
  await settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  await settings.contract.setSetting('user.token', 'hush', User, 'alice')
  await settings.contract.setSetting('app.title', 'Acme', Application)
  const rows = await store.scan.values(null, 10)
  t.match(rows, [
    { key: 'app.api_secret', encrypted: true, value: /^v1\.one\./ },
    { key: 'app.title', encrypted: false, value: '"Acme"' },
    { key: 'user.token', encrypted: true },
  ])
  t.notMatch(JSON.stringify([rows, await store.scan.history(null, 10)]), /hunter2|hush/)
  t.equal(settings.get(definitions.secret), 'hunter2')
  t.equal(await settings.contract.resolveUserSetting('user.token', 'alice'), 'hush')
})

test('reencrypt names what the keys at hand cannot decrypt, in the history too, and leaves it', async (t) => {
  const store = memoryStore()
  const first = await createApp(t, { store, encryption: { keys: [one] } })
  await first.settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  await first.settings.contract.deleteSetting('app.api_secret', Application)
  const second = await createApp(t, { store, encryption: { keys: [two] } })
  t.same(await second.settings.reencrypt(), { reencrypted: 0, history: 0, unreadable: ['app.api_secret'] })
})

test('a value whose key is gone stops the boot, and names the setting and the key only', async (t) => {
  const store = memoryStore()
  const { settings } = await createApp(t, { store, encryption: { keys: [one] } })
  await settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  const { error } = await rejection(createApp(t, { store, encryption: { keys: [two] } }))
  t.match(error, { code: 'FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS', message: /"app\.api_secret" with "one"/ })
  t.match(
    await rejection(createApp(t, { store })),
    { error: { code: 'FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS' } },
    'no key at all',
  )
})

test("users' values whose key is gone do not stop the boot: reading them fails, and reencrypt names them", async (t) => {
  const store = memoryStore()
  const { settings } = await createApp(t, { store, encryption: { keys: [one] } })
  await settings.contract.setSetting('user.token', 'hush', User, 'alice')
  const later = await createApp(t, { store, encryption: { keys: [two], mode: 'require' } })
  const reader = await later.settings.forUser('alice')
  t.throws(() => reader.get(definitions.token), { code: 'FMOD_SETTINGS_UNREADABLE' })
  t.match(await later.settings.reencrypt(), { unreadable: ['user.token'] })
})

test('a value that was tampered with fails to read instead of passing for unset; writing repairs it', async (t) => {
  const store = memoryStore()
  const app = await createApp(t, { store, encryption: { keys: [one] } })
  await app.settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  const [stored] = await store.scan.values(null, 1)
  const forged = `${stored?.value.slice(0, -2)}AA`
  await store.shared.write({
    actor: null,
    origin: 'attack',
    reads: [row],
    decide: () => [{ ...row, value: forged, encrypted: true }],
  })
  await app.settings.refresh()
  t.throws(() => app.settings.get(definitions.secret), { code: 'FMOD_SETTINGS_UNREADABLE' })
  t.equal((await as(app, 'alice')('GET', '/app.api_secret/resolved')).status, 500)
  t.match((await as(app, 'alice')('GET', '/app.api_secret?scope=1')).json, {
    value: null,
    isOverridden: true,
  })
  t.equal((await as(app, 'alice')('GET', '')).status, 200, 'lists go on')
  await app.settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  t.equal(app.settings.get(definitions.secret), 'hunter2')
})

test('encryption: "require" stops the boot without a key; "warn" logs once', async (t) => {
  t.match(await rejection(createApp(t, { encryption: { mode: 'require' } })), {
    error: {
      code: 'FMOD_SETTINGS_ENCRYPTION_REQUIRED',
      message: /app\.api_secret, user\.token, mail\.password/,
    },
  })
  await createApp(t, { definitions: [definitions.title], encryption: { mode: 'require' } }) // nothing to encrypt
  const lines: string[] = []
  const plain = await createApp(t, {}, logInto(lines))
  t.equal(lines.filter((line) => line.includes('plain text')).length, 1)
  const { error } = await rejection(plain.settings.reencrypt())
  t.match(error, { code: 'FMOD_SETTINGS_ENCRYPTION_REQUIRED' })
})

test('decision 13: no secret in any answer, event, history, export, log or problem', async (t) => {
  const lines: string[] = []
  const store: StorePort = memoryStore()
  const options = { store, selfService: true as const }
  const app = await createApp(t, options, logInto(lines, 'trace'))
  const admin = as(app, 'admin')
  const seen: string[] = []
  const record = async (...args: Parameters<typeof admin>) => {
    const got = await admin(...args)
    seen.push(got.text, JSON.stringify(got.headers))
  }
  await record('PUT', '', { key: 'mail.password', scope: 0, value: 'hunter2' })
  await record(
    'PUT',
    '',
    { key: 'mail.password', scope: 0, value: 'hunter3' },
    { prefer: 'return=representation' },
  )
  await record('PUT', '/me', { key: 'user.token', value: 'hunter2' }, { prefer: 'return=representation' })
  await record('PUT', '', { key: 'mail.password', scope: 0, value: { wrong: 'hunter2' } })
  await record('PUT', '', { key: 'mail.port', scope: 0, value: 'hunter2' })
  await record('PUT', '', '{"key":"mail.password","scope":0,"value":"hunter2"')
  await record('PUT', '', { key: 'mail.password', scope: 'hunter2', value: 'hunter2' })
  await record('PUT', '/bulk?dryRun=true', [{ key: 'mail.password', scope: 0, value: 'hunter4' }])
  for (const path of [
    '',
    '/me',
    '/definitions',
    '/public',
    '/export',
    '/changes',
    '?scope=2',
    '/mail.password?scope=0',
    '/mail.password/history',
    '/mail.password/inspect',
    '/user.token/history?scope=2',
    '/user.token/inspect',
  ]) {
    await record('GET', path)
  }
  await record('DELETE', '/mail.password?scope=0', undefined, { prefer: 'return=representation' })
  t.notMatch(seen.join('\n'), /hunter/)
  t.notMatch(lines.join('\n'), /hunter/)
})

test('a plain row that appears under "require" is not served, and is logged; writing the value again repairs it', async (t) => {
  const store = memoryStore()
  const lines: string[] = []
  const { logger } = logInto(lines, 'error')
  const encryption = { keys: [one], mode: 'require' } as const
  const { settings } = await createApp(t, { store, encryption }, { logger })
  const id = { scope: Application, owner: '', key: 'app.api_secret' } as const
  const injected = { ...id, value: '"INJECTED"', encrypted: false }
  await store.shared.write({ actor: null, origin: 'attack', reads: [id], decide: () => [injected] })
  await settings.refresh()
  t.throws(() => settings.get(definitions.secret), {
    code: 'FMOD_SETTINGS_UNREADABLE',
    message:
      'The stored value of the setting "app.api_secret" cannot be read: it is stored in plain text although encryption is required. Write the value again.',
  })
  t.equal(lines.filter((line) => line.includes('"key":"app.api_secret"')).length, 1)
  t.notMatch(lines.join(''), /INJECTED/)
  await settings.contract.setSetting('app.api_secret', 'mine', Application)
  t.equal(settings.get(definitions.secret), 'mine')
})

test('decision 13: an encrypted value stays hidden although its definition is not sensitive any more', async (t) => {
  const store = memoryStore()
  const encryption = { keys: [one] }
  const system = { displayName: 'Once secret', scope: System }
  const shared = { displayName: 'Once secret', scope: Application }
  const own = { displayName: 'Once secret', scope: User }
  const older = await createApp(t, {
    store,
    encryption,
    definitions: [
      setting.text('past.system', { ...system, sensitive: true }),
      setting.text('past.shared', { ...shared, sensitive: true }),
      setting.text('past.own', { ...own, sensitive: true }),
    ],
  })
  await older.settings.contract.setSetting('past.system', 'hunter1', System)
  await older.settings.contract.setSetting('past.shared', 'hunter2', Application)
  await older.settings.contract.setSetting('past.own', 'hunter3', Application)
  await older.settings.contract.setSetting('past.own', 'hunter4', User, 'editor')

  const lines: string[] = []
  const app = await createApp(
    t,
    {
      store,
      encryption,
      resolvedSecrets: 'owner',
      definitions: [
        setting.text('past.system', { ...system, public: true }),
        setting.text('past.shared', { ...shared, public: true }),
        setting.text('past.own', own),
      ],
    },
    logInto(lines, 'info'),
  )
  const readSecrets = () =>
    lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'sensitive setting was read')
  const keys = ['past.system', 'past.shared', 'past.own']
  const ofAll = ['', '?scope=0', '?scope=1', '?scope=2', '/me', '/public', '/export', '/changes']
  const ofKey = ['?scope=0', '?scope=1', '?scope=2', '/inspect', '/history', '/history?scope=2']
  const paths = [...ofAll, ...keys.flatMap((key) => ofKey.map((rest) => `/${key}${rest}`))]
  for (const caller of ['admin', 'editor'] as const) {
    for (const path of paths)
      t.notMatch((await as(app, caller)('GET', path)).text, /hunter/, `${caller} GET ${path}`)
  }
  const bulk = keys.map((key) => ({ key, scope: key === 'past.system' ? 0 : 1, value: 'new' }))
  t.same(
    (await as(app, 'admin')('PUT', '/bulk?dryRun=true', bulk)).json.map(
      ({ oldValue, newValue }: Record<string, unknown>) => [oldValue, newValue],
    ),
    keys.map(() => [null, 'new']),
  )
  t.equal((await as(app, 'editor')('GET', '/past.system/resolved')).status, 403, 'as before')
  t.equal(
    (await as(app, 'editor')('GET', '/past.own/resolved')).text,
    '"hunter4"',
    "their owner's, as before",
  )
  t.equal((await as(app, 'admin')('GET', '/past.own/resolved')).status, 403, 'inherited')
  t.equal((await as(app, 'admin')('GET', '/past.shared/resolved')).status, 403)
  t.same(
    readSecrets().map(({ key, caller }) => [key, caller]),
    [['past.own', 'editor']],
    'the log names who has read a secret',
  )
  t.equal(
    await app.settings.contract.getSettingAs('past.shared', Application),
    'hunter2',
    'code in process reads it',
  )
  t.equal(await app.settings.contract.getSettingAs('past.own', User, 'editor'), 'hunter4')

  await as(app, 'admin')('PUT', '/bulk', bulk)
  t.match((await as(app, 'editor')('GET', '/past.shared?scope=1')).json, { value: 'new' }, 'not encrypted')
  t.same((await as(app, null)('GET', '/public')).json, { 'past.shared': 'new', 'past.system': 'new' })
  const taken = await as(app, 'admin')('POST', '/changes/2/revert', { force: { 'past.shared': 4 } })
  t.equal(taken.status, 200, 'nothing was stored before, so there is nothing to put back')
})
