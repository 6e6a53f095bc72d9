import { randomBytes } from 'node:crypto'
import { test } from 'tap'
import { memoryStore, SettingScope, type SettingsStore } from '@fastify-modular/settings'
import { createSealing } from '#src/service/write/sealing.js'
import { as, createApp, definitions, rejection } from '../support/app.ts'

const { System, Application, User } = SettingScope
const key = (id: string) => ({ id, key: randomBytes(32) })
const [one, two] = [key('one'), key('two')]
const row = { scope: Application, userId: '', key: 'app.api_secret' } as const

test('decision 13: sensitive values are sealed at rest and readable in process', async (t) => {
  const store = memoryStore()
  const { settings } = await createApp(t, { store, encryption: { keys: [one] } })
  await settings.setSetting('app.api_secret', 'hunter2', Application)
  await settings.setSetting('user.token', 'hush', User, 'alice')
  await settings.setSetting('app.title', 'Acme', Application)
  const rows = await store.scan(null, 10)
  t.match(rows, [
    { key: 'app.api_secret', sealed: true, value: /^v1\.one\./ },
    { key: 'app.title', sealed: false, value: '"Acme"' },
    { key: 'user.token', sealed: true },
  ])
  t.notMatch(JSON.stringify([rows, await store.readHistory({ limit: 10 })]), /hunter2|hush/)
  t.equal(settings.get(definitions.secret), 'hunter2')
  t.equal(await settings.resolveUserSetting('user.token', 'alice'), 'hush')
})

test('writing an equal secret is a no-op although each sealing differs', async (t) => {
  const { settings } = await createApp(t, { encryption: { keys: [one] } })
  await settings.setSetting('app.api_secret', 'hunter2', Application)
  await settings.setSetting('app.api_secret', 'hunter2', Application)
  t.equal(settings.status.revision, 1)
})

test('an envelope opens only for its row, unaltered, with its key', (t) => {
  const sealing = createSealing([one])
  const envelope = sealing.seal(row, '"hunter2"')
  t.equal(sealing.open(row, envelope), '"hunter2"')
  t.not(sealing.seal(row, '"hunter2"'), envelope, 'a nonce of its own')
  t.throws(() => sealing.open({ ...row, key: 'app.title' }, envelope), 'copied to another setting')
  t.throws(() => sealing.open({ ...row, scope: User, userId: 'alice' }, envelope), 'copied to another user')
  t.throws(() => sealing.open(row, `${envelope.slice(0, -2)}AA`), 'altered')
  t.throws(() => sealing.open(row, envelope.replace(/\.[^.]+\.([^.]+)$/, '.AAAA.$1')), 'a short tag')
  t.throws(() => createSealing([two]).open(row, envelope), /unknown key "one"/)
  const parts = envelope.split('.')
  for (const part of ['.zzz', '.', '!', '=', ' ', '\n'])
    t.throws(() => sealing.open(row, envelope + part), `followed by ${JSON.stringify(part)}`)
  for (const index of [2, 3, 4])
    t.throws(
      () => sealing.open(row, parts.with(index, `!${parts[index]}`).join('.')),
      'with other characters',
    )
  for (const rubbish of ['', 'v1', 'v1.one', 'v2.one.a.b.c', '....', '"plain"'])
    t.throws(() => sealing.open(row, rubbish))
  t.end()
})

const bytes = randomBytes(32)
const base64 = bytes.toString('base64')
const hex = bytes.toString('hex')

test('a key is 32 bytes, their base64 or their hexadecimal text, from the option or SM_SETTINGS_KEYS', (t) => {
  const envelope = createSealing([{ id: 'one', key: bytes }]).seal(row, 'x')
  t.teardown(() => delete process.env['SM_SETTINGS_KEYS'])
  for (const key of [base64, hex, hex.toUpperCase()]) {
    t.equal(createSealing([{ id: 'one', key }]).open(row, envelope), 'x')
    process.env['SM_SETTINGS_KEYS'] = JSON.stringify([{ id: 'one', key }])
    t.equal(createSealing().open(row, envelope), 'x')
  }
  t.equal(createSealing([{ id: 'one', key: new Uint8Array(bytes) }]).open(row, envelope), 'x')
  t.end()
})

const noKeys: Readonly<Record<string, unknown>> = {
  'base64 of fewer bytes': 'c2hvcnQ=',
  'base64 with other characters in it': `!!! ${base64} ???`,
  'base64 with a line break': `${base64}\n`,
  'base64 without padding': base64.slice(0, -1),
  'base64 of more bytes': randomBytes(33).toString('base64'),
  'base64 whose last character has bits to spare': `${'A'.repeat(42)}B=`,
  'hexadecimal text of 31 bytes': hex.slice(2),
  'zeros in base64': Buffer.alloc(32).toString('base64'),
  'one byte repeated': Buffer.alloc(32, 7),
  'one byte repeated, in hexadecimal text': '61'.repeat(32),
  'a Uint16Array of 32': new Uint16Array(32).map((_, index) => index),
  'a Uint16Array over the same bytes': new Uint16Array(new Uint8Array(bytes).buffer),
  'a list of numbers': [...bytes],
  'an ArrayBuffer': new Uint8Array(bytes).buffer,
  '31 bytes': bytes.subarray(1),
  nothing: undefined,
}
for (const [what, key] of Object.entries(noKeys)) {
  test(`a key cannot be ${what}`, (t) => {
    const good = { id: 'good', key: randomBytes(32) }
    // @ts-expect-error -- a JavaScript host
    const error = thrownBy(() => createSealing([good, { id: 'bad', key }]))
    t.match(error, { code: 'FMOD_SETTINGS_INVALID_OPTION', message: /encryption\.keys.*key 2/ })
    t.notMatch(error.message, 'bad', 'what stands where the id is may be the key')
    if (typeof key !== 'string') return t.end()
    process.env['SM_SETTINGS_KEYS'] = JSON.stringify([
      { ...good, key: base64 },
      { id: 'bad', key },
    ])
    t.teardown(() => delete process.env['SM_SETTINGS_KEYS'])
    t.match(
      thrownBy(() => createSealing()),
      { message: /SM_SETTINGS_KEYS.*key 2/ },
    )
    return t.end()
  })
}

test('messages about keys name positions, never what stands there', (t) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    [JSON.stringify([{ id: base64, key: 'one' }]), /key 1/],
    [JSON.stringify([{ id: hex, key: 'one' }]), /key 1/],
    [JSON.stringify([{ id: hex, key: base64 }]), /key 1/],
    [JSON.stringify([{ id: bytes.toString('base64url'), key: base64 }]), /key 1/],
    [JSON.stringify([{ id: 'S3CRETVALUE', key: base64.slice(4) }]), /key 1/],
    [
      JSON.stringify([
        { id: 'S3CRETVALUE', key: base64 },
        { id: 'S3CRETVALUE', key: hex },
      ]),
      /key 2/,
    ],
    [JSON.stringify([{ id: 'a.b', key: base64 }]), /key 1/],
    [JSON.stringify([{ id: 5, key: base64 }]), /key 1/],
    [JSON.stringify([null]), /key 1/],
    [JSON.stringify([base64]), /key 1/],
    [JSON.stringify({ id: 'one', key: base64 }), /JSON array/],
    [JSON.stringify(base64), /JSON array/],
    [`[{"id":"one","key":${hex}}]`, /JSON array/],
    [base64, /JSON array/],
  ]
  t.teardown(() => delete process.env['SM_SETTINGS_KEYS'])
  for (const [text, message] of rows) {
    process.env['SM_SETTINGS_KEYS'] = text
    const error = thrownBy(() => createSealing())
    t.match(error, { code: 'FMOD_SETTINGS_INVALID_OPTION', message }, error.message)
    t.match(error.message, 'SM_SETTINGS_KEYS')
    for (const material of [base64.slice(4, 20), hex.slice(4, 20), 'S3CRETVALUE'])
      t.notOk(`${error.message}\n${error.stack}`.includes(material), error.message)
  }
  t.end()
})

test('rewrap seals everything with the active key, so that the old one can go', async (t) => {
  const store = memoryStore()
  const plain = await createApp(t, { store })
  await plain.settings.setSetting('app.api_secret', 'plain', Application)
  const first = await createApp(t, { store, encryption: { keys: [one] } })
  await first.settings.setSetting('mail.password', 'sealed with one', System)
  await first.settings.setSetting('user.token', 'hush', User, 'alice')
  await first.settings.setSetting('app.title', 'Acme', Application)

  const second = await createApp(t, { store, encryption: { keys: [two, one] } })
  const heard: unknown[] = []
  second.settings.on('*', (value) => void heard.push(value))
  t.same(await second.settings.rewrap(), { rewrapped: 3, history: 3, unreadable: [] })
  t.same(await second.settings.rewrap(), { rewrapped: 0, history: 0, unreadable: [] }, 'again is fine')
  t.same(heard, [], 'no value changed')

  const third = await createApp(t, { store, encryption: { keys: [two] } })
  t.equal(third.settings.get(definitions.secret), 'plain')
  t.equal(third.settings.get(definitions.password), 'sealed with one')
  t.equal((await third.settings.forUser('alice')).get(definitions.token), 'hush')
  t.match(await rejection(plain.settings.rewrap()), { error: { code: 'FMOD_SETTINGS_ENCRYPTION_REQUIRED' } })
})

test('rewrap names what the keys at hand cannot unseal, in the history too, and leaves it', async (t) => {
  const store = memoryStore()
  const first = await createApp(t, { store, encryption: { keys: [one] } })
  await first.settings.setSetting('app.api_secret', 'hunter2', Application)
  await first.settings.deleteSetting('app.api_secret', Application)
  const second = await createApp(t, { store, encryption: { keys: [two] } })
  t.same(await second.settings.rewrap(), { rewrapped: 0, history: 0, unreadable: ['app.api_secret'] })
})

test('a value whose key is gone stops the boot, and names the setting and the key only', async (t) => {
  const store = memoryStore()
  const { settings } = await createApp(t, { store, encryption: { keys: [one] } })
  await settings.setSetting('app.api_secret', 'hunter2', Application)
  const { error } = await rejection(createApp(t, { store, encryption: { keys: [two] } }))
  t.match(error, { code: 'FMOD_SETTINGS_MISSING_SEALING_KEYS', message: /"app\.api_secret" with "one"/ })
  t.match(
    await rejection(createApp(t, { store })),
    { error: { code: 'FMOD_SETTINGS_MISSING_SEALING_KEYS' } },
    'no key at all',
  )
})

test('a value that was tampered with fails to read instead of passing for unset; writing repairs it', async (t) => {
  const store = memoryStore()
  const app = await createApp(t, { store, encryption: { keys: [one] } })
  await app.settings.setSetting('app.api_secret', 'hunter2', Application)
  const [stored] = await store.scan(null, 1)
  const forged = `${stored?.value.slice(0, -2)}AA`
  await store.write({
    actor: null,
    origin: 'attack',
    reads: [row],
    decide: () => [{ ...row, value: forged, sealed: true }],
  })
  await app.settings.refresh()
  t.throws(() => app.settings.get(definitions.secret), { code: 'FMOD_SETTINGS_UNREADABLE' })
  t.equal((await as(app, 'alice')('GET', '/app.api_secret/resolved')).status, 500)
  t.match((await as(app, 'alice')('GET', '/app.api_secret?scope=1')).json, {
    value: null,
    isOverridden: true,
  })
  t.equal((await as(app, 'alice')('GET', '')).status, 200, 'lists go on')
  await app.settings.setSetting('app.api_secret', 'hunter2', Application)
  t.equal(app.settings.get(definitions.secret), 'hunter2')
})

test('encryption: "require" stops the boot without a key; "warn" logs once', async (t) => {
  t.match(await rejection(createApp(t, { encryption: { mode: 'require' } })), {
    error: {
      code: 'FMOD_SETTINGS_ENCRYPTION_REQUIRED',
      message: /app\.api_secret, user\.token, mail\.password/,
    },
  })
  const lines: string[] = []
  await createApp(
    t,
    {},
    { logger: { level: 'warn', stream: { write: (line: string) => void lines.push(line) } } },
  )
  t.equal(lines.filter((line) => line.includes('plain text')).length, 1)
})

test('decision 13: no secret in any answer, event, history, export, log or problem', async (t) => {
  const lines: string[] = []
  const store: SettingsStore = memoryStore()
  const options = { store, ownWrites: 'authenticated' as const }
  const app = await createApp(t, options, {
    logger: { level: 'trace', stream: { write: (line: string) => void lines.push(line) } },
  })
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

function thrownBy(task: () => unknown): Error {
  try {
    task()
  } catch (error) {
    if (error instanceof Error) return error
  }
  return new Error('nothing was thrown')
}
