/** What the first visitor of the example finds. */
import { join } from 'node:path'
import { events } from '@fastify-modular/core'
import { settings } from '@fastify-modular/settings'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { sql } from 'drizzle-orm'
import Fastify from 'fastify'
import { test } from 'tap'
import { appSettings, systemSettings, userSettings } from '#src/app-settings.js'
import type { DatabaseConfig } from '#src/config.js'
import { openDatabase } from '#src/database/open-database.js'
import { demoWeek } from '#src/demo-week.js'
import { startHost, tempFolder } from './host.js'

const day = 24 * 60 * 60 * 1000

test('the first start has notes, four people and a week of changes by several of them', async (t) => {
  const DATABASE_URL = `sqlite:${join(await tempFolder(t), 'host.sqlite')}`
  const host = await startHost(t, { DATABASE_URL, DEMO_WEEK: 'on' })
  const admin = await host.signIn('admin')
  const notes: { owner: string; createdAt: string; isShared: boolean }[] = (await admin.ask('/api/notes'))
    .json
  t.same([...new Set(notes.map(({ owner }) => owner))].toSorted(), ['admin', 'alice', 'bob', 'editor'])
  t.ok(notes.some(({ isShared }) => isShared))

  const { changes, people } = (await admin.ask('/api/settings/changes?limit=100')).json
  t.same(people, { admin: 'Ada', editor: 'Eli' })
  for (const times of [
    notes.map(({ createdAt }) => Date.parse(createdAt)),
    changes.map(({ at }: { at: string }) => Date.parse(at)),
  ]) {
    const days = new Set(times.map((time: number) => Math.floor((Date.now() - time) / day)))
    t.ok(days.size >= 5, 'on several days')
    t.ok(Math.min(...times) > Date.now() - 7 * day && Math.max(...times) <= Date.now(), 'of the last week')
  }
  const alice = await host.signIn('alice')
  t.equal((await alice.ask('/api/settings/user.preferred_density/resolved')).json, 'compact')
  await host.stop()

  const again = await startHost(t, { DATABASE_URL, DEMO_WEEK: 'on' })
  const later = await again.signIn('admin')
  t.equal((await later.ask('/api/notes')).json.length, notes.length, 'a second start adds nothing')
})

test('of two instances that start at once on an empty database, one writes the week', async (t) => {
  const file = join(await tempFolder(t), 'host.sqlite')
  const configs: DatabaseConfig[] = [
    { kind: 'sqlite', file },
    { kind: 'postgres', url: (await testDatabase(t)).url },
  ]
  for (const config of configs) {
    /** `isEmpty` runs when this instance has found no note. */
    const start = async (isEmpty = async () => {}) => {
      const database = await openDatabase(config, () => undefined)
      const rows: typeof database.rows = async (statement) => {
        const found = await database.rows(statement)
        if (found.length === 0) await isEmpty()
        return found
      }
      const app = Fastify()
      app.addHook('onClose', () => database.close())
      t.teardown(() => app.close())
      await app.register(events, { transport: database.eventTransport })
      const definitions = [appSettings, userSettings, systemSettings]
      await app.register(settings, { definitions, store: database.settingsStore, routes: false })
      await app.register(demoWeek, { database: { ...database, rows } })
      await app.ready()
      return database
    }
    let starts = 0
    const database = await start(async () => void (starts++ === 0 && (await start())))
    const [notes] = await database.rows(sql`select count(*) as notes from notes`)
    t.equal(Number(notes?.['notes']), 5, config.kind)
  }
})

test('on PostgreSQL the same has happened, just now', async (t) => {
  const { url: DATABASE_URL } = await testDatabase(t)
  const host = await startHost(t, { DATABASE_URL, DEMO_WEEK: 'on' })
  const { changes } = (await (await host.signIn('admin')).ask('/api/settings/changes?limit=100')).json
  t.ok(changes.length >= 8)
  t.ok(changes.every(({ at }: { at: string }) => Math.abs(Date.now() - Date.parse(at)) < day))
})

test('with DEMO_WEEK=off the example is empty, and so is one with accounts of its own', async (t) => {
  for (const [env, password] of [
    [{ DEMO_WEEK: 'off' }, 'demo-admin'],
    [
      {
        DEMO_WEEK: 'on',
        TRUST_PROXY: 'loopback',
        HOST_ADMIN_PASSWORD: 'a long admin password',
        SESSION_SECRET: 'a session secret of this test, long enough',
      },
      'a long admin password',
    ],
  ] as const) {
    const admin = await (await startHost(t, env)).signIn('admin', password)
    t.same((await admin.ask('/api/notes')).json, [])
    t.same((await admin.ask('/api/settings/changes')).json.changes, [])
  }
})
