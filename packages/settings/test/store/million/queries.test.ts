/** What a million rows would make slow is found by an index. `npm run prove:queries` has the million. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import t, { test } from 'tap'
import { plansInPostgres } from './postgres.js'
import { plansInSqlite } from './sqlite.js'

t.setTimeout(900_000)

/** Enough for PostgreSQL to prefer an index. */
const size = { rows: 30_000 }

test('no statement reads all rows of PostgreSQL, neither for its parameters nor for any', async (t) => {
  const plans = await plansInPostgres((await testDatabase(t)).url, size)
  for (const { call, way, scanned } of plans) t.same(scanned, [], `${call}, ${way}`)
})

test('no statement reads all rows of SQLite', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  t.teardown(() => rm(folder, { recursive: true }))
  for (const { call, scans } of await plansInSqlite(join(folder, 'settings.db'), size))
    t.same(scans, [], call)
})
