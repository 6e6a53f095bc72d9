/** Names of channels and prepared statements: stores beside each other, and stores with long names. */
import { test } from 'tap'
import { user, revisionOf, rowId, rowOf, set, until } from '../../contract/case.ts'
import { postgresNames } from '#src/store/postgres/names.js'
import { ownerHash } from '#src/store/store.js'
import { newPool, openStore } from './open-store.js'

const long = 'x'.repeat(40)

test('a schema and a prefix of the same name are two stores, on one pool too', async (t) => {
  const pool = await newPool(t)
  pool.options.max = 1 // one connection, which prepares the statements of both
  const stores = [await openStore(t, pool, { schema: 'a' }), await openStore(t, pool, { tablePrefix: 'a' })]
  for (const [index, store] of stores.entries()) {
    await set(store, 'key', String(index))
    await store.owned.read(user('u'))
  }
  for (const [index, store] of stores.entries()) {
    t.equal((await rowOf(store, rowId('key')))?.value, String(index))
    t.equal((await store.shared.read()).rows[0]?.value, String(index))
    t.equal(await revisionOf(store), 1)
  }
})

test('the longest names that are allowed work: writes, and hints of them', async (t) => {
  const pool = await newPool(t)
  const options = { schema: long, tablePrefix: long }
  const [writing, watching] = [await openStore(t, pool, options), await openStore(t, pool, options)]
  const received: unknown[] = []
  const stop = await watching.watch?.({
    onHint: (hint) => received.push(hint?.revision),
    onOwners: (hashes) => received.push(...(hashes ?? [])),
    onLost: (error) => t.fail(String(error)),
  })
  await set(writing, 'key', '1')
  await until('the notification', () => received.includes(1))
  await set(writing, rowId('key', 'u1'), '1')
  await until('that of a user', () => received.includes(ownerHash(user('u1'))))
  await stop?.()
})

test('no two places have the same names of statements, and none is longer than PostgreSQL takes', (t) => {
  const parts = [undefined, 'a', 'b', 'settings', long, `${long.slice(1)}y`]
  const names = parts.flatMap((schema) =>
    parts.map((tablePrefix) =>
      postgresNames({ ...(schema && { schema }), ...(tablePrefix && { tablePrefix }) }),
    ),
  )
  t.equal(new Set(names.map(({ statement }) => statement('row'))).size, names.length)
  for (const { statement, channel, ownerChannel } of names) {
    t.ok(statement('saveOwned').length <= 63)
    t.ok(channel.length <= 63)
    t.ok(ownerChannel.length <= 63)
  }
  t.end()
})
