/** Databases that are not as this process left them: restored, written behind its back, loaded by hand. */
import { sqlite } from '@fastify-modular/settings/sqlite'
import { memoryStore, SettingScope } from '@fastify-modular/settings'
import type { WriteRequest } from '#src/store/store.js'
import Database from 'better-sqlite3'
import { test } from 'tap'
import { until } from '../contract/case.ts'
import { as, createApp, definitions } from '../support/app.ts'
import { newFile } from '../support/engines.ts'
import { backTo, sqlEngines } from '../support/sql-engines.ts'

const { System, Application, User } = SettingScope

/** The clock of this machine has moved on, so that what is written now is dated later. */
async function tick(): Promise<void> {
  const start = Date.now()
  await until('the next millisecond', () => Date.now() > start)
}

for (const [name, open] of Object.entries(sqlEngines)) {
  test(`${name}: after a restore a value of the same revision is the restored one`, async (t) => {
    const { store, run } = await open(t)
    const { settings } = await createApp(t, { store: store() })
    await settings.contract.setSetting('mail.port', 25, System)
    await settings.contract.setSetting('app.title', 'lost', Application)
    await run(
      ...backTo(1),
      `update settings_value set value = '99'`,
      `update settings_history set new_value = '99'`,
    )
    await settings.refresh()
    t.equal(settings.get(definitions.port), 99)
    t.equal(settings.get(definitions.title), 'Fastify Modular')
    t.equal(settings.status.revision, 1)
  })

  for (const later of [1, 3]) {
    test(`${name}: a restore is noticed when ${later} writes came after it, by the token of the revision`, async (t) => {
      const { store, run } = await open(t)
      const database = store(20)
      const { settings } = await createApp(t, { store: database })
      const state = async () => ({ memory: settings.status, database: await database.shared.news(0, 9) })
      await settings.contract.setSetting('mail.port', 25, System)
      await settings.contract.setSetting('app.title', 'lost', Application)
      await run(...backTo(1))
      const other = await createApp(t, { store: store() })
      for (let write = 1; write <= later; write++)
        await other.settings.contract.setSetting('app.banner', `kept ${write}`, Application)
      await until('the restored values', () => settings.get(definitions.title) === 'Fastify Modular', state)
      await until('what came later', () => settings.get(definitions.banner) === `kept ${later}`, state)
      t.equal(settings.status.revision, 1 + later)
    })
  }

  test(`${name}: an own write on top of it hides nothing`, async (t) => {
    const { store, run } = await open(t)
    const { settings } = await createApp(t, { store: store() })
    for (let value = 1; value <= 3; value++) await settings.contract.setSetting('mail.port', value, System)
    await settings.contract.setSetting('app.title', 'lost', Application)
    await settings.refresh()
    await tick()
    await run(...backTo(2))
    const other = await createApp(t, { store: store() })
    await other.settings.contract.setSetting('mail.port', 100, System)
    await other.settings.contract.setSetting('app.banner', 'new', Application)
    await settings.contract.setSetting('app.support_email', 'a@example.org', Application)
    await settings.refresh()
    t.equal(settings.get(definitions.port), 100)
    t.equal(settings.get(definitions.title), 'Fastify Modular')
    t.equal(settings.get(definitions.email), 'a@example.org')
  })

  test(`${name}: after a restore the tag of a list from the lost past is of no list`, async (t) => {
    const { store, run } = await open(t)
    const app = await createApp(t, { store: store() })
    const list = (tag = '') => as(app, 'alice')('GET', '?scope=1', undefined, { 'if-none-match': tag })
    await app.settings.contract.setSetting('mail.port', 25, System)
    await app.settings.contract.setSetting('app.title', 'lost', Application)
    const lost = String((await list()).headers.etag)
    t.equal((await list(lost)).status, 304)
    await run(...backTo(1))
    const other = await createApp(t, { store: store() })
    await other.settings.contract.setSetting('app.title', 'new', Application)
    await app.settings.refresh()
    t.equal(app.settings.status.revision, 2, 'the same revision again')
    const answer = await list(lost)
    t.equal(answer.status, 200)
    t.match(answer.text, /"new"/)
    t.equal(
      answer.headers.etag,
      (await as(other, 'alice')('GET', '?scope=1')).headers.etag,
      'every instance has the same tag',
    )
  })

  test(`${name}: a write to a database that went back answers with memory as the database is`, async (t) => {
    const { store, run } = await open(t)
    const { settings } = await createApp(t, { store: store() })
    for (let value = 1; value <= 5; value++) await settings.contract.setSetting('mail.port', value, System)
    await settings.contract.setSetting('app.title', 'lost', Application)
    await run(...backTo(2), `update settings_value set value = '2', revision = 2`)
    await settings.contract.setSetting('app.banner', 'new', Application)
    t.equal(settings.get(definitions.banner), 'new')
    t.equal(settings.status.revision, 3)
    t.equal(settings.get(definitions.title), 'Fastify Modular')
  })

  test(`${name}: a write that ends while all is being read again answers with memory as the database is`, async (t) => {
    const { store, run } = await open(t)
    const inner = store()
    const { read, write } = inner.shared
    const { settings } = await createApp(t, { store: inner })
    for (let value = 1; value <= 5; value++) await settings.contract.setSetting('mail.port', value, System)
    await settings.contract.setSetting('app.title', 'lost', Application)
    await run(...backTo(2), `update settings_value set value = '2', revision = 2`)
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    Object.assign(inner.shared, {
      async read() {
        const rows = await read()
        await held
        return rows
      },
      write: (request: WriteRequest) =>
        write({
          ...request,
          decide(current) {
            void settings.refresh()
            return request.decide(current)
          },
        }),
    })
    const writing = settings.contract.setSetting('app.banner', 'new', Application)
    const answered = writing.then(() => ({
      revision: settings.status.revision,
      banner: settings.get(definitions.banner),
      title: settings.get(definitions.title),
    }))
    const other = await createApp(t, { store: store() })
    await until('the commit', async () => {
      await other.settings.refresh()
      return other.settings.status.revision === 3
    })
    await tick()
    release()
    t.same(await answered, { revision: 3, banner: 'new', title: 'Fastify Modular' })
  })

  test(`${name}: rows deleted behind its back are gone after a DELETE, and after refresh()`, async (t) => {
    const { store, run } = await open(t)
    const { settings } = await createApp(t, { store: store() })
    await settings.contract.setSetting('mail.port', 25, System)
    await settings.contract.setSetting('app.title', 'deleted', Application)
    await settings.refresh()
    await run('delete from settings_value')
    await settings.contract.deleteSetting('mail.port', System)
    t.equal(settings.get(definitions.port), 587)
    t.equal(settings.get(definitions.title), 'Fastify Modular', 'what differs once makes all be read again')
    await settings.contract.setSetting('app.title', 'again', Application)
    await run('delete from settings_value')
    await settings.refresh()
    t.equal(settings.get(definitions.title), 'Fastify Modular')
  })

  test(`${name}: a write that changes nothing answers with memory as the database is, behind or not`, async (t) => {
    const { store, run } = await open(t)
    const { settings } = await createApp(t, { store: store() })
    await settings.contract.setSetting('app.title', 'one', Application)
    const other = await createApp(t, { store: store() })
    await run(
      `update settings_value set value = '"by hand"'`,
      `insert into settings_value (scope, key, value, revision, updated_at) values (0, 'mail.port', '26', 2, 2)`,
      `insert into settings_history (revision, scope, key, new_value, origin, at) values (2, 0, 'mail.port', '26', 'api', 2)`,
      `update settings_meta set value = '2' where name = 'revision'`,
    )
    await other.settings.contract.setSetting('app.title', 'by hand', Application)
    t.equal(other.settings.get(definitions.title), 'by hand')
    t.equal(other.settings.get(definitions.port), 26)
  })

  test(`${name}: a user's value that was deleted behind its back is gone after a DELETE`, async (t) => {
    const { store, run } = await open(t)
    const { settings } = await createApp(t, { store: store() })
    await settings.contract.setSetting('app.theme', 'dark', SettingScope.User, 'alice')
    await settings.forUser('alice')
    await run('delete from settings_value')
    await settings.contract.deleteSetting('app.theme', SettingScope.User, 'alice')
    t.equal((await settings.forUser('alice')).get(definitions.theme), 'light')
  })
}

test('PostgreSQL: users are forgotten when transactions have numbers again that were there before', async (t) => {
  const { store, run } = await sqlEngines.PostgreSQL(t)
  const inner = store(20)
  const { news } = inner.owned
  let isOther = false
  // A mark of the server before: the same call with a number that this one has not reached.
  Object.assign(inner.owned, {
    news: (since: string | undefined, limit: number) =>
      news(since === undefined || !isOther ? since : '4611686018427387904', limit),
  })
  const { settings } = await createApp(t, { store: inner })
  await settings.contract.setSetting('app.title', 'one', Application)
  await settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  t.equal((await settings.forUser('alice')).get(definitions.theme), 'dark')
  await run(
    `update settings_value set value = '"system"' where scope = 2`,
    `update settings_value set value = '"two"' where scope = 1`,
  )
  isOther = true
  await until(
    'the value of the other database',
    async () => (await settings.forUser('alice')).get(definitions.theme) === 'system',
  )
  await until('everything else', () => settings.get(definitions.title) === 'two')
})

test('SQLite: a backup that is restored into the open file is read again', async (t) => {
  const file = await newFile(t)
  const { settings } = await createApp(t, { store: sqlite({ file }, { pollInterval: 5 }) })
  await settings.contract.setSetting('mail.port', 25, System)
  const live = new Database(file)
  await live.backup(`${file}.backup`)
  live.close()
  await settings.contract.setSetting('mail.port', 26, System)
  const backup = new Database(`${file}.backup`)
  await backup.backup(file)
  backup.close()
  await until('the restored value', () => settings.get(definitions.port) === 25)
  await settings.contract.setSetting('mail.port', 27, System)
  t.match(settings.status, { state: 'ready', revision: 2 })
})

test('SQLite: a backup that differs in preferences only is read again, and so is what is written after it', async (t) => {
  const file = await newFile(t)
  const { settings } = await createApp(t, { store: sqlite({ file }, { pollInterval: 5 }) })
  const theme = async () => (await settings.forUser('alice')).get(definitions.theme)
  const live = new Database(file)
  await live.backup(`${file}.backup`)
  live.close()
  for (const user of ['alice', 'bob', 'carol'])
    await settings.contract.setSetting('app.theme', 'dark', User, user)
  await settings.refresh() // as each look does that finds a write of another process
  t.equal(await theme(), 'dark')
  const backup = new Database(`${file}.backup`)
  await backup.backup(file)
  backup.close()
  await until('the restored value', async () => (await theme()) === 'light')
  const other = await createApp(t, { store: sqlite({ file }) })
  await other.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  await until('the value of the other process', async () => (await theme()) === 'dark')
})

test('a restored store of the same revision calls listeners with what differs', async (t) => {
  const inner = memoryStore()
  const { settings } = await createApp(t, { store: inner })
  await settings.contract.setSetting('mail.port', 25, System)
  const received: unknown[] = []
  settings.on(definitions.port, (port, { previous }) => void received.push([previous, port]))
  await tick()
  const restored = memoryStore()
  const other = await createApp(t, { store: restored })
  await other.settings.contract.setSetting('mail.port', 99, System)
  Object.assign(inner, restored)
  await settings.refresh()
  t.same(received, [[25, 99]])
})
