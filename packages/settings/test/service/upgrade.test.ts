/** Databases that were written by the version before users had versions of their own, with the contents that it left. */
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SettingScope, type SettingsStore } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import { sqlite } from '@fastify-modular/settings/sqlite'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import t, { type Test, test } from 'tap'
import { as, createApp, definitions } from '../support/app.ts'
import { patient } from '../store/postgres/open-store.js'

t.setTimeout(300_000)

const { Application, System, User } = SettingScope

/** The key that sealed the secrets of the dumps. */
const keys = [{ id: 'k1', key: createHash('sha256').update('a key for a dump').digest() }]

function readDump(engine: string): Promise<string> {
  return readFile(new URL(`../../test/store/dumps/${engine}.sql`, import.meta.url), 'utf8')
}

const stores: Readonly<Record<string, (t: Test) => Promise<SettingsStore>>> = {
  async sqlite(t) {
    const folder = await mkdtemp(join(tmpdir(), 'settings-'))
    t.teardown(() => rm(folder, { recursive: true }))
    const file = join(folder, 'settings.db')
    const database = new Database(file)
    database.exec(await readDump('sqlite'))
    database.close()
    return sqlite({ file })
  },
  async postgres(t) {
    const { url } = await testDatabase(t)
    const client = new Client(url)
    await client.connect()
    await client.query(await readDump('postgres'))
    await client.end()
    return postgres({ connectionString: url }, { timeouts: patient })
  },
}

for (const [engine, open] of Object.entries(stores)) {
  test(`${engine}: what the version before has written is all there, and goes on`, async (t) => {
    const app = await createApp(t, {
      store: await open(t),
      encryption: { keys },
      ownWrites: 'authenticated',
    })
    const { settings } = app
    const alice = as(app, 'alice')

    t.equal(settings.get(definitions.title), 'Acme Ltd')
    t.equal(settings.get(definitions.port), 25)
    t.equal(await settings.getSettingAs('app.api_secret', Application), 'application secret')
    t.equal(await settings.getSettingAs('mail.password', System), 'system secret')
    t.equal(await settings.getSettingAs('user.token', User, 'alice'), 'secret of alice')
    t.equal(await settings.getSettingAs('user.token', User, 'bob'), null)
    t.equal((await settings.forUser('bob')).get(definitions.theme), 'system')
    t.equal(settings.status.revision, 12)

    const { entries: changes } = await settings.history()
    t.same(
      changes.map(({ revision, key }) => [revision, key]),
      [
        [11, 'app.title'],
        [8, 'app.banner'],
        [7, 'app.banner'],
        [3, 'mail.password'],
        [2, 'app.api_secret'],
        [1, 'mail.port'],
        [1, 'app.title'],
      ],
      'users are not among them',
    )
    t.match(changes.at(-1), { actor: 'ann', note: 'first', requestId: 'req-ann', newValue: 'Acme' })
    const own = await settings.history({ key: 'app.theme', scope: User, userId: 'alice' })
    t.match(own.entries, [{ revision: 12, oldValue: 'dark', newValue: 'light' }, { revision: 4 }])

    const theme = (value: string) => ({ key: 'app.theme', value })
    const ifMatch = { 'if-match': '"r12"' }
    t.equal((await alice('PUT', '/me', theme('dark'), { 'if-match': '"r4"' })).status, 412)
    t.equal((await alice('PUT', '/me', theme('system'), ifMatch)).status, 204)
    t.equal((await alice('PUT', '/me', theme('dark'), ifMatch)).status, 412)
    t.equal((await alice('DELETE', '/me/user.token', undefined, { 'if-match': '"r5"' })).status, 204)
    await settings.setSetting('app.title', 'New', Application)
    t.equal(settings.status.revision, 13)
    t.match(await settings.eraseUser('alice'), { values: 1, history: 5 })
    t.equal((await settings.forUser('alice')).get(definitions.theme), 'light', 'the default')
  })
}
