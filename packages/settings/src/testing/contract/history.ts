/** Cases: what was changed is remembered. */
import assert from 'node:assert/strict'
import { SettingScope } from '../../setting-definition.ts'
import { change, type ContractCase, revisionOf, rowId, set, until, writeAll } from './case.ts'

export const history: Readonly<Record<string, ContractCase>> = {
  'each change leaves one row of history with actor, reason, before and after': async (open) => {
    const store = await open()
    const first = await writeAll(store, [change(rowId('a'), '1', true)], {
      actor: 'ann',
      origin: 'api',
      requestId: 'r-1',
      note: 'first',
    })
    const second = await writeAll(store, [change(rowId('a'), '2')], { actor: null, origin: 'import' })
    const third = await writeAll(store, [change(rowId('a'), null)], { actor: 'bob', origin: 'api' })
    const rows = await store.readHistory({ limit: 10 })
    const common = { ...rowId('a'), requestId: null, note: null }
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [
        {
          ...common,
          revision: 3,
          oldValue: '2',
          oldSealed: false,
          newValue: null,
          newSealed: false,
          origin: 'api',
          actor: 'bob',
          at: third.at,
        },
        {
          ...common,
          revision: 2,
          oldValue: '1',
          oldSealed: true,
          newValue: '2',
          newSealed: false,
          origin: 'import',
          actor: null,
          at: second.at,
        },
        {
          ...common,
          revision: 1,
          oldValue: null,
          oldSealed: false,
          newValue: '1',
          newSealed: true,
          origin: 'api',
          actor: 'ann',
          requestId: 'r-1',
          note: 'first',
          at: first.at,
        },
      ],
    )
  },

  'the state of a store dates its last revision and a given one, after pruning too': async (open) => {
    const store = await open()
    const { epoch, ...empty } = await store.readState(0)
    assert.deepEqual(empty, { revision: 0, at: null, knownAt: null })
    const first = await set(store, 'a', '1')
    await until('the next millisecond', () => Date.now() > first.at)
    const second = await set(store, 'a', '2')
    assert.deepEqual(await store.readState(1), { epoch, revision: 2, at: second.at, knownAt: first.at })
    assert.deepEqual(await store.readState(3), { epoch, revision: 2, at: second.at, knownAt: null })
    await store.pruneHistory({ olderThan: Date.now() + 1, perValue: 1 })
    assert.deepEqual(await store.readState(1), { epoch, revision: 2, at: second.at, knownAt: null })
  },

  'history is selected by key, scope, user, and revisions before and after, newest first, at most so many':
    async (open) => {
      const store = await open()
      await writeAll(store, [change(rowId('b'), '1'), change(rowId('a'), '1'), change(rowId('a', 'u1'), '1')])
      await set(store, 'a', '2')
      await writeAll(store, [change(rowId('a', 'u2'), '1')])
      const select = async (query: object): Promise<string[]> => {
        const rows = await store.readHistory({ limit: 10, ...query })
        return rows.map((row) => `${row.revision} ${row.scope} ${row.userId} ${row.key}`)
      }
      assert.deepEqual(await select({}), ['3 2 u2 a', '2 1  a', '1 1  a', '1 1  b', '1 2 u1 a'])
      assert.deepEqual(await select({ limit: 2 }), ['3 2 u2 a', '2 1  a'])
      assert.deepEqual(await select({ key: 'a', scope: 1, userId: '' }), ['2 1  a', '1 1  a'])
      assert.deepEqual(await select({ scope: 2, userId: 'u1' }), ['1 2 u1 a'])
      assert.deepEqual(await select({ revision: 1 }), ['1 1  a', '1 1  b', '1 2 u1 a'])
      assert.deepEqual(await select({ key: 'a', before: 2 }), ['1 1  a', '1 2 u1 a'])
      assert.deepEqual(await select({ before: 1 }), [])
      assert.deepEqual(await select({ after: 1 }), ['3 2 u2 a', '2 1  a'])
      assert.deepEqual(await select({ after: 1, limit: 1 }), ['3 2 u2 a'])
      assert.deepEqual(await select({ after: 1, before: 3 }), ['2 1  a'])
      assert.deepEqual(await select({ after: 0, key: 'b' }), ['1 1  b'])
      assert.deepEqual(await select({ after: 3 }), [])
      assert.deepEqual(await select({ key: 'none' }), [])
    },

  'history is selected by several keys, by actor and by time, and its pages go on with that': async (
    open,
  ) => {
    const store = await open()
    await writeAll(store, [change(rowId('a'), '1'), change(rowId('b'), '1')], { actor: 'ann', origin: 'api' })
    const second = await writeAll(store, [change(rowId('c'), '1')], { actor: 'bob', origin: 'api' })
    await until('the next millisecond', () => Date.now() > second.at)
    const third = await writeAll(store, [change(rowId('b'), '2')], { actor: 'ann', origin: 'api' })
    const select = async (query: object): Promise<string[]> => {
      const rows = await store.readHistory({ userId: '', limit: 10, maxBytes: 1000, ...query })
      return rows.map((row) => `${row.revision} ${row.key}`)
    }
    assert.deepEqual(await select({ keys: ['b', 'c'] }), ['3 b', '2 c', '1 b'])
    assert.deepEqual(await select({ keys: [] }), [])
    assert.deepEqual(await select({ actor: 'ann' }), ['3 b', '1 a', '1 b'])
    assert.deepEqual(await select({ actor: 'ann', keys: ['a'] }), ['1 a'])
    assert.deepEqual(await select({ since: third.at }), ['3 b'])
    assert.deepEqual(await select({ since: second.at, actor: 'bob' }), ['2 c'])
    const [following] = await store.readHistory({ actor: 'ann', limit: 1 })
    assert.deepEqual(await select({ actor: 'ann', following }), ['1 a', '1 b'])
  },

  'a page of history goes on after any entry, also within a revision': async (open) => {
    const store = await open()
    const ids = [{ ...rowId('b'), scope: SettingScope.System }, rowId('a'), rowId('b'), rowId('a', 'u1')]
    for (const value of ['1', '2']) {
      await writeAll(
        store,
        ids.map((id) => change(id, value)),
      )
    }
    const all = await store.readHistory({ limit: 10 })
    assert.equal(all.length, 8)
    for (const [index, following] of all.entries()) {
      assert.deepEqual(await store.readHistory({ following, limit: 10 }), all.slice(index + 1))
      assert.deepEqual(await store.readHistory({ following, limit: 2 }), all.slice(index + 1, index + 3))
      const ofKey = all.slice(index + 1).filter(({ key }) => key === 'b')
      assert.deepEqual(await store.readHistory({ following, key: 'b', limit: 10 }), ofKey)
    }
  },

  'a page of history ends before its stored text exceeds the limit in bytes, but has one entry': async (
    open,
  ) => {
    const store = await open()
    for (const value of ['12', '345', '"ä"', '"12"', null]) await writeAll(store, [change(rowId('a'), value)])
    await set(store, 'a', '12345678')
    await set(store, 'b', '1')
    const count = async (maxBytes: number): Promise<number> =>
      (await store.readHistory({ key: 'a', limit: 10, maxBytes })).length
    // Newest first; old and new text together, an ä has two bytes.
    const sizes = [8, 4, 8, 7, 5, 2]
    for (const maxBytes of [0, 1, 7, 8, 11, 12, 19, 20, 26, 27, 31, 32, 33, 34, 1000]) {
      let total = 0
      const fitting = sizes.filter((size) => (total += size) <= maxBytes).length
      assert.equal(await count(maxBytes), Math.max(fitting, 1), `${maxBytes} bytes`)
    }
    assert.equal((await store.readHistory({ key: 'a', limit: 2, maxBytes: 1000 })).length, 2)
    const all = await store.readHistory({ limit: 10 })
    assert.deepEqual(await store.readHistory({ limit: 10, maxBytes: 1000 }), all)
    assert.deepEqual(await store.readHistory({ limit: 10, maxBytes: 1000, before: 1 }), [])
  },

  'writes trim the history of their values, on every eighth write at the latest': async (open) => {
    const store = await open()
    const other = store.watch ? await open() : store
    const left = async (key: string): Promise<number[]> =>
      (await store.readHistory({ key, limit: 100 })).map(({ revision }) => revision)
    for (let value = 1; value <= 12; value++) await set(store, 'kept', String(value))
    for (let value = 1; value <= 40; value++) {
      const writer = value % 11 === 0 ? other : store
      const { revision } = await writeAll(writer, [change(rowId('a'), String(value))], { keepHistory: 3 })
      const revisions = await left('a')
      assert.ok(revisions.length <= 3 + 7, `${revisions.length} entries after ${value} writes`)
      const newest = Array.from({ length: Math.min(value, 3) }, (_, index) => revision - index)
      assert.deepEqual(revisions.slice(0, 3), newest)
    }
    assert.equal((await left('kept')).length, 12)
    const ids = [rowId('kept'), rowId('a', 'u1')]
    for (let value = 41; value <= 48; value++) {
      const changes = ids.map((id) => change(id, String(value)))
      await writeAll(store, changes, { keepHistory: 3 })
    }
    assert.ok((await left('kept')).length <= 3 + 7)
    assert.ok((await store.readHistory({ userId: 'u1', limit: 100 })).length >= 3)
  },

  'pruning keeps the newest rows of each value, and always the very newest': async (open) => {
    const store = await open()
    for (const value of ['1', '2', '3', '4']) await set(store, 'a', value)
    await set(store, 'b', '1')
    await writeAll(store, [change(rowId('a', 'u1'), '1')])
    assert.equal(await store.pruneHistory({ olderThan: 0, perValue: 2 }), 2)
    const left = async (): Promise<string[]> =>
      (await store.readHistory({ limit: 10 })).map((row) => `${row.key}${row.userId} ${row.revision}`)
    assert.deepEqual(await left(), ['au1 6', 'b 5', 'a 4', 'a 3'])
    assert.equal(await store.pruneHistory({ olderThan: 0, perValue: 2 }), 0)
    assert.equal(await store.pruneHistory({ olderThan: Date.now() + 1000, perValue: 100 }), 1)
    assert.deepEqual(await left(), ['au1 6', 'b 5', 'a 4'])
    assert.equal((await store.readRow(rowId('a')))?.value, '4')
    assert.equal(await revisionOf(store), 6)
  },
}
