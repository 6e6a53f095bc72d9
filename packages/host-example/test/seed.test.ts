/** What the first visitor of the example finds. */
import { join } from 'node:path'
import { spawnNode } from '@fastify-modular/test-support/spawn-app'
import { test } from 'tap'
import { startHost, tempFolder } from './host.js'

const day = 24 * 60 * 60 * 1000

test('a start of its own writes notes and a week of changes by several people, once', async (t) => {
  const DATABASE_URL = `sqlite:${join(await tempFolder(t), 'host.sqlite')}`
  for (let times = 0; times < 2; times++) {
    const seeding = spawnNode(new URL('../dist/seed.js', import.meta.url), {
      env: { NODE_ENV: undefined, HOST: undefined, TRUST_PROXY: undefined, DATABASE_URL },
    })
    t.same(await seeding.exited, { code: 0, signal: null }, seeding.log())
  }
  const host = await startHost(t, { DATABASE_URL })
  const admin = await host.signIn('admin')
  const notes: { owner: string; createdAt: string }[] = (await admin.ask('/api/notes')).json
  t.same(notes.map(({ owner }) => owner).toSorted(), ['admin', 'alice', 'alice', 'bob', 'editor'])
  const { changes, people } = (await admin.ask('/api/settings/changes?limit=100')).json
  t.match(people, { admin: 'Ada', editor: 'Eli' })
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
})

test('what keeps it from starting is said in words, without a stack', async (t) => {
  const causes: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ PORT: 'x' }, /^The application cannot start:\n {2}- PORT must be a whole number from 0 to 65535\.\n$/],
    [
      { DATABASE_URL: 'sqlite:/dev/null/host.sqlite' },
      /^The application cannot start:\n {2}- DATABASE_URL names a database that cannot be opened: .*\n$/,
    ],
  ]
  for (const [env, printed] of causes) {
    const seeding = spawnNode(new URL('../dist/seed.js', import.meta.url), {
      env: { NODE_ENV: undefined, HOST: undefined, TRUST_PROXY: undefined, ...env },
    })
    t.equal((await seeding.exited).code, 1)
    t.match(seeding.log(), printed)
  }
})
