/** Cases: rows of owners have versions of their own, and leave the revision alone. */
import assert from 'node:assert/strict'
import type { OwnedScope } from '#src/setting-definition.js'
import type { Owner } from '#src/store/store.js'
import {
  assertRising,
  change,
  type ContractCase,
  replays,
  revisionOf,
  rowId as idOf,
  rowOf,
  set,
  writeAll,
} from './case.ts'

/** For owners of one scope. */
export function owned(scope: OwnedScope): Readonly<Record<string, ContractCase>> {
  const rowId = (key: string, id?: string) => idOf(key, id, scope)
  const owner = (id: string): Owner => ({ scope, id })
  const idsOf = (owners: readonly Owner[]): readonly string[] =>
    owners.filter((each) => each.scope === scope).map(({ id }) => id)
  return {
    'a write of an owner leaves the revision alone, and its changes say which version they gave': async (
      store,
    ) => {
      await set(store, 'a', '1')
      const before = Date.now()
      const result = await set(store, rowId('a', 'u1'), '1')
      assert.equal(await revisionOf(store), 1)
      const row = await rowOf(store, rowId('a', 'u1'))
      assert.ok(row)
      assert.equal(result.revision, 0)
      assert.deepEqual(result.changes, [
        { ...rowId('a', 'u1'), revision: row.revision, before: undefined, after: row },
      ])
      assert.ok(row.revision >= before && row.revision <= Date.now() + 1, 'milliseconds')
      assert.deepEqual(await store.owned.read(owner('u1')), [row])
      assert.equal((await store.shared.read()).rows.length, 1)
    },

    'writers of few rows at once, of several instances, leave an unbroken history': async (
      first,
      { open },
    ) => {
      const stores = first.info.durable ? [first, await open()] : [first]
      const write = (index: number): Promise<unknown> => {
        const value = index % 5 === 4 ? null : String(index)
        return set(stores[index % stores.length] ?? first, rowId(`k${index % 2}`, `u${index % 3}`), value)
      }
      await Promise.all(Array.from({ length: 120 }, (_, index) => write(index)))
      for (const id of ['u0', 'u1', 'u2']) await replays(first, owner(id))
    },

    'writes of several rows of an owner take turns, in whatever order they name them': async (store) => {
      const ids = ['a', 'b', 'c', 'd'].map((key) => rowId(key, 'u1'))
      const bulk = (_: unknown, index: number): Promise<unknown> =>
        set(store, index % 2 ? ids.toReversed() : ids, String(index))
      await Promise.all(Array.from({ length: 12 }, bulk))
      const rows = await store.owned.read(owner('u1'))
      assert.equal(new Set(rows.map(({ value }) => value)).size, 1)
      assert.equal(rows.length, 4)
    },

    'a write of an owner sees shared rows as they are': async (store) => {
      await set(store, 'limit', '5')
      const seen: unknown[] = []
      await writeAll(store, [], {
        reads: [rowId('limit'), rowId('a', 'u1')],
        decide(current) {
          seen.push(current.get(rowId('limit'))?.value, current.revision)
          return [change(rowId('a', 'u1'), '1')]
        },
      })
      assert.deepEqual(seen, ['5', 0])
    },

    'versions rise through deletions while the clock stands still, and when it has gone back by an hour':
      async (store) => {
        const start = Date.now()
        const versions: number[] = []
        for (const time of [start, start - 60 * 60_000]) {
          for (const value of ['1', null, '2', '3', null, '4']) {
            const { changes } = await whenClockShows(time, () => set(store, rowId('a', 'u1'), value))
            versions.push(changes[0]?.revision ?? 0)
            assert.equal((await store.owned.read(owner('u1'))).length, value === null ? 0 : 1)
          }
        }
        assertRising(versions)
        const entries = await store.history({ scope, owner: 'u1', limit: 500 })
        const remembered = entries.map(({ revision }) => revision).toSorted((a, b) => a - b)
        assert.deepEqual(remembered, versions)
      },

    'owners whose values were written are known from a mark on': async (store, { open, until }) => {
      const other = store.watch ? await open() : store
      const { next: start, owners } = await store.owned.news(undefined, 10)
      assert.deepEqual(idsOf(owners), [])
      await set(other, rowId('a', 'u1'), '1')
      await set(other, 'a', '1')
      await set(other, rowId('a', 'u2'), '1')
      const news = await store.owned.news(start, 10)
      assert.deepEqual(idsOf(news.owners).toSorted(), ['u1', 'u2'])
      assert.equal((await store.owned.news(start, 1)).owners.length, 1)
      // Owners may be named again while the server has transactions that are older than their writes.
      let mark = news.next
      await until('the end of the news', async () => {
        const { next, owners: again } = await store.owned.news(mark, 10)
        mark = next
        return again.length === 0
      })
      await set(store, rowId('a', 'u1'), null)
      assert.deepEqual(idsOf((await store.owned.news(mark, 10)).owners), ['u1'])
    },
  }
}

/**
 * Calls with another time. It reaches stores that look at the clock of the process before they wait; other cases may run
 * meanwhile.
 */
function whenClockShows<T>(time: number, call: () => T): T {
  const { now } = Date
  Date.now = () => time
  try {
    return call()
  } finally {
    Date.now = now
  }
}
