/** Cases: the end of an owner, alone and beside everything else. */
import assert from 'node:assert/strict'
import { SettingScope } from '#src/setting-definition.js'
import type { Owner, StorePort } from '#src/store/store.js'
import {
  change,
  type ContractCase,
  everything,
  replays,
  rowId,
  set,
  trimAll,
  user,
  writeAll,
} from './case.ts'

const tenant = (id: string): Owner => ({ scope: SettingScope.Tenant, id })

export const erasure: Readonly<Record<string, ContractCase>> = {
  'an erased user is gone from values, history and as a writer, and others notice it': async (store) => {
    await writeAll(store, [change(rowId('a'), '1')], { actor: 'u1', note: 'by u1' })
    for (const value of ['1', '2', null]) await set(store, rowId('a', 'u1'), value)
    await writeAll(store, [change(rowId('b', 'u1'), '"mine"')], { actor: 'u1' })
    await writeAll(store, [change(rowId('b', 'u2'), '1')], { actor: 'u1' })
    await writeAll(store, [change(rowId('b'), '1')], { actor: 'a writer of shared values alone' })
    const others = await store.owned.read(user('u2'))
    const erasures = { u1: [1, 4, 4], 'a writer of shared values alone': [0, 0, 2] }
    for (const [userId, [values, history, mentions]] of Object.entries(erasures)) {
      const { next } = await store.owned.news(undefined, 10)
      assert.deepEqual(await eraseAll(store, user(userId)), { values, history, mentions })
      assert.ok(
        (await store.owned.news(next, 10)).owners.some(({ id }) => id === ''),
        'someone was erased',
      )
    }
    assert.doesNotMatch(await everything(store), /u1/)
    assert.deepEqual(await store.owned.read(user('u2')), [{ ...others[0], updatedBy: null }])
    assert.deepEqual(await store.history({ scope: SettingScope.User, owner: 'u1', limit: 10 }), [])
    assert.equal((await store.history({ limit: 10 })).length, 2)
    assert.deepEqual(await eraseAll(store, user('u1')), { values: 0, history: 0, mentions: 0 })
    assert.deepEqual(await eraseAll(store, user('nobody')), { values: 0, history: 0, mentions: 0 })
  },

  'what is stored for a key is forgotten in the named scopes alone, and others notice it': async (store) => {
    await set(store, rowId('a'), '1')
    for (const owner of ['u1', 'u2'])
      for (const value of ['1', '2']) await set(store, rowId('a', owner), value)
    await set(store, rowId('b', 'u1'), '1')
    const { next } = await store.owned.news(undefined, 10)
    const { Application, System, User } = SettingScope
    assert.deepEqual(await store.forget('a', [User, System]), { values: 2, history: 4, isDone: true })
    assert.ok((await store.owned.news(next, 10)).owners.some(({ id }) => id === ''))
    assert.deepEqual(
      (await store.owned.read(user('u1'))).map(({ key }) => key),
      ['b'],
    )
    assert.equal((await store.shared.read()).rows.length, 1)
    assert.deepEqual(await store.forget('a', [Application]), { values: 1, history: 1, isDone: true })
    for (const key of ['a', "'", '', '\0']) await store.forget(key, [User])
    assert.deepEqual(await store.forget('b', []), { values: 0, history: 0, isDone: true })
    assert.equal((await store.owned.read(user('u1'))).length, 1)
  },

  'an erased user is gone as the writer of a tenant of the same id, whose values stay': async (store) => {
    const id = rowId('a', 'u1', SettingScope.Tenant)
    await writeAll(store, [change(id, '"of the tenant"')], { actor: 'u1', note: 'by u1' })
    await set(store, rowId('a', 'u1'), '1')
    assert.deepEqual(await eraseAll(store, user('u1')), { values: 1, history: 1, mentions: 2 })
    const [row] = await store.owned.read(tenant('u1'))
    assert.deepEqual([row?.value, row?.updatedBy], ['"of the tenant"', null])
    const [entry] = await store.history({ scope: SettingScope.Tenant, owner: 'u1', limit: 10 })
    assert.deepEqual([entry?.actor, entry?.note], [null, null])
  },

  'an erased tenant is gone with its history, and nobody loses a name': async (store) => {
    await writeAll(store, [change(rowId('a', 'u1', SettingScope.Tenant), '1')], { actor: 'u2' })
    await writeAll(store, [change(rowId('a', 'u1'), '2')], { actor: 'u1' })
    await writeAll(store, [change(rowId('a'), '3')], { actor: 'u1', note: 'by u1' })
    const { next } = await store.owned.news(undefined, 10)
    const [own, shared] = [await store.owned.read(user('u1')), await store.shared.read()]
    assert.deepEqual(await eraseAll(store, tenant('u1')), { values: 1, history: 1, mentions: 0 })
    assert.ok(
      (await store.owned.news(next, 10)).owners.some(({ id }) => id === ''),
      'someone was erased',
    )
    assert.deepEqual(await store.owned.read(tenant('u1')), [])
    assert.deepEqual(await store.history({ scope: SettingScope.Tenant, owner: 'u1', limit: 10 }), [])
    assert.deepEqual([await store.owned.read(user('u1')), await store.shared.read()], [own, shared])
    assert.equal((await store.history({ limit: 10 }))[0]?.note, 'by u1')
  },

  'a user with more than one portion is erased portion by portion': async (store) => {
    const ids = Array.from({ length: 501 }, (_, index) => rowId(`k${index}`, 'u1'))
    await set(store, ids, '1')
    assert.deepEqual(await eraseAll(store, user('u1')), { values: 501, history: 501, mentions: 0 })
    assert.deepEqual(await store.owned.read(user('u1')), [])
  },

  'a name that no row can have selects no history and erases no other user': async (store) => {
    await set(store, rowId('a', '\ufffd'), '1')
    await writeAll(store, [change(rowId('a'), '1')], { actor: '\ufffd' })
    for (const name of ['\ud800', 'u\u00001', '\u0000']) {
      assert.deepEqual(await eraseAll(store, user(name)), { values: 0, history: 0, mentions: 0 })
      assert.deepEqual(await store.history({ actor: name, limit: 10 }), [])
      assert.deepEqual(await store.history({ keys: [name], limit: 10 }), [])
    }
    assert.equal((await store.owned.read(user('\ufffd'))).length, 1)
  },

  'erasures, writes of the same users, trimming and encryption at once: none fails, and no value lacks its history':
    async (first, { open }) => {
      const stores = first.info.durable ? [first, await open()] : [first]
      const [last = first] = stores.toReversed()
      const keys = ['a', 'b', 'c', 'd']
      const write = (userId: string, other: string, round: number): Promise<unknown>[] => {
        const own = keys.map((key) => change(rowId(key, userId), String(round)))
        const others = keys.map((key) => change(rowId(key, other), `"${round}"`))
        const tenants = keys.map((key) => change(rowId(key, userId, SettingScope.Tenant), String(round)))
        const third = keys.map((key) => change(rowId(key, 'third'), String(round)))
        const shared = keys.map((key) => change(rowId(key), String(round)))
        return [
          writeAll(first, own, { actor: other }),
          writeAll(last, round % 2 ? others : others.toReversed(), { actor: userId }),
          writeAll(last, tenants, { actor: userId }),
          writeAll(first, third, { actor: userId }),
          writeAll(last, shared, { actor: userId }),
          set(last, rowId('a', userId), round % 3 ? String(round) : null),
        ]
      }
      for (let round = 0; round < 12; round++) {
        await Promise.all([
          ...write('u1', 'u2', round),
          eraseAll(last, user('u1')),
          ...write('u2', 'u1', round),
          eraseAll(first, user('u2')),
          eraseAll(last, user('u2')),
          trimAll(last, { olderThan: Date.now() }),
          encryptAll(first),
        ])
        for (const userId of ['u1', 'u2']) await replays(last, user(userId))
        for (const id of ['u1', 'u2']) {
          const rows = await last.owned.read(tenant(id))
          assert.deepEqual(new Set(rows.map(({ value }) => value)), new Set([String(round)]))
        }
      }
      for (const userId of ['u1', 'u2']) {
        await eraseAll(first, user(userId))
        await eraseAll(first, tenant(userId))
        assert.ok(!(await everything(last)).includes(`"${userId}"`), userId)
      }
    },
}

/** Erases an owner, portion by portion. Returns the sums. */
async function eraseAll(store: StorePort, owner: Owner): Promise<object> {
  const sum = { values: 0, history: 0, mentions: 0 }
  for (let isDone = false; !isDone;) {
    const erased = await store.owned.erase(owner)
    isDone = erased.isDone
    for (const count of ['values', 'history', 'mentions'] as const) sum[count] += erased[count]
  }
  return sum
}

/** Marks all that is stored as encrypted. */
async function encryptAll(store: StorePort): Promise<void> {
  const rows = await store.scan.values(null, 500)
  const entries = await store.scan.history(null, 500)
  await store.reencrypt({
    values: rows.toReversed().map((before) => ({ before, after: { ...before, encrypted: true } })),
    history: entries.map((before) => ({ before, after: { ...before, newEncrypted: true } })),
  })
}
