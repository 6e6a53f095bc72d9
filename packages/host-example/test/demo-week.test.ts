/** What the first visitor of the example finds. */
import { join } from 'node:path'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { test } from 'tap'
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
