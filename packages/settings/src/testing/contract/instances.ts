/** Cases: several writers, several instances, and what outlives a store. */
import assert from 'node:assert/strict'
import { change, type ContractCase, rowId, rowOf, set, writeAll, revisionOf } from './case.ts'

export const instances: Readonly<Record<string, ContractCase>> = {
  '40 parallel first writes of one key give one row and 40 revisions': async (open) => {
    const store = await open()
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) => set(store, 'a', String(index))),
    )
    const revisions = results.map((result) => result.revision).toSorted((a, b) => a - b)
    assert.deepEqual(
      revisions,
      Array.from({ length: 40 }, (_, index) => index + 1),
    )
    const { revision, rows } = await store.shared.read()
    assert.equal(revision, 40)
    assert.equal(rows.length, 1)
    assert.equal(rows[0]?.revision, 40)
    assert.equal(results.find((result) => result.revision === 40)?.changes[0]?.after?.value, rows[0]?.value)
  },

  'no update is lost: 40 parallel increments count to 40': async (open) => {
    const store = await open()
    await Promise.all(
      Array.from({ length: 40 }, () =>
        writeAll(store, [], {
          reads: [rowId('n')],
          decide: (current) => [change(rowId('n'), String(Number(current.get(rowId('n'))?.value ?? 0) + 1))],
        }),
      ),
    )
    assert.equal((await rowOf(store, rowId('n')))?.value, '40')
  },

  'of 20 writers that all saw the same version, one wins': async (open) => {
    const store = await open()
    await set(store, 'a', '"start"')
    const writers = Array.from({ length: 20 }, (_, index) =>
      writeAll(store, [], {
        reads: [rowId('a')],
        decide(current) {
          if (current.get(rowId('a'))?.revision !== 1) throw new Error('stale')
          return [change(rowId('a'), String(index))]
        },
      }),
    )
    const outcomes = await Promise.allSettled(writers)
    assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1)
    assert.equal(await revisionOf(store), 2)
  },

  'two instances on one database share its rows and its revisions': async (open) => {
    const first = await open()
    if (!first.info.durable) return
    const second = await open()
    const pairs = Array.from({ length: 10 }, (_, index) => [
      set(first, 'a', `1${index}`),
      set(second, 'a', `2${index}`),
    ])
    const results = await Promise.all(pairs.flat())
    assert.equal(new Set(results.map((result) => result.revision)).size, 20)
    assert.equal(await revisionOf(first), 20)
    assert.deepEqual(await first.shared.read(), await second.shared.read())
  },

  'closed and opened again, everything is still there': async (open) => {
    const first = await open()
    if (!first.info.durable) return
    await set(first, 'a', '1')
    await writeAll(first, [change(rowId('b', 'u1'), '"x"', true)])
    const expected = await Promise.all([first.scan('values', null, 10), first.scan('history', null, 10)])
    await first.close()
    const second = await open()
    assert.deepEqual(
      await Promise.all([second.scan('values', null, 10), second.scan('history', null, 10)]),
      expected,
    )
    assert.equal((await set(second, 'a', '2')).revision, 2)
  },

  'a watch announces the writes of another instance until it is stopped': async (open, until) => {
    const watching = await open()
    if (!watching.watch) return
    const writing = await open()
    let hints = 0
    const stop = await watching.watch({
      onHint: () => void hints++,
      onUsers: () => {},
      onLost: (error) => assert.fail(`the watch was lost: ${String(error)}`),
    })
    for (let revision = 1; revision <= 5; revision++) {
      const before = hints
      await set(writing, 'a', String(revision))
      await until(`a hint at revision ${revision}`, () => hints > before)
    }
    await stop()
    await stop()
    const before = hints
    await set(writing, 'a', '"after the watch"')
    assert.equal(await revisionOf(watching), 6)
    assert.equal(hints, before)
  },

  'closing twice is fine, and a closed store of a database says that it is closed': async (open) => {
    const store = await open()
    await set(store, 'a', '1')
    await store.close()
    await store.close()
    if (!store.info.durable) return
    await assert.rejects(revisionOf(store), { code: 'FMOD_SETTINGS_STORE_NOT_OPEN' })
    await assert.rejects(set(store, 'a', '2'), { code: 'FMOD_SETTINGS_STORE_NOT_OPEN' })
  },
}
