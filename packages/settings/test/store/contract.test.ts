/** The contract must catch stores that are wrong: each of these breaks one promise of the reference store. */
import { storeContract } from '../contract/store-contract.ts'
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { change, rowId, rowOf, set, writeAll } from '../contract/case.ts'
import { isOwned } from '#src/setting-definition.js'
import { noRevision } from '#src/store/revision.js'
import type { StorePort } from '#src/store/store.js'
import { changedStore, type StoreChanges } from '../support/changed-store.ts'
import { memoryStore } from '../support/stores.js'

/** The behaviours that a store does not have, with what the contract says about them. */
async function failuresOf(create: () => StorePort, patience = 4000): Promise<Map<string, unknown>> {
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

function broken(change: (store: StorePort) => StoreChanges): () => StorePort {
  return () => {
    const store = memoryStore()
    return changedStore(store, change(store))
  }
}

/** Decides on one state and writes to a later one, as a store without a lock does. */
function withoutLock(store: StorePort): StoreChanges {
  return {
    async write(request, write) {
      const rows = await Promise.all(request.reads.map((id) => rowOf(store, id)))
      const { revision, token } = await store.shared.read()
      const seen = new Map(
        request.reads.map((id, index) => [`${id.scope} ${id.owner} ${id.key}`, rows[index]]),
      )
      const changes = request.decide({
        revision,
        token,
        get: (id) => seen.get(`${id.scope} ${id.owner} ${id.key}`),
        lastVersion: () => 0,
        at: 0,
        windows: [],
      })
      return write({ ...request, decide: () => changes })
    },
  }
}

const stores: Readonly<Record<string, (store: StorePort) => StoreChanges>> = {
  'forgets rows of users': () => ({ owned: { read: async () => [] } }),
  'shows rows of users to everyone': (store) => ({
    shared: {
      read: async () => ({
        ...(await store.shared.read()),
        rows: await store.scan.values(null, 1000),
      }),
    },
  }),
  'does not count': (store) => ({
    shared: { news: async (after, limit) => ({ ...(await store.shared.news(after, limit)), revision: 0 }) },
  }),
  'forgets which write removed a row': () => ({
    write: (request, write) =>
      write({ ...request, decide: (current) => request.decide({ ...current, lastVersion: () => 0 }) }),
  }),
  'has no history': () => ({ history: async () => [] }),
  'ignores the filter of history': (store) => ({ history: ({ limit }) => store.history({ limit }) }),
  'returns old changes as news': (store) => ({
    shared: { news: (_after, limit) => store.shared.news(0, limit) },
  }),
  'shows history oldest first': (store) => ({
    history: async (query) => (await store.history(query)).toReversed(),
  }),
  'has pages of history without end': (store) => ({
    history: ({ maxBytes: _maxBytes, ...query }) => store.history(query),
  }),
  'counts characters of history, not bytes': (store) => ({
    async history({ maxBytes = Infinity, ...query }) {
      const rows = await store.history(query)
      let length = 0
      return rows.filter(
        ({ oldValue, newValue }, index) =>
          (length += `${oldValue ?? ''}${newValue ?? ''}`.length) <= maxBytes || index === 0,
      )
    },
  }),
  'begins the next page of history with an older revision': (store) => ({
    history: ({ following, ...query }) =>
      store.history({ ...query, following: following && { ...following, scope: SettingScope.User } }),
  }),
  'trims nothing': () => ({ trim: async () => ({ removed: 0, isDone: true }) }),
  'trims whatever the time': (store) => ({
    trim: (limits) => store.trim({ ...limits, olderThan: Date.now() + 1 }),
  }),
  'trims by time alone': (store) => ({
    trim: (limits) => store.trim({ ...limits, perValue: Number.MAX_SAFE_INTEGER }),
  }),
  'counts users with the others': (store) => ({
    async write(request, write) {
      const users = request.reads.some(({ scope }) => scope === 2)
      if (users) await writeAll(store, [change(rowId('counted'), '1')])
      return write(request)
    },
  }),
  'forgets the version of what was removed': (store) => ({
    async write(request, write) {
      const result = await write(request)
      for (const { scope, owner, after } of result.changes)
        if (!after && isOwned(scope)) await store.owned.erase({ scope, id: owner })
      return result
    },
  }),
  'misses users': (store) => ({
    owned: { news: async (since, limit) => ({ ...(await store.owned.news(since, limit)), owners: [] }) },
  }),
  'repeats users for ever': (store) => ({
    owned: { news: async (_since, limit) => store.owned.news('0', limit) },
  }),
  'takes a tenant for the user of the same id': (store) => ({
    owned: {
      read: async ({ id }) => [
        ...(await store.owned.read({ scope: SettingScope.User, id })),
        ...(await store.owned.read({ scope: SettingScope.Tenant, id })),
      ],
    },
  }),
  'erases the tenant of the same id': (store) => ({
    owned: {
      async erase(owner) {
        await store.owned.erase({ scope: SettingScope.Tenant, id: owner.id })
        return store.owned.erase(owner)
      },
    },
  }),
  'names a tenant as a user in the news': (store) => ({
    owned: {
      async news(since, limit) {
        const { next, owners } = await store.owned.news(since, limit)
        return { next, owners: owners.map(({ id }) => ({ scope: SettingScope.User, id })) }
      },
    },
  }),
  'erases values alone': (store) => ({
    owned: {
      async erase(owner) {
        for (const { key } of await store.owned.read(owner))
          await set(store, rowId(key, owner.id, owner.scope), null)
        return { values: 0, history: 0, mentions: 0, isDone: true }
      },
    },
  }),
  'mixes the history of users': (store) => ({
    history: ({ owner, ...query }) =>
      store.history({ ...query, ...(owner && { owner: owner.slice(0, 1) + '1' }) }),
  }),
  'counts known keys too': (store) => ({
    orphans: () => store.orphans([]),
  }),
  'scans the first page for ever': (store) => ({
    scan: {
      values: (_after, limit) => store.scan.values(null, Math.min(limit, 1)),
      history: (_after, limit) => store.scan.history(null, Math.min(limit, 1)),
    },
  }),
  'leaves history plain': (store) => ({
    reencrypt: ({ values }) => store.reencrypt({ values, history: [] }),
  }),
  'leaves values plain': (store) => ({
    reencrypt: ({ history }) => store.reencrypt({ values: [], history }),
  }),
  'finds nothing that is plain': () => ({
    plainKeys: async () => [],
  }),
  'scans history newest first': (store) => ({
    scan: {
      ...store.scan,
      history: async (after, limit) => (await store.scan.history(after, 10)).toReversed().slice(0, limit),
    },
  }),
  'encrypts what was written meanwhile': (store) => ({
    async reencrypt(request) {
      const rows = await store.scan.values(null, 10)
      const values = request.values.map(({ after }, index) => ({ before: rows[index] ?? after, after }))
      return store.reencrypt({ ...request, values })
    },
  }),
  'loses updates': withoutLock,
  'swallows what decide throws': () => ({
    write: (request, write) => write(request).catch(() => ({ ...noRevision, at: 0, changes: [] })),
  }),
  'enqueues although it cannot': () => ({
    async write(request, write) {
      const result = await write(request)
      await request.enqueue?.({ kind: 'sync', run: () => {} }, result)
      return result
    },
  }),
  'promises transactions it does not have': () => ({ info: { transactional: 'sync' } }),
  'promises to be durable and is not': () => ({ info: { durable: true } }),
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
    owned: { news: async (_since, limit) => store.owned.news('0', limit) },
  }))
  const failed = await failuresOf(repeats, 200)
  t.match(failed.get('of users: owners whose values were written are known from a mark on'), {
    message: 'waited 200 ms for the end of the news',
  })
})

test('a method of a store that does not end fails its test, and is not waited for', async (t) => {
  const failed = await failuresOf(
    broken(() => ({ shared: { read: () => new Promise(() => {}) }, close: () => new Promise(() => {}) })),
    200,
  )
  t.match(failed.get('an empty store has revision 0 and no rows'), {
    message: 'a method of the store had not ended after 700 ms',
  })
})
