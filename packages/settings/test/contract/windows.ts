/** Change sets that have to be kept, as databases have them. */
import assert from 'node:assert/strict'
import type { StorePort } from '#src/store/store.js'
import type { StoredWindow } from '#src/store/windows.js'
import { change, type ContractCase, rowId } from './case.ts'

const id = rowId('app.title')

/** Writes a value, and saves what becomes of the window of this write or of an earlier one. */
async function save(
  store: StorePort,
  value: string | null,
  window: Partial<StoredWindow> = {},
): Promise<StoredWindow> {
  let saved: StoredWindow | undefined
  await store.shared.write({
    actor: 'ada',
    origin: 'api',
    reads: [id],
    decide: () => (value === null ? [] : [change(id, value)]),
    window: ({ revision, at }) =>
      (saved = { revision, state: 'open', due: at + 5000, reasons: {}, ...window }),
  })
  if (!saved) throw new Error('The store did not ask for the window.')
  return saved
}

export const windows: Readonly<Record<string, ContractCase>> = {
  'a window is saved with its write, and every instance finds it and when it is due': async (
    store,
    { open },
  ) => {
    const later = await save(store, '1', { due: 9_000_000_000_000 })
    const first = await save(store, '2')
    const other = store.info.durable ? await open() : store
    for (const each of [store, other]) {
      assert.deepEqual((await each.windows()).windows, [first, later])
      assert.equal((await each.shared.news(0, 10)).due, first.due)
      assert.deepEqual((await each.windows(later.revision)).windows, [later])
      assert.deepEqual((await each.windows(77)).windows, [])
    }
    assert.ok(Math.abs((await store.windows()).at - (first.due - 5000)) < 600_000)
  },

  'a window changes without a change of rows, and is open no longer': async (store) => {
    const window = await save(store, '1')
    const reasons = { 'app.title': 'It\'s been "changed" since. ü' }
    const settled = await save(store, null, { ...window, state: 'conflicted', reasons })
    assert.deepEqual((await store.windows()).windows, [])
    assert.deepEqual((await store.windows(window.revision)).windows, [settled])
    const news = await store.shared.news(0, 10)
    assert.deepEqual([news.revision, news.due, news.changes.length], [1, null, 1])
  },

  'a write sees the open windows under its lock, and the time': async (store) => {
    const window = await save(store, '1')
    await save(store, '2', { state: 'kept' })
    let seen: unknown
    await store.shared.write({
      actor: null,
      origin: 'api',
      reads: [],
      decide: ({ windows, at }) => {
        seen = [windows, at >= window.due - 5000]
        return []
      },
      window: () => undefined,
    })
    assert.deepEqual(seen, [[window], true])
  },

  'what is refused opens nothing': async (store) => {
    await assert.rejects(
      store.shared.write({
        actor: null,
        origin: 'api',
        reads: [id],
        decide: () => [change(id, '1')],
        window: () => {
          throw new Error('no')
        },
      }),
    )
    assert.deepEqual((await store.windows()).windows, [])
    assert.equal((await store.shared.read()).revision, 0)
  },
}
