/** Cases: what was changed is remembered. */
import assert from 'node:assert/strict'
import { change, type ContractCase, rowId, set, writeAll, revisionOf, until } from './case.ts'

export const history: Readonly<Record<string, ContractCase>> = {
  'each change leaves one row of history with who, why, before and after': async (open) => {
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

  'the state of a store dates its last revision and the one that is asked for, after pruning too': async (
    open,
  ) => {
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
