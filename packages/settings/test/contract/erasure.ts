/** Cases: the end of a user, alone and beside everything else. */
import assert from 'node:assert/strict'
import type { SettingsStore } from '#src/store/store.js'
import { change, type ContractCase, everything, replays, rowId, set, trimAll, writeAll } from './case.ts'

export const erasure: Readonly<Record<string, ContractCase>> = {
  'an erased user is gone from values, history and as a writer, and others notice it': async (store) => {
    await writeAll(store, [change(rowId('a'), '1')], { actor: 'u1', note: 'by u1' })
    for (const value of ['1', '2', null]) await set(store, rowId('a', 'u1'), value)
    await writeAll(store, [change(rowId('b', 'u1'), '"mine"')], { actor: 'u1' })
    await writeAll(store, [change(rowId('b', 'u2'), '1')], { actor: 'u1' })
    await writeAll(store, [change(rowId('b'), '1')], { actor: 'a writer of shared values alone' })
    const others = await store.users.read('u2')
    const erasures = { u1: [1, 4, 4], 'a writer of shared values alone': [0, 0, 2] }
    for (const [userId, [values, history, mentions]] of Object.entries(erasures)) {
      const { next } = await store.users.news(undefined, 10)
      assert.deepEqual(await eraseAll(store, userId), { values, history, mentions })
      assert.ok((await store.users.news(next, 10)).userIds.includes(''), 'someone was erased')
    }
    assert.doesNotMatch(await everything(store), /u1/)
    assert.deepEqual(await store.users.read('u2'), [{ ...others[0], updatedBy: null }])
    assert.deepEqual(await store.history({ userId: 'u1', limit: 10 }), [])
    assert.equal((await store.history({ limit: 10 })).length, 2)
    assert.deepEqual(await eraseAll(store, 'u1'), { values: 0, history: 0, mentions: 0 })
    assert.deepEqual(await eraseAll(store, 'nobody'), { values: 0, history: 0, mentions: 0 })
  },

  'a user with more than one portion is erased portion by portion': async (store) => {
    const ids = Array.from({ length: 501 }, (_, index) => rowId(`k${index}`, 'u1'))
    await set(store, ids, '1')
    assert.deepEqual(await eraseAll(store, 'u1'), { values: 501, history: 501, mentions: 0 })
    assert.deepEqual(await store.users.read('u1'), [])
  },

  'a name that no row can have selects no history and erases no other user': async (store) => {
    await set(store, rowId('a', '\ufffd'), '1')
    await writeAll(store, [change(rowId('a'), '1')], { actor: '\ufffd' })
    for (const name of ['\ud800', 'u\u00001', '\u0000']) {
      assert.deepEqual(await eraseAll(store, name), { values: 0, history: 0, mentions: 0 })
      assert.deepEqual(await store.history({ actor: name, limit: 10 }), [])
      assert.deepEqual(await store.history({ keys: [name], limit: 10 }), [])
    }
    assert.equal((await store.users.read('\ufffd')).length, 1)
  },

  'erasures, writes of the same users, trimming and encryption at once: none fails, and no value lacks its history':
    async (first, { open }) => {
      const stores = first.info.durable ? [first, await open()] : [first]
      const [last = first] = stores.toReversed()
      const keys = ['a', 'b', 'c', 'd']
      const write = (userId: string, other: string, round: number): Promise<unknown>[] => {
        const own = keys.map((key) => change(rowId(key, userId), String(round)))
        const both = keys.flatMap((key) => [userId, other].map((id) => change(rowId(key, id), `"${round}"`)))
        const third = keys.map((key) => change(rowId(key, 'third'), String(round)))
        const shared = keys.map((key) => change(rowId(key), String(round)))
        return [
          writeAll(first, own, { actor: other }),
          writeAll(last, round % 2 ? both : both.toReversed(), { actor: userId }),
          writeAll(first, third, { actor: userId }),
          writeAll(last, shared, { actor: userId }),
          set(last, rowId('a', userId), round % 3 ? String(round) : null),
        ]
      }
      for (let round = 0; round < 12; round++) {
        await Promise.all([
          ...write('u1', 'u2', round),
          eraseAll(last, 'u1'),
          ...write('u2', 'u1', round),
          eraseAll(first, 'u2'),
          eraseAll(last, 'u2'),
          trimAll(last, { olderThan: Date.now() }),
          encryptAll(first),
        ])
        for (const userId of ['u1', 'u2']) await replays(last, userId)
      }
      for (const userId of ['u1', 'u2']) {
        await eraseAll(first, userId)
        assert.ok(!(await everything(last)).includes(`"${userId}"`), userId)
      }
    },
}

/** Erases a user, portion by portion. Returns the sums. */
async function eraseAll(store: SettingsStore, userId: string): Promise<object> {
  const sum = { values: 0, history: 0, mentions: 0 }
  for (let isDone = false; !isDone;) {
    const erased = await store.users.erase(userId)
    isDone = erased.isDone
    for (const count of ['values', 'history', 'mentions'] as const) sum[count] += erased[count]
  }
  return sum
}

/** Marks all that is stored as encrypted. */
async function encryptAll(store: SettingsStore): Promise<void> {
  const rows = await store.scan('values', null, 500)
  const entries = await store.scan('history', null, 500)
  await store.reencrypt({
    values: rows.toReversed().map((before) => ({ before, after: { ...before, encrypted: true } })),
    history: entries.map((before) => ({ before, after: { ...before, newEncrypted: true } })),
  })
}
