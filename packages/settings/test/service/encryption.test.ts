/** Envelopes and the keys that make them (decisions 13 and 59). */
import { randomBytes } from 'node:crypto'
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { Encryption } from '#src/secrets/encryption.js'

const { Application, Tenant, User } = SettingScope
const key = (id: string) => ({ id, key: randomBytes(32) })
const [one, two] = [key('one'), key('two')]
const row = { scope: Application, owner: '', key: 'app.api_secret' } as const

test('an envelope is decrypted for its row alone, unaltered, with its key', (t) => {
  const encryption = new Encryption([one])
  const envelope = encryption.encrypt(row, '"hunter2"')
  t.equal(encryption.decrypt(row, envelope), '"hunter2"')
  t.not(encryption.encrypt(row, '"hunter2"'), envelope, 'a nonce of its own')
  t.throws(() => encryption.decrypt({ ...row, key: 'app.title' }, envelope), 'copied to another setting')
  t.throws(
    () => encryption.decrypt({ ...row, scope: User, owner: 'alice' }, envelope),
    'copied to another user',
  )
  const mine = encryption.encrypt({ ...row, scope: User, owner: 'acme' }, '"hunter2"')
  t.throws(
    () => encryption.decrypt({ ...row, scope: Tenant, owner: 'acme' }, mine),
    'copied to a tenant of the same id',
  )
  t.throws(() => encryption.decrypt(row, `${envelope.slice(0, -2)}AA`), 'altered')
  t.throws(() => encryption.decrypt(row, envelope.replace(/\.[^.]+\.([^.]+)$/, '.AAAA.$1')), 'a short tag')
  t.throws(() => new Encryption([two]).decrypt(row, envelope), /unknown key "one"/)
  const parts = envelope.split('.')
  for (const part of ['.zzz', '.', '!', '=', ' ', '\n'])
    t.throws(() => encryption.decrypt(row, envelope + part), `followed by ${JSON.stringify(part)}`)
  for (const index of [2, 3, 4])
    t.throws(
      () => encryption.decrypt(row, parts.with(index, `!${parts[index]}`).join('.')),
      'with other characters',
    )
  for (const rubbish of ['', 'v1', 'v1.one', 'v2.one.a.b.c', '....', '"plain"'])
    t.throws(() => encryption.decrypt(row, rubbish))
  t.end()
})

const bytes = randomBytes(32)
const base64 = bytes.toString('base64')
const hex = bytes.toString('hex')

test('a key is 32 bytes, their base64 or their hexadecimal text, from the option or SM_SETTINGS_KEYS', (t) => {
  const envelope = new Encryption([{ id: 'one', key: bytes }]).encrypt(row, 'x')
  t.teardown(() => delete process.env['SM_SETTINGS_KEYS'])
  for (const key of [base64, hex, hex.toUpperCase()]) {
    t.equal(new Encryption([{ id: 'one', key }]).decrypt(row, envelope), 'x')
    process.env['SM_SETTINGS_KEYS'] = JSON.stringify([{ id: 'one', key }])
    t.equal(new Encryption().decrypt(row, envelope), 'x')
  }
  t.equal(new Encryption([{ id: 'one', key: new Uint8Array(bytes) }]).decrypt(row, envelope), 'x')
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
    const error = thrownBy(() => new Encryption([good, { id: 'bad', key }]))
    t.match(error, { code: 'FMOD_CORE_INVALID_OPTION', message: /encryption\.keys.*key 2/ })
    t.notMatch(error.message, 'bad', 'what stands where the id is may be the key')
    if (typeof key !== 'string') return t.end()
    process.env['SM_SETTINGS_KEYS'] = JSON.stringify([
      { ...good, key: base64 },
      { id: 'bad', key },
    ])
    t.teardown(() => delete process.env['SM_SETTINGS_KEYS'])
    t.match(
      thrownBy(() => new Encryption()),
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
    const error = thrownBy(() => new Encryption())
    t.match(error, { code: 'FMOD_CORE_INVALID_OPTION', message }, error.message)
    t.match(error.message, 'SM_SETTINGS_KEYS')
    for (const material of [base64.slice(4, 20), hex.slice(4, 20), 'S3CRETVALUE'])
      t.notOk(`${error.message}\n${error.stack}`.includes(material), error.message)
  }
  t.end()
})

function thrownBy(task: () => unknown): Error {
  try {
    task()
  } catch (error) {
    if (error instanceof Error) return error
  }
  return new Error('nothing was thrown')
}
