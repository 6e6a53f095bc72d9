/** Cases: one write is atomic, and decides under the lock. */
import assert from 'node:assert/strict'
import { isDomainException } from '@fastify-modular/core'
import { SettingScope } from '#src/setting-definition.js'
import { noRevision } from '#src/store/revision.js'
import { change, type ContractCase, revisionOf, rowId, rowOf, set, user, writeAll } from './case.ts'

export const writes: Readonly<Record<string, ContractCase>> = {
  'a bulk of 500 sets, replaces and deletes at once, with one revision, in the order of the rows': async (
    store,
  ) => {
    const system = { ...rowId('z'), scope: SettingScope.System }
    const others = Array.from({ length: 497 }, (_, index) => rowId(`k${index}`))
    const ids = [rowId('b'), system, rowId('a'), ...others]
    await set(store, ids.slice(0, 300), '1')
    const result = await writeAll(
      store,
      ids.map((id, index) => change(id, index >= 3 && index < 100 ? null : '2')),
    )
    assert.equal(result.changes.length, 500)
    assert.deepEqual(
      result.changes.slice(0, 4).map(({ scope, key, revision }) => `${scope} ${key} ${revision}`),
      ['0 z 2', '1 a 2', '1 b 2', '1 k0 2'],
    )
    const { revision, rows } = await store.shared.read()
    assert.equal(revision, 2)
    assert.equal(rows.length, 403)
    assert.ok(rows.every((row) => row.value === '2' && row.revision === 2))
  },

  'decide sees the rows of the request, as they are now': async (store) => {
    await set(store, 'a', '1')
    const expected = await rowOf(store, rowId('a'))
    const seen: unknown[] = []
    const result = await writeAll(store, [], {
      reads: [rowId('a'), rowId('b')],
      decide(current) {
        seen.push(current.revision, current.get(rowId('a')), current.get(rowId('b')))
        return []
      },
    })
    assert.deepEqual(seen, [1, expected, undefined])
    assert.equal(result.revision, 1)
    assert.deepEqual(result.changes, [])
  },

  'of a row that is missing decide sees the version of its removal, whatever was written since': async (
    store,
  ) => {
    for (const owner of ['', 'u1']) {
      const [gone, other] = [rowId('gone', owner), rowId('other', owner)]
      const seen: number[] = []
      const look = () =>
        writeAll(store, [], {
          reads: [gone, other],
          decide(current) {
            seen.push(current.lastVersion(gone))
            return []
          },
        })
      await look()
      await set(store, gone, '1')
      const removal = await set(store, gone, null)
      await look()
      await set(store, other, '1')
      await look()
      const version = removal.changes[0]?.revision
      assert.ok(version)
      assert.deepEqual(seen, [0, version, version])
    }
  },

  'a write that throws in decide changes nothing and rejects with that error': async (store) => {
    for (const id of [rowId('a'), rowId('a', 'u1')]) {
      await set(store, [id], '1')
      const before = await rowOf(store, id)
      const stop = new Error('stop')
      const decide = () => {
        throw stop
      }
      await assert.rejects(writeAll(store, [change(id, '2')], { decide }), (error) => error === stop)
      assert.deepEqual(await rowOf(store, id), before)
    }
    assert.equal(await revisionOf(store), 1)
    assert.equal((await set(store, 'a', '3')).revision, 2)
  },

  'no change, or the deletion of nothing, leaves no version, no history and no event': async (store) => {
    let enqueued = 0
    const enqueue = () => void enqueued++
    assert.deepEqual((await writeAll(store, [], { enqueue })).changes, [])
    for (const owner of ['', 'u1']) {
      const id = rowId('a', owner)
      const removal = () => writeAll(store, [change(id, null)], { enqueue })
      assert.deepEqual((await removal()).changes, [])
      for (const value of ['1', null]) await writeAll(store, [change(id, value)])
      const { revision, changes } = await removal()
      assert.deepEqual([revision, changes], [owner === '' ? 2 : 0, []])
      assert.equal((await store.history({ owner, scope: id.scope, limit: 10 })).length, 2)
    }
    assert.equal(await revisionOf(store), 2)
    assert.equal(enqueued, 0)
  },

  'an equal value is written all the same, also encrypted: whether that is a change is for decide to say':
    async (store) => {
      for (const encrypted of [false, false, true])
        assert.equal((await writeAll(store, [change(rowId('a'), '1', encrypted)])).changes.length, 1)
      const row = await rowOf(store, rowId('a'))
      assert.deepEqual([row?.revision, row?.encrypted], [3, true])
      assert.equal((await store.history({ limit: 10 })).length, 3)
    },

  'two changes of one row, one of a row that was not read, of both kinds of rows and of two owners are refused, and nothing is written':
    async (store) => {
      const [a, b] = [change(rowId('a'), '1'), change(rowId('b'), '1')]
      const refused = /is not a row of this write, or is changed twice/
      await assert.rejects(writeAll(store, [b, a, change(rowId('a'), '2')]), refused)
      await assert.rejects(writeAll(store, [a, b], { reads: [rowId('a')] }), refused)
      const own = change(rowId('a', 'u1'), '1')
      const others = [rowId('a', 'u2'), rowId('a', 'u1', SettingScope.Tenant)].map((id) => change(id, '1'))
      for (const other of [a, ...others]) await assert.rejects(writeAll(store, [own, other]), refused)
      assert.deepEqual(await store.shared.read(), { ...noRevision, rows: [] })
      assert.deepEqual(await store.owned.read(user('u1')), [])
    },

  'an owner belongs to User and Tenant scope and to no other': async (store) => {
    const wrong = [
      { scope: SettingScope.Application, owner: 'u1', key: 'a' },
      { scope: SettingScope.System, owner: 'u1', key: 'a' },
      { scope: SettingScope.User, owner: '', key: 'a' },
      { scope: SettingScope.Tenant, owner: '', key: 'a' },
    ]
    for (const id of wrong) await assert.rejects(writeAll(store, [change(id, '1')]), isDomainException)
    assert.equal(await revisionOf(store), 0)
  },

  'NUL and lone surrogates are refused, and never find another row': async (store) => {
    await set(store, rowId('k', 'a\ufffd'), '1')
    for (const text of ['a\0', 'a\ud800', '\udc00']) {
      const changes = [change(rowId('k', text), '1'), change(rowId(text), '1'), change(rowId('k'), text)]
      for (const each of changes) await assert.rejects(writeAll(store, [each]), isDomainException)
      for (const reason of [{ actor: text }, { note: text }])
        await assert.rejects(writeAll(store, [change(rowId('k'), '1')], reason), isDomainException)
      assert.deepEqual(await store.owned.read(user(text)), [])
      assert.equal(await rowOf(store, rowId('k', text)), undefined)
      assert.equal(await rowOf(store, rowId(text)), undefined)
      assert.deepEqual(await store.history({ owner: text, scope: SettingScope.User, limit: 10 }), [])
    }
    assert.equal(await revisionOf(store), 0)
  },
}
