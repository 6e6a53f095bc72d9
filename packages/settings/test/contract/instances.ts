/** Cases: several writers, several instances, and what outlives a store. */
import assert from 'node:assert/strict'
import { ownerHash } from '#src/store/store.js'
import { change, type ContractCase, revisionOf, rowId, rowOf, set, writeAll, user } from './case.ts'

export const instances: Readonly<Record<string, ContractCase>> = {
  'no update is lost: 40 parallel increments, of two instances, count to 40 in one row with 40 revisions':
    async (first, { open }) => {
      const second = first.info.durable ? await open() : first
      const id = rowId('n')
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          writeAll(index % 2 ? first : second, [], {
            reads: [id],
            decide: (current) => [change(id, String(Number(current.get(id)?.value ?? 0) + 1))],
          }),
        ),
      )
      for (const { revision, changes } of results)
        assert.deepEqual([changes[0]?.revision, changes[0]?.after?.value], [revision, String(revision)])
      assert.equal(new Set(results.map(({ revision }) => revision)).size, 40)
      const found = await first.shared.read()
      assert.deepEqual([found.revision, found.rows.length, found.rows[0]?.value], [40, 1, '40'])
      assert.deepEqual(await second.shared.read(), found)
    },

  'of 20 writers that all saw the same version, one wins': async (store) => {
    for (const id of [rowId('a'), rowId('a', 'u1')]) {
      for (const start of ['unset', '"start"', null]) {
        if (start !== 'unset') await writeAll(store, [change(id, start)])
        const seen = (await rowOf(store, id))?.revision
        const outcomes = await Promise.allSettled(
          Array.from({ length: 20 }, (_, index) =>
            writeAll(store, [], {
              reads: [id],
              decide(current) {
                if (current.get(id)?.revision !== seen) throw new Error('stale')
                return [change(id, String(index))]
              },
            }),
          ),
        )
        assert.deepEqual(
          outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : [])),
          Array.from({ length: 19 }, () => 'Error: stale'),
        )
      }
    }
  },

  'closed and opened again, everything is still there': async (first, { open }) => {
    if (!first.info.durable) return
    await set(first, 'a', '1')
    await writeAll(first, [change(rowId('b', 'u1'), '"x"', true)])
    const expected = await Promise.all([first.scan.values(null, 10), first.scan.history(null, 10)])
    await first.close()
    const second = await open()
    assert.deepEqual(
      await Promise.all([second.scan.values(null, 10), second.scan.history(null, 10)]),
      expected,
    )
    assert.equal((await set(second, 'a', '2')).revision, 2)
  },

  'a watch announces the writes of another instance until it is stopped, with the owners whose values they were':
    async (watching, { open, until }) => {
      if (!watching.watch) return
      const writing = await open()
      let hints = 0
      let isTime = false
      const told = new Set<string>()
      const stop = await watching.watch({
        onHint(revision) {
          hints++
          isTime ||= revision === undefined
        },
        onOwners: (hashes) => hashes?.forEach((hash) => told.add(hash)),
        onLost: (error) => assert.fail(`the watch was lost: ${String(error)}`),
      })
      for (let revision = 1; revision <= 5; revision++) {
        const before = hints
        await set(writing, 'a', String(revision))
        await until(`a hint at revision ${revision}`, () => hints > before)
      }
      let mark = (await watching.owned.news(undefined, 1)).next
      isTime = false
      await set(writing, rowId('a', 'u1'), '1')
      await until('the news of the user', async () => {
        if (told.has(ownerHash(user('u1')))) return true
        if (!isTime) return false
        const { next, owners } = await watching.owned.news(mark, 10)
        mark = next
        return owners.some(({ id }) => id === 'u1')
      })
      await stop()
      await stop()
      const before = hints
      await set(writing, 'a', '"after the watch"')
      assert.equal(await revisionOf(watching), 6)
      assert.equal(hints, before)
    },

  'closing twice is fine, and a closed store of a database says that it is closed': async (store) => {
    await set(store, 'a', '1')
    await store.close()
    await store.close()
    if (!store.info.durable) return
    await assert.rejects(revisionOf(store), { code: 'FMOD_SETTINGS_STORE_NOT_OPEN' })
    await assert.rejects(set(store, 'a', '2'), { code: 'FMOD_SETTINGS_STORE_NOT_OPEN' })
  },
}
