/** Encryption that is switched on, or whose key is replaced, leaves nothing readable behind (decision 59). */
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test, test } from 'tap'
import { setting, SettingScope } from '@fastify-modular/settings'
import type { StorePort } from '#src/store/store.js'
import Database from 'better-sqlite3'
import { silentLog, nextMillisecond, trimAll, until } from '../contract/case.ts'
import { createApp, definitions, logInto, rejection } from '../support/app.ts'
import { engines, newFile } from '../support/engines.ts'
import { sqlite } from '../support/stores.js'

t.setTimeout(900_000)
const { Application, System, User } = SettingScope
const key = (id: string) => ({ id, key: randomBytes(32) })
const [one, two] = [key('one'), key('two')]

for (const [engine, makeDatabase] of Object.entries(engines)) {
  test(`${engine}: encryption that is switched on leaves no plain secret, in the history neither`, async (t) => {
    const database = await makeDatabase(t)
    await writePlainSecrets(t, database())
    const { settings } = await createApp(t, { store: database(), encryption: { keys: [one] } })
    t.match(await settings.reencrypt(), { reencrypted: 3, unreadable: [] })
    const texts = await everything(database())
    t.notMatch(texts, /hunter|hush/)
    t.match(texts, /Acme/, 'what is not secret is left alone')
    t.match(texts, /"origin":"contract"/)
    t.notMatch(texts, /"origin":"reencrypt"/, 'it does not count as a change')
    t.match(await settings.reencrypt(), { reencrypted: 0, history: 0, unreadable: [] }, 'again is fine')

    const again = await createApp(t, { store: database(), encryption: { keys: [one], mode: 'require' } })
    t.equal(again.settings.get(definitions.secret), 'hunter3')
    t.equal((await again.settings.forUser('alice')).get(definitions.token), 'hush')
    await again.settings.restore('app.api_secret', 1)
    t.equal(again.settings.get(definitions.secret), 'hunter2', 'a rollback still finds the old value')
  })

  test(`${engine}: after a rotation nothing is left under the old key`, async (t) => {
    const database = await makeDatabase(t)
    const first = await createApp(t, { store: database(), encryption: { keys: [one] } })
    for (const value of ['hunter2', 'hunter3'])
      await first.settings.contract.setSetting('app.api_secret', value, Application)
    await first.settings.contract.setSetting('mail.password', 'hunter4', System)
    await first.settings.contract.deleteSetting('mail.password', System)
    await first.settings.contract.setSetting('user.token', 'hush', User, 'alice')
    const second = await createApp(t, { store: database(), encryption: { keys: [two, one] } })
    const { revision } = second.settings.status
    const received: unknown[] = []
    second.settings.on('*', (value) => void received.push(value))
    t.match(await second.settings.reencrypt(), { reencrypted: 2, unreadable: [] })
    t.same(received, [], 'no value changed')
    t.equal(second.settings.status.revision, revision, 'versions stay: no edit in progress becomes stale')
    const texts = await everything(database())
    t.notMatch(texts, /v1\.one\./)
    t.match(texts, /v1\.two\./)
    const third = await createApp(t, { store: database(), encryption: { keys: [two], mode: 'require' } })
    await third.settings.restore('app.api_secret', 1)
    t.equal(third.settings.get(definitions.secret), 'hunter2')
  })

  if (engine !== 'memory') {
    test(`${engine}: a rotation in the steps of the guide leaves every instance able to read every secret`, async (t) => {
      const database = await makeDatabase(t)
      const boot = (keys: readonly (typeof one)[]) =>
        createApp(t, { store: database(), encryption: { keys, mode: 'require' }, routes: false })
      const instances = [await boot([one]), await boot([one])]

      /** Replaces one instance after the other; each writes secrets that all instances read. */
      async function restartWith(keys: readonly (typeof one)[]): Promise<void> {
        for (const index of instances.keys()) {
          await instances[index]?.close()
          const restarted = (instances[index] = await boot(keys))
          const name = `${keys.map(({ id }) => id).join(' ')} ${index}`
          await restarted.settings.contract.setSetting('app.api_secret', name, Application)
          await restarted.settings.contract.setSetting('user.token', name, User, name)
          for (const { settings } of instances) {
            await settings.refresh()
            t.equal(settings.get(definitions.secret), name)
            t.equal((await settings.forUser(name)).get(definitions.token), name)
          }
        }
      }

      await restartWith([one, two]) // the new key last
      await restartWith([two, one]) // the new key first
      t.match(await instances[0]?.settings.reencrypt(), { unreadable: [] })
      t.notMatch(await everything(database()), /v1\.one\./)
      await restartWith([two])
      t.match(
        await guideText(),
        /Add the new key \*\*last\*\*[^]*Move it \*\*first\*\*[^]*reencrypt\(\)[^]*Remove the old key, if `unreadable`/,
      )
    })

    for (const [what, before, after] of [
      ['a new key that is put first at once', [one], [two, one]],
      ['a first key', [], [one]],
    ] as const) {
      test(`${engine}: ${what} keeps secrets from instances that do not have it`, async (t) => {
        const database = await makeDatabase(t)
        const boot = (keys: readonly (typeof one)[]) =>
          createApp(t, { store: database(), encryption: { keys }, routes: false })
        const [old, restarted] = [await boot(before), await boot(after)]
        await restarted.settings.contract.setSetting('app.api_secret', 'hunter2', Application)
        await old.settings.refresh()
        t.throws(() => old.settings.get(definitions.secret), { code: 'FMOD_SETTINGS_UNREADABLE' })
        const { error } = await rejection(boot(before))
        t.match(error, { code: 'FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS' })
      })
    }
  }

  test(`${engine}: sensitive values that are not encrypted are named once under "warn" and stop the boot under "require"`, async (t) => {
    const database = await makeDatabase(t)
    await writePlainSecrets(t, database())
    const lines: string[] = []
    const { logger } = logInto(lines)
    const keys = ['app.api_secret', 'mail.password', 'user.token']
    const warned = await createApp(t, { store: database(), encryption: { keys: [one] } }, { logger })
    const named = lines.filter((line) => line.includes('reencrypt()')).map((line) => JSON.parse(line).keys)
    t.same(named, [keys])
    t.notMatch(lines.join(''), /hunter|hush/)

    const encryption = { keys: [one], mode: 'require' } as const
    const { error } = await rejection(createApp(t, { store: database(), encryption }))
    t.match(error, {
      code: 'FMOD_SETTINGS_NOT_ENCRYPTED',
      message: /app\.api_secret, mail\.password, user\.token/,
    })
    t.match(error, { message: /"warn".*reencrypt\(\)/ })
    await warned.settings.reencrypt()
    lines.length = 0
    await createApp(t, { store: database(), encryption: { keys: [one] } }, { logger })
    t.notMatch(lines.join(''), /reencrypt/)
    await createApp(t, { store: database(), encryption })
  })

  test(`${engine}: a definition that became sensitive counts from the next boot on`, async (t) => {
    const database = await makeDatabase(t)
    const plain = setting.text('x.note', { displayName: 'Note', scope: Application })
    const secret = setting.text('x.note', { displayName: 'Note', scope: Application, sensitive: true })
    const before = await createApp(t, { store: database(), definitions: [plain] })
    await before.settings.contract.setSetting('x.note', 'hunter2', Application)
    await before.settings.contract.deleteSetting('x.note', Application)
    const encryption = { keys: [one], mode: 'require' } as const
    const boot = createApp(t, { store: database(), definitions: [secret], encryption })
    t.match(await rejection(boot), { error: { code: 'FMOD_SETTINGS_NOT_ENCRYPTED', message: /x\.note/ } })
    const warned = await createApp(t, {
      store: database(),
      definitions: [secret],
      encryption: { keys: [one] },
    })
    await warned.settings.reencrypt()
    t.notMatch(await everything(database()), /hunter/)
  })

  test(`${engine}: two instances that reencrypt while others write lose no write and leave nothing plain`, async (t) => {
    const database = await makeDatabase(t)
    const plain = await createApp(t, { store: database() })
    for (let index = 0; index < 250; index++)
      await plain.settings.contract.setSetting('user.token', `hunter ${index}`, User, `user ${index}`)
    const encryption = { keys: [one] }
    const [first, second] = [
      await createApp(t, { store: database(), encryption }),
      await createApp(t, { store: database(), encryption }),
    ]
    const writes = Array.from({ length: 60 }, (_, index) =>
      second.settings.contract.setSetting('user.token', `new hunter ${index}`, User, `user ${index * 4}`),
    )
    await Promise.all([first.settings.reencrypt(), second.settings.reencrypt(), ...writes])
    await first.settings.reencrypt()
    t.notMatch(await everything(database()), /hunter/)
    const { settings } = await createApp(t, {
      store: database(),
      encryption: { ...encryption, mode: 'require' },
    })
    for (let index = 0; index < 250; index++) {
      const value = index % 4 === 0 && index < 240 ? `new hunter ${index / 4}` : `hunter ${index}`
      t.equal((await settings.forUser(`user ${index}`)).get(definitions.token), value)
    }
  })

  test(`${engine}: a boot is not refused for what another instance encrypts meanwhile`, async (t) => {
    const database = await makeDatabase(t)
    await writePlainSecrets(t, database())
    const other = await createApp(t, { store: database(), encryption: { keys: [one] } })
    const store = new Proxy(database(), {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target)
        if (name === 'plainKeys') {
          return async (keys: readonly string[]) => {
            await other.settings.reencrypt()
            return target.plainKeys(keys)
          }
        }
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    const { settings } = await createApp(t, { store, encryption: { keys: [one], mode: 'require' } })
    t.equal(settings.get(definitions.secret), 'hunter3')
  })

  test(`${engine}: a reencrypt() that was broken off goes on where it stopped`, async (t) => {
    const database = await makeDatabase(t)
    const plain = await createApp(t, { store: database() })
    for (let index = 0; index < 250; index++)
      await plain.settings.contract.setSetting('user.token', `hunter ${index}`, User, `user ${index}`)
    const store = database()
    const portions: number[] = []
    const failing = breakAfter(store, 2, portions)
    const broken = await createApp(t, { store: failing, encryption: { keys: [one] } })
    await t.rejects(broken.settings.reencrypt(), { message: 'broken off' })
    t.ok(Math.max(...portions) <= 100, 'portions are bounded')
    const next = await createApp(t, { store: database(), encryption: { keys: [one] } })
    t.match(await next.settings.reencrypt(), { reencrypted: 250 - portions[0]! - portions[1]!, history: 250 })
    t.notMatch(await everything(database()), /hunter/)
  })
}

test('SQLite: after reencrypt() and the vacuum of the guide the secret is in no byte of the files', async (t) => {
  const file = await newFile(t)
  const store = sqlite({ file })
  const plain = await createApp(t, { store })
  // Of many lengths, so that rows move and pages are freed.
  for (let index = 0; index < 300; index++)
    await plain.settings.contract.setSetting(
      'user.token',
      'hunter2 '.repeat(1 + ((index * 37) % 400)),
      User,
      `u${index % 60}`,
    )
  for (let index = 0; index < 30; index++)
    await plain.settings.contract.deleteSetting('user.token', User, `u${index}`)
  await nextMillisecond(until)
  await trimAll(store, { olderThan: Date.now() })
  t.ok((await bytesBeside(file)).includes('hunter2'))
  const { settings } = await createApp(t, { store: sqlite({ file }), encryption: { keys: [one] } })
  await settings.reencrypt()
  const database = new Database(file)
  database.exec(/sqlite3 settings\.db '([^']+)'/.exec(await guideText())?.[1] ?? '')
  database.close()
  t.notOk((await bytesBeside(file)).includes('hunter2'))
})

function guideText(): Promise<string> {
  return readFile(new URL('../../../../docs/guides/settings-operations.md', import.meta.url), 'utf8')
}

/** Values and old values of all scopes, plain; one of them deleted again. */
async function writePlainSecrets(t: Test, store: StorePort): Promise<void> {
  const app = await createApp(t, { store })
  const { settings } = app
  await settings.contract.setSetting('app.api_secret', 'hunter2', Application)
  await settings.contract.setSetting('app.api_secret', 'hunter3', Application)
  await settings.contract.setSetting('mail.password', 'hunter4', System)
  await settings.contract.setSetting('user.token', 'hush', User, 'alice')
  await settings.contract.setSetting('user.token', 'hunter5', User, 'bob')
  await settings.contract.deleteSetting('user.token', User, 'bob')
  await settings.contract.setSetting('app.title', 'Acme', Application)
}

/** All rows of both tables. */
async function everything(store: StorePort): Promise<string> {
  await store.open({ log: silentLog })
  const rows = JSON.stringify([await store.scan.values(null, 10_000), await store.scan.history(null, 10_000)])
  await store.close()
  return rows
}

/** The store, which breaks off instead of taking a further portion; `portions` gets the sizes of those it took. */
function breakAfter(store: StorePort, calls: number, portions: number[]): StorePort {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (name === 'reencrypt') {
        return async (rows: Parameters<StorePort['reencrypt']>[0]) => {
          if (portions.length === calls) throw new Error('broken off')
          portions.push(rows.values.length + rows.history.length)
          return target.reencrypt(rows)
        }
      }
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

/** The database and what SQLite keeps beside it. */
async function bytesBeside(file: string): Promise<string> {
  const folder = dirname(file)
  const files = await readdir(folder)
  return (await Promise.all(files.map((name) => readFile(join(folder, name), 'latin1')))).join('')
}
