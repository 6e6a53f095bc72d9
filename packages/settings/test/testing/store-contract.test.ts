/** The contract must catch stores that are wrong: each of these breaks one promise of the reference store. */
import { memoryStore, storeContract } from '@fastify-modular/settings/testing'
import { test } from 'tap'
import { change, revisionOf, rowId, setOf, writeAll } from '#src/testing/contract/case.js'
import type { SettingsStore, WriteRequest } from '#src/store/store.js'

/** The behaviours that a store does not have, with what the contract says about them. */
async function failuresOf(create: () => SettingsStore, patience = 4000): Promise<Map<string, unknown>> {
  const failed = new Map<string, unknown>()
  const running: Promise<void>[] = []
  storeContract(
    (name, run) => running.push(run().catch((error: unknown) => void failed.set(name, error))),
    () => ({ create }),
    { patience },
  )
  await Promise.all(running)
  return failed
}

function broken(change: (store: SettingsStore) => Partial<SettingsStore>): () => SettingsStore {
  return () => {
    const store = memoryStore()
    return { ...store, ...change(store) }
  }
}

/** Decides on one state and writes to a later one, as a store without a lock does. */
function withoutLock(store: SettingsStore): Partial<SettingsStore> {
  return {
    async write(request: WriteRequest) {
      const rows = await Promise.all(request.reads.map((id) => store.readRow(id)))
      const revision = await revisionOf(store)
      const seen = new Map(
        request.reads.map((id, index) => [`${id.scope} ${id.userId} ${id.key}`, rows[index]]),
      )
      const changes = request.decide({
        revision,
        get: (id) => seen.get(`${id.scope} ${id.userId} ${id.key}`),
      })
      return store.write({ ...request, decide: () => changes })
    },
  }
}

const stores: Readonly<Record<string, (store: SettingsStore) => Partial<SettingsStore>>> = {
  'forgets rows of users': () => ({ readUser: async () => [] }),
  'shows rows of users to everyone': (store) => ({
    readShared: async () => ({
      revision: await revisionOf(store),
      rows: await store.scan(null, 1000),
    }),
  }),
  'does not count': (store) => ({
    readNews: async (query) => ({ ...(await store.readNews(query)), revision: 0 }),
  }),
  'has no history': () => ({ readHistory: async () => [] }),
  'ignores the filter of history': (store) => ({ readHistory: ({ limit }) => store.readHistory({ limit }) }),
  'returns old changes as news': (store) => ({
    readNews: (query) => store.readNews({ ...query, after: 0 }),
  }),
  'shows history oldest first': (store) => ({
    readHistory: async (query) => (await store.readHistory(query)).toReversed(),
  }),
  'has pages of history without end': (store) => ({
    readHistory: ({ maxBytes: _maxBytes, ...query }) => store.readHistory(query),
  }),
  'counts characters of history, not bytes': (store) => ({
    async readHistory({ maxBytes = Infinity, ...query }) {
      const rows = await store.readHistory(query)
      let length = 0
      return rows.filter(
        ({ oldValue, newValue }, index) =>
          (length += `${oldValue ?? ''}${newValue ?? ''}`.length) <= maxBytes || index === 0,
      )
    },
  }),
  'begins the next page of history with an older revision': (store) => ({
    readHistory: ({ following, ...query }) =>
      store.readHistory(following ? { ...query, before: following.revision } : query),
  }),
  'trims nothing': () => ({ trim: async () => ({ removed: 0, isDone: true }) }),
  'trims whatever the time': (store) => ({
    trim: (limits) => store.trim({ ...limits, olderThan: Date.now() + 1 }),
  }),
  'trims by time alone': (store) => ({
    trim: (limits) => store.trim({ ...limits, perValue: Number.MAX_SAFE_INTEGER }),
  }),
  'counts users with the others': (store) => ({
    async write(request) {
      const users = request.reads.some(({ scope }) => scope === 2)
      if (users) await writeAll(store, [change(rowId('counted'), '1')])
      return store.write(request)
    },
  }),
  'forgets the version of what was removed': (store) => ({
    async write(request) {
      const result = await store.write(request)
      for (const { userId, after } of result.changes)
        if (!after && userId !== '') await store.eraseUser(userId)
      return result
    },
  }),
  'misses users': (store) => ({
    readUserNews: async (since, limit) => ({ ...(await store.readUserNews(since, limit)), userIds: [] }),
  }),
  'repeats users for ever': (store) => ({
    readUserNews: async (_since, limit) => store.readUserNews('0', limit),
  }),
  'erases values alone': (store) => ({
    async eraseUser(userId) {
      for (const { key } of await store.readUser(userId)) await setOf(store, userId, key, null)
      return { values: 0, history: 0, mentions: 0, isDone: true }
    },
  }),
  'mixes the history of users': (store) => ({
    readHistory: ({ userId, ...query }) =>
      store.readHistory({ ...query, ...(userId && { userId: userId.slice(0, 1) + '1' }) }),
  }),
  'counts known keys too': (store) => ({ countOthers: () => store.countOthers([]) }),
  'scans the first page for ever': (store) => ({
    scan: (_after, limit) => store.scan(null, Math.min(limit, 1)),
  }),
  'leaves history plain': (store) => ({ reseal: ({ values }) => store.reseal({ values, history: [] }) }),
  'leaves values plain': (store) => ({ reseal: ({ history }) => store.reseal({ values: [], history }) }),
  'finds nothing that is plain': () => ({ findPlainHistory: async () => [] }),
  'scans history newest first': (store) => ({
    scanHistory: async (after, limit) => (await store.scanHistory(after, 10)).toReversed().slice(0, limit),
  }),
  'seals what was written meanwhile': (store) => ({
    async reseal(request) {
      const rows = await store.scan(null, 10)
      const values = request.values.map(({ after }, index) => ({ before: rows[index] ?? after, after }))
      return store.reseal({ ...request, values })
    },
  }),
  'loses updates': withoutLock,
  'swallows what decide throws': (store) => ({
    write: (request) => store.write(request).catch(() => ({ revision: 0, at: 0, changes: [] })),
  }),
  'enqueues although it cannot': (store) => ({
    async write(request) {
      const result = await store.write(request)
      await request.enqueue?.({ kind: 'sync', run: () => {} }, result)
      return result
    },
  }),
  'promises transactions it does not have': () => ({ transactional: 'sync' }),
  'promises to be durable and is not': () => ({ durable: true }),
}

test('the reference store has every behaviour', async (t) => {
  t.same([...(await failuresOf(memoryStore, 60_000))], [])
})

for (const [fault, change] of Object.entries(stores)) {
  test(`a store that ${fault} does not pass`, async (t) => {
    t.ok((await failuresOf(broken(change))).size > 0)
  })
}

test('what is waited for in vain is named before a test runner gives up', async (t) => {
  const repeats = broken((store) => ({
    readUserNews: async (_since, limit) => store.readUserNews('0', limit),
  }))
  const failed = await failuresOf(repeats, 200)
  t.match(failed.get('users whose values were written are known from a mark on'), {
    message: 'waited 200 ms for the end of the news',
  })
})

test('a method of a store that does not end fails its test, and is not waited for', async (t) => {
  const failed = await failuresOf(
    broken(() => ({ readShared: () => new Promise(() => {}), close: () => new Promise(() => {}) })),
    200,
  )
  t.match(failed.get('an empty store has revision 0 and no rows'), {
    message: 'a method of the store had not ended after 700 ms',
  })
})
