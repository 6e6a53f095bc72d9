/** Calls of a store that may meet a million rows: what they cost must not grow with them. */
import { SettingScope } from '@fastify-modular/settings'
import { user, rowId, set } from '../../contract/case.ts'
import type { HistoryPlace, HistoryQuery, StorePort } from '#src/store/store.js'

/** How many rows of values and of history a database has; one in a hundred is of Application scope. */
export interface Size {
  readonly rows: number
}

/** Keys that the application defines; the rows have these and `gone`. */
export const knownKeys = Array.from({ length: 40 }, (_, index) => `key.${index}`)

/** The calls by what they are for, each to be made on an open store with such rows. */
export function callsOf(store: StorePort, { rows }: Size): Readonly<Record<string, () => Promise<unknown>>> {
  const page = { limit: 50, maxBytes: 1024 * 1024 }
  const history = (query: Partial<HistoryQuery>) => () => store.history({ ...page, ...query })
  const following = (place: Partial<HistoryPlace>): Partial<HistoryQuery> => ({
    following: {
      scope: SettingScope.Application,
      owner: '',
      key: 'key.0',
      revision: rows / 2,
      at: 0,
      ...place,
    },
  })
  const ofUser = { scope: SettingScope.User, owner: 'u7' }
  return {
    '/changes': history({}),
    '/changes, a later page': history(following({})),
    '/changes?actor=': history({ actor: 'ann' }),
    '/changes?since=': history({ since: rows / 2 }),
    '/changes?group=': history({ keys: ['key.0', 'key.1'] }),
    'history({ key })': history({ key: 'key.0' }),
    'history({ key }), a later page': history({ key: 'key.0', ...following({}) }),
    'history({ key }) of a key that users alone have': history({ key: 'key.1' }),
    'history({ key, revision })': history({
      key: 'key.0',
      revision: rows / 2,
      scope: SettingScope.Application,
    }),
    'history({ userId })': history(ofUser),
    'history({ userId }), a later page': history({ ...ofUser, ...following({ ...ofUser, at: rows / 2 }) }),
    'history({ userId, key })': history({ ...ofUser, key: 'key.7' }),
    'orphans()': () =>
      store.orphans(knownKeys.flatMap((key) => Object.values(SettingScope).map((scope) => ({ scope, key })))),
    'what changed': () => store.shared.news(rows - 500, 1000),
    'nothing changed': () => store.shared.news(rows, 1000),
    'users that changed': async () => {
      const { next } = await store.owned.news(undefined, 1)
      return store.owned.news(next, 1001)
    },
    'values of a user': () => store.owned.read(user('u7')),
    'shared values': () => store.shared.read(),
    'values, page by page': () =>
      store.scan.values({ scope: SettingScope.User, owner: 'u5', key: 'key.5' }, 500),
    'history, page by page': () =>
      store.scan.history({ revision: rows / 2, scope: SettingScope.User, owner: 'u5', key: 'key.5' }, 500),
    'plain secrets in the history': () => store.plainKeys(['key.0', 'none']),
    'a write of a user': () => set(store, rowId('key.7', 'u7'), '"new"'),
    'a shared write': () => set(store, 'key.0', '"new"'),
    'a portion of old history': () => store.trim({ olderThan: rows, perValue: 100 }),
    'a portion of what was written': async () => {
      for (let isDone = false; !isDone;) ({ isDone } = await store.trim({ olderThan: 0, perValue: 5 }))
    },
    'a first write of a user': () => set(store, rowId('key.39', 'u7'), '"new"'),
    'a removal': () => set(store, rowId('key.39', 'u7'), null),
    'a portion of encryption': async () => {
      const values = await store.scan.values(null, 100)
      const entries = await store.scan.history(null, 100)
      return store.reencrypt({ values: values.map(toItself), history: entries.map(toItself) })
    },
    'a portion of a user': () => store.owned.erase(user('u7')),
  }
}

function toItself<T>(row: T): { readonly before: T; readonly after: T } {
  return { before: row, after: row }
}
