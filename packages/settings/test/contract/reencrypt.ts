/** Cases: texts are replaced by others of the same meaning. */
import assert from 'node:assert/strict'
import type { HistoryRow, ReencryptRequest, StoredRow } from '#src/store/store.js'
import {
  change,
  type ContractCase,
  everything,
  nextMillisecond,
  revisionOf,
  rowId,
  rowOf,
  set,
  trimAll,
  writeAll,
} from './case.ts'

export const reencrypt: Readonly<Record<string, ContractCase>> = {
  'encryption replaces texts of values and history, and does not count as a change': async (store) => {
    await set(store, 'a', '1')
    await set(store, 'a', '2')
    await writeAll(store, [change(rowId('b', 'u1'), '3')])
    const [before, kept] = [await store.history({ key: 'a', limit: 10 }), await everything(store)]
    assert.equal(await store.reencrypt(encryptAll(await store.scan.values(null, 10), before)), 4)
    const history = await store.history({ key: 'a', limit: 10 })
    const textsOf = ({ oldValue, oldEncrypted, newValue, newEncrypted }: HistoryRow) =>
      `${oldValue} ${oldEncrypted}, ${newValue} ${newEncrypted}`
    const texts = ['encrypted 1 true, encrypted 2 true', 'null false, encrypted 1 true']
    assert.deepEqual(history.map(textsOf), texts)
    assert.deepEqual(decrypt(await everything(store)), kept)
    assert.equal(await revisionOf(store), 2)
    assert.equal((await set(store, 'a', '4')).revision, 3)
  },

  'a row that is not as it was read any more is not replaced': async (store) => {
    for (const key of ['a', 'b', 'c']) await set(store, key, '1')
    await writeAll(store, [change(rowId('c'), null)])
    const request = encryptAll(await store.scan.values(null, 10), await store.history({ limit: 10 }))
    await set(store, 'a', '2')
    await writeAll(store, [change(rowId('b'), null)])
    assert.equal(await store.reencrypt(request), 4, 'rows of history are never written again')
    assert.equal(await store.reencrypt(request), 0)
    assert.equal((await rowOf(store, rowId('a')))?.value, '2')
    assert.equal(await rowOf(store, rowId('b')), undefined)
  },

  'an old value in the history that is not encrypted is found by its key': async (store, { until }) => {
    await writeAll(store, [change(rowId('never'), '1', true), change(rowId('old'), '1')])
    await set(store, 'new', '1')
    await writeAll(store, [change(rowId('old'), '2', true)])
    await set(store, rowId('users', 'u1'), '1')
    await writeAll(store, [change(rowId('never'), null), change(rowId('other'), '1')])
    const keys = ['never', 'none', 'old', 'users']
    const plainOf = async (keys: readonly string[]) => (await store.plainKeys(keys)).toSorted()
    assert.deepEqual(await plainOf(keys), ['old', 'users'])
    assert.deepEqual(await plainOf([]), [])
    await nextMillisecond(until)
    await trimAll(store, { olderThan: Date.now() })
    assert.deepEqual(await plainOf(keys), ['old', 'users'], 'its old value')
    await store.reencrypt(encryptAll([], await store.scan.history(null, 10)))
    assert.deepEqual(await plainOf(keys), [])
  },
}

function encryptAll(values: readonly StoredRow[], history: readonly HistoryRow[]): ReencryptRequest {
  const encrypt = (text: string | null) => (text === null ? null : `encrypted ${text}`)
  return {
    values: values.map((before) => ({
      before,
      after: { ...before, value: `encrypted ${before.value}`, encrypted: true },
    })),
    history: history.map((before) => ({
      before,
      after: {
        ...before,
        oldValue: encrypt(before.oldValue),
        oldEncrypted: before.oldValue !== null,
        newValue: encrypt(before.newValue),
        newEncrypted: before.newValue !== null,
      },
    })),
  }
}

function decrypt(text: string): string {
  return text.replaceAll('encrypted ', '').replaceAll('ncrypted":true', 'ncrypted":false')
}
