/**
 * Instances of the version before run beside this one while a deployment replaces them. They are played by their
 * statements: a lock of the revision, rows read without a lock, versions of users' rows from the revision.
 */
import type { Pool, PoolClient } from 'pg'
import t, { type Test, test } from 'tap'
import { migrations, recordVersion } from '#src/store/postgres/migrations.js'
import { postgresNames } from '#src/store/postgres/names.js'
import { change, revisionOf, rowId, set, setOf, writeAll } from '#src/testing/contract/case.js'
import { newPool, openStore } from './open-store.js'

t.setTimeout(300_000)

/** What an instance of version 2 had written: values of all scopes, one sealed, history, an unset value. */
const contents = `
  insert into settings_value values
    (0, '', 'mail.port', '25', false, 1, 1000, 'ann'), (1, '', 'app.secret', 'k1.sealed', true, 2, 2000, null),
    (2, 'u1', 'app.theme', '"dark"', false, 3, 3000, 'u1'), (2, 'u2', 'app.token', 'k1.own', true, 5, 5000, 'u2');
  insert into settings_history values
    (1, 0, '', 'mail.port', null, false, '25', false, 'api', 'ann', 'r1', null, 1000),
    (2, 1, '', 'app.secret', null, false, 'k1.sealed', true, 'api', null, null, 'first', 2000),
    (3, 2, 'u1', 'app.theme', null, false, '"dark"', false, 'api', 'u1', null, null, 3000),
    (4, 2, 'u1', 'app.density', '"x"', false, null, false, 'api', 'u1', null, null, 4000),
    (5, 2, 'u2', 'app.token', null, false, 'k1.own', true, 'api', 'u2', null, null, 5000);
  update settings_meta set value = '5' where name = 'revision'`

/** A database of version 2, and a store that has migrated it. */
async function openUpgraded(t: Test) {
  const pool = await newPool(t)
  const names = postgresNames({})
  for (const migration of migrations.slice(0, 2)) await pool.query(migration(names))
  await pool.query(recordVersion(names, 2) + contents)
  return { pool, store: await openStore(t, pool) }
}

/** A write of version 2, in the two steps between which another write may come. */
async function oldWrite(pool: Pool, key: string, userId: string) {
  const client: PoolClient = await pool.connect()
  await client.query('begin isolation level read committed')
  const locked = await client.query(`select value from settings_meta where name = 'revision' for update`)
  const revision = Number(locked.rows[0]?.value) + 1
  const scope = userId === '' ? 1 : 2
  const found = await client.query(
    'select * from settings_value where scope = $1 and user_id = $2 and key = $3',
    [scope, userId, key],
  )
  return {
    found: found.rows[0],
    async finish(value: string | null): Promise<void> {
      const before = found.rows[0]?.value ?? null
      try {
        const noted = `noted as (insert into settings_history (revision, scope, user_id, key, old_value, new_value, origin, at)
          values ($1, $2, $3, $4, $5, $6, 'api', 1)), counted as (update settings_meta set value = $1::text where name = 'revision')`
        const saved =
          value === null
            ? 'delete from settings_value where scope = $2 and user_id = $3 and key = $4'
            : `insert into settings_value (scope, user_id, key, value, sealed, revision, updated_at, updated_by)
               values ($2, $3, $4, $6, false, $1, 1, null) on conflict (scope, user_id, key) do update set
               value = excluded.value, revision = excluded.revision, updated_at = excluded.updated_at`
        await client.query(
          `with saved as (${saved}), ${noted} select pg_notify('settings', $1::text)`,
          [revision, scope, userId, key, before, value].map((it) =>
            typeof it === 'number' ? String(it) : it,
          ),
        )
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
  }
}

test('a database of the version before is brought up to date with values, secrets, history and users', async (t) => {
  const { store } = await openUpgraded(t)
  t.equal(await revisionOf(store), 5)
  t.same(
    (await store.readShared()).rows.map(({ key, value, sealed }) => [key, value, sealed]),
    [
      ['mail.port', '25', false],
      ['app.secret', 'k1.sealed', true],
    ],
  )
  t.match(await store.readUser('u1'), [{ key: 'app.theme', value: '"dark"', revision: 3, updatedBy: 'u1' }])
  t.match(await store.readUser('u2'), [{ value: 'k1.own', sealed: true }])
  t.same(
    (await store.readHistory({ userId: 'u1', limit: 10 })).map(({ key, revision }) => [key, revision]),
    [
      ['app.density', 4],
      ['app.theme', 3],
    ],
  )
  t.equal((await store.readHistory({ limit: 10 })).length, 2)
  const { revision } = await setOf(store, 'u1', 'app.theme', '"light"')
  t.ok(revision > 1e12)
  t.equal((await set(store, 'mail.port', '26')).revision, 6)
  t.equal((await store.readHistory({ userId: 'u1', limit: 10 }))[0]?.oldValue, '"dark"')
})

for (const value of ['"old"', null]) {
  test(`an old instance cannot overwrite what it has not seen (${value ? 'write' : 'deletion'})`, async (t) => {
    const { pool, store } = await openUpgraded(t)
    const old = await oldWrite(pool, 'app.theme', 'u1')
    t.equal(old.found.value, '"dark"')
    await setOf(store, 'u1', 'app.theme', '"acknowledged"')
    await t.rejects(old.finish(value), { code: '40001' }, 'which it answers with 503')
    t.match(await store.readUser('u1'), [{ value: '"acknowledged"' }])
  })
}

test('old and new instances write users by turns: nothing is lost, no stale version accepted', async (t) => {
  const { pool, store } = await openUpgraded(t)
  const { next } = await store.readUserNews(undefined, 10)
  await (await oldWrite(pool, 'app.theme', 'u1')).finish('"old"')
  t.match(await store.readUser('u1'), [{ value: '"old"', revision: 6 }])
  t.ok((await store.readUserNews(next, 10)).userIds.includes('u1')) // others may come again while older transactions are open
  const stale = writeAll(store, [], {
    reads: [rowId('app.theme', 'u1')],
    decide(current) {
      if (current.get(rowId('app.theme', 'u1'))?.revision !== 3) throw new Error('stale')
      return [change(rowId('app.theme', 'u1'), '"lost"')]
    },
  })
  await t.rejects(stale, { message: 'stale' })
  const { revision } = await setOf(store, 'u1', 'app.theme', '"new"')
  t.ok(revision > 6)
  await (await oldWrite(pool, 'app.born', 'u1')).finish('"old"')
  t.equal((await store.readUser('u1')).length, 2)
  t.equal((await set(store, 'a', '1')).revision, 8, 'one revision for all shared writes')
  await (await oldWrite(pool, 'a', '')).finish('"old"')
  t.equal((await store.readRow(rowId('a')))?.value, '"old"')
})

test('a row that somebody deletes by hand is not an old instance', async (t) => {
  const { pool, store } = await openUpgraded(t)
  await setOf(store, 'u1', 'app.theme', '"new"')
  await pool.query(`delete from settings_value where user_id = 'u1'`)
  t.same(await store.readUser('u1'), [])
})
