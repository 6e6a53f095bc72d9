/** Cases: what was changed is remembered. */
import assert from 'node:assert/strict'
import { SettingScope } from '#src/setting-definition.js'
import { noRevision } from '#src/store/revision.js'
import type { HistoryRow } from '#src/store/store.js'
import {
  assertRising,
  change,
  type ContractCase,
  nextMillisecond,
  revisionOf,
  rowId,
  rowOf,
  set,
  trimAll,
  writeAll,
} from './case.ts'

const own = { scope: SettingScope.User, owner: 'u1' }

export const history: Readonly<Record<string, ContractCase>> = {
  'each change leaves one row of history with actor, reason, before and after': async (store) => {
    const reason = { actor: 'ann', origin: 'api', requestId: 'r-1', note: 'first' }
    const first = await writeAll(store, [change(rowId('a'), '1', true)], reason)
    const second = await writeAll(store, [change(rowId('a'), '2')], { actor: null, origin: 'import' })
    const third = await writeAll(store, [change(rowId('a'), null)], { actor: 'bob', origin: 'api' })
    const common = { ...rowId('a'), requestId: null, note: null, setSize: 1 }
    const none = { oldValue: null, oldEncrypted: false, newValue: null, newEncrypted: false }
    const entries = [
      { ...none, oldValue: '2', origin: 'api', actor: 'bob' },
      { ...none, oldValue: '1', oldEncrypted: true, newValue: '2', origin: 'import', actor: null },
      { ...none, newValue: '1', newEncrypted: true, ...reason },
    ]
    const written = [third, second, first].map(({ revision, token, at }) => ({ revision, token, at }))
    assert.deepEqual(
      (await store.history({ limit: 10 })).map((row) => ({ ...row })),
      entries.map((entry, index) => ({ ...common, ...entry, ...written[index] })),
    )
  },

  'each row of history knows how many its write made, whatever is trimmed later': async (store) => {
    await set(store, [rowId('a'), rowId('b'), rowId('c')], '1')
    await set(store, 'b', '2')
    await set(store, [rowId('a', 'u1'), rowId('b', 'u1')], '1')
    const sizesOf = (rows: readonly HistoryRow[]) => rows.map(({ key, setSize }) => `${key} ${setSize}`)
    const sizes = async (owner = '') =>
      sizesOf(await store.history({ owner, ...(owner && { scope: SettingScope.User }), limit: 10 }))
    assert.deepEqual(await sizes(), ['b 1', 'a 3', 'b 3', 'c 3'])
    assert.deepEqual(await sizes('u1'), ['b 2', 'a 2'])
    const { changes } = await store.shared.news(0, 10)
    assert.deepEqual(sizesOf(changes), ['a 3', 'b 3', 'c 3', 'b 1'])
    await trimAll(store, { olderThan: Date.now() + 60_000 })
    assert.deepEqual(await sizes(), ['b 1', 'a 3', 'c 3'])
  },

  'news are what the revision came to, and all shared changes after one, the newest ones first to stay':
    async (store) => {
      const none = { ...noRevision, knownToken: null, due: null, changes: [] }
      assert.deepEqual(await store.shared.news(0, 10), none)
      await set(store, 'a', '1')
      await set(store, 'a', '2')
      await set(store, rowId('a', 'u1'), '1')
      const news = async (after: number, limit: number) => {
        const { revision, changes } = await store.shared.news(after, limit)
        return [revision, ...changes.map((row) => `${row.revision} ${row.scope} ${row.newValue}`)]
      }
      assert.deepEqual(await news(0, 10), [2, '1 1 1', '2 1 2'])
      assert.deepEqual(await news(1, 10), [2, '2 1 2'])
      assert.deepEqual(await news(0, 1), [2, '2 1 2'])
      assert.deepEqual(await news(2, 10), [2])
    },

  'every revision has a token of its own, in the row of the revision and in its entries': async (store) => {
    const first = await set(store, [rowId('b'), rowId('a')], '1')
    const second = await set(store, 'a', '2')
    await set(store, rowId('a', 'u1'), '1')
    assert.match(`${first.token} ${second.token}`, /^[0-9a-f]{8} [0-9a-f]{8}$/)
    assert.notEqual(first.token, second.token)
    assert.equal((await store.shared.read()).token, second.token)
    const tokensOf = (rows: readonly HistoryRow[]) => rows.map(({ token }) => token)
    const { token, knownToken, changes } = await store.shared.news(1, 10)
    assert.deepEqual([token, knownToken, ...tokensOf(changes)], [second.token, first.token, second.token])
    assert.equal((await store.shared.news(3, 10)).knownToken, null)
    const all = await store.history({ limit: 10 })
    assert.deepEqual(tokensOf(all), [second.token, first.token, first.token])
    assert.deepEqual(tokensOf(await store.history({ ...own, limit: 1 })), [''])
    const kept = await set(store, [rowId('c')], null)
    assert.equal(kept.token, second.token, 'nothing was written')
  },

  'shared history is selected by key, scope, and revision, newest first, at most so much': async (store) => {
    await set(store, [rowId('b'), rowId('a')], '1')
    await set(store, [{ ...rowId('a'), scope: SettingScope.System }], '2')
    await set(store, 'a', '2')
    await set(store, rowId('a', 'u2'), '1')
    const select = async (query: object): Promise<string[]> => {
      const rows = await store.history({ limit: 10, ...query })
      return rows.map((row) => `${row.revision} ${row.scope} ${row.owner}${row.key}`)
    }
    assert.deepEqual(await select({}), ['3 1 a', '2 0 a', '1 1 a', '1 1 b'])
    assert.deepEqual(await select({ owner: '' }), ['3 1 a', '2 0 a', '1 1 a', '1 1 b'])
    assert.deepEqual(await select({ limit: 2 }), ['3 1 a', '2 0 a'])
    assert.deepEqual(await select({ key: 'a', scope: 1, owner: '' }), ['3 1 a', '1 1 a'])
    assert.deepEqual(await select({ key: 'a' }), ['3 1 a', '2 0 a', '1 1 a'])
    for (const scope of [2, 3]) assert.deepEqual(await select({ scope }), [])
    assert.deepEqual(await select({ revision: 1 }), ['1 1 a', '1 1 b'])
    assert.deepEqual(await select({ key: 'none' }), [])
  },

  'the history of an owner is that of this owner alone, by time and version, page by page': async (store) => {
    await set(store, 'a', 'shared')
    const values = ['1', '2', null, '3']
    for (const value of values) {
      await set(store, rowId('a', 'u1'), value)
      await set(store, [rowId('b', 'u1'), rowId('c', 'u1')], value ?? '0')
      await set(store, rowId('a', 'u2'), value)
      await set(store, rowId('a', 'u1', SettingScope.Tenant), value)
    }
    const all = await store.history({ ...own, limit: 20 })
    assert.equal(all.length, 12)
    const ofKey = all.filter(({ key }) => key === 'a').toReversed()
    assert.deepEqual(
      ofKey.map(({ newValue }) => newValue),
      values,
    )
    assertRising(ofKey.map(({ revision }) => revision))
    for (const [index, following] of all.entries()) {
      assert.deepEqual(await store.history({ ...own, following, limit: 20 }), all.slice(index + 1))
    }
    const [newest] = all
    assert.ok(newest)
    const select = (query: object) => store.history({ ...own, limit: 20, ...query })
    assert.equal((await select({ key: 'b' })).length, 4)
    assert.deepEqual(await select({ revision: newest.revision, key: newest.key }), [newest])
    assert.deepEqual(await select({ scope: SettingScope.Application }), [])
    assert.deepEqual(await select({ scope: undefined }), [])
    assert.equal((await select({ scope: SettingScope.Tenant })).length, 4)
    assert.deepEqual(await select({ owner: 'nobody' }), [])
  },

  'history is selected by several keys, by actor and by time, and its pages go on with that': async (
    store,
    { until },
  ) => {
    await writeAll(store, [change(rowId('a'), '1'), change(rowId('b'), '1')], { actor: 'ann', origin: 'api' })
    const second = await writeAll(store, [change(rowId('c'), '1')], { actor: 'bob', origin: 'api' })
    await until('the next millisecond', () => Date.now() > second.at)
    const third = await writeAll(store, [change(rowId('b'), '2')], { actor: 'ann', origin: 'api' })
    const select = async (query: object): Promise<string[]> => {
      const rows = await store.history({ owner: '', limit: 10, maxBytes: 1000, ...query })
      return rows.map((row) => `${row.revision} ${row.key}`)
    }
    assert.deepEqual(await select({ keys: ['b', 'c'] }), ['3 b', '2 c', '1 b'])
    assert.deepEqual(await select({ keys: [] }), [])
    assert.deepEqual(await select({ actor: 'ann' }), ['3 b', '1 a', '1 b'])
    assert.deepEqual(await select({ actor: 'ann', keys: ['a'] }), ['1 a'])
    assert.deepEqual(await select({ since: third.at }), ['3 b'])
    assert.deepEqual(await select({ since: second.at, actor: 'bob' }), ['2 c'])
    const [following] = await store.history({ actor: 'ann', limit: 1 })
    assert.deepEqual(await select({ actor: 'ann', following }), ['1 a', '1 b'])
  },

  'a page of history goes on after any entry, also within a revision': async (store) => {
    const ids = [{ ...rowId('b'), scope: SettingScope.System }, rowId('a'), rowId('b'), rowId('c')]
    for (const value of ['1', '2']) await set(store, ids, value)
    const all = await store.history({ limit: 10 })
    assert.equal(all.length, 8)
    for (const [index, following] of all.entries()) {
      assert.deepEqual(await store.history({ following, limit: 10 }), all.slice(index + 1))
      assert.deepEqual(await store.history({ following, limit: 2 }), all.slice(index + 1, index + 3))
      const ofKey = all.slice(index + 1).filter(({ key }) => key === 'b')
      assert.deepEqual(await store.history({ following, key: 'b', limit: 10 }), ofKey)
    }
  },

  'a page of history ends before its stored text exceeds the limit in bytes, but has one entry': async (
    store,
  ) => {
    for (const value of ['12', '345', '"ä"', '"12"', null]) await set(store, [rowId('a')], value)
    await set(store, 'a', '12345678')
    await set(store, 'b', '1')
    const count = async (maxBytes: number): Promise<number> =>
      (await store.history({ key: 'a', limit: 10, maxBytes })).length
    // Newest first; old and new text together, an ä has two bytes.
    const sizes = [8, 4, 8, 7, 5, 2]
    for (const maxBytes of [0, 1, 7, 8, 11, 12, 19, 20, 26, 27, 31, 32, 33, 34, 1000]) {
      let total = 0
      const fitting = sizes.filter((size) => (total += size) <= maxBytes).length
      assert.equal(await count(maxBytes), Math.max(fitting, 1), `${maxBytes} bytes`)
    }
    assert.equal((await store.history({ key: 'a', limit: 2, maxBytes: 1000 })).length, 2)
    const all = await store.history({ limit: 10 })
    assert.deepEqual(await store.history({ limit: 10, maxBytes: 1000 }), all)
    assert.deepEqual(await store.history({ limit: 10, maxBytes: 1000, following: all.at(-1) }), [])
  },

  'trimming keeps so many entries of each value that was written, and the newest of each whatever its age':
    async (store, { until }) => {
      for (const value of ['1', '2', '3', '4']) await set(store, 'a', value)
      await set(store, 'b', '1')
      for (const value of ['1', null, '3']) await set(store, rowId('a', 'u1'), value)
      const left = async () =>
        (await store.scan.history(null, 20)).map((row) => `${row.key}${row.owner} ${row.newValue}`)
      await nextMillisecond(until)
      assert.equal(sum(await trimAll(store, { perValue: 2 })), 3)
      assert.deepEqual(await left(), ['a 3', 'a 4', 'b 1', 'au1 null', 'au1 3'])
      await set(store, 'a', '5')
      await nextMillisecond(until)
      assert.equal(sum(await trimAll(store, { perValue: 2 })), 1)
      assert.deepEqual(await left(), ['a 4', 'b 1', 'a 5', 'au1 null', 'au1 3'])
      assert.equal(sum(await trimAll(store, { olderThan: Date.now() })), 2)
      assert.deepEqual(await left(), ['b 1', 'a 5', 'au1 3'])
      assert.equal(sum(await trimAll(store, { olderThan: Date.now(), perValue: 1 })), 0)
      assert.equal((await rowOf(store, rowId('a')))?.value, '5')
      assert.equal(await revisionOf(store), 6)
    },

  'an entry that was kept because it was the newest goes when it is not any more': async (
    store,
    { until },
  ) => {
    await set(store, 'a', '1')
    await nextMillisecond(until)
    const olderThan = Date.now()
    assert.equal(sum(await trimAll(store, { olderThan })), 0)
    await set(store, 'a', '2')
    await nextMillisecond(until)
    assert.equal(sum(await trimAll(store, { olderThan })), 1)
    const left = await store.history({ limit: 10 })
    assert.deepEqual(
      left.map(({ newValue }) => newValue),
      ['2'],
    )
  },

  'trimming goes on where the last portion ended, of at most 500 entries; two at once do no harm': async (
    store,
    { open, until },
  ) => {
    const other = store.watch ? await open() : store
    const ids = Array.from({ length: 40 }, (_, index) => rowId(`k${index}`))
    const rounds = async (count: number) => {
      for (let round = 0; round < count; round++) await set(store, ids, String(round))
      await nextMillisecond(until)
    }
    const entries = async () => (await store.scan.history(null, 1000)).length
    const others = Array.from({ length: 510 }, (_, index) => rowId(`written once ${index}`))
    await set(store, others, '1')
    await rounds(20)
    const portions = await trimAll(store, { perValue: 3 })
    assert.equal(sum(portions), 40 * 17)
    // A store without transactions may know no other unit than all it has.
    if (store.info.transactional) assert.ok(portions.every((removed) => removed <= 500))
    await rounds(10)
    const limits = { olderThan: Date.now() }
    await Promise.all([trimAll(store, limits), trimAll(other, limits)])
    await trimAll(store, limits)
    assert.equal(await entries(), 40 + others.length)
  },
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
