/** A store that forgets: for tests, and for applications that have not chosen a database yet. */
import { SettingScope } from '../setting-definition.ts'
import {
  checkWrite,
  compareRowIds,
  compareText,
  type FoundOfUsers,
  historyOf,
  planWrite,
  rowIdText,
} from './plan-write.ts'
import { noRevision, type Revision } from './revision.ts'
import { compareHistoryIds, newestFirst, selectHistory, selectPage } from './select-history.ts'
import type {
  Erased,
  HistoryId,
  HistoryRow,
  KeyCount,
  RowId,
  SettingsStore,
  StoredRow,
  TrimLimits,
  WriteRequest,
  WriteResult,
} from './store.ts'

/** Creates an empty store in memory: the reference that the databases are compared with. Nothing survives the process. */
export function memoryStore(): SettingsStore {
  const rows = new Map<string, StoredRow>()
  let history: HistoryRow[] = []
  let last = noRevision
  /** Users in the order of their last write. */
  const written = new Map<string, number>()
  let writes = 0

  // Each method runs to its end before another one starts, which makes every write atomic.
  return {
    info: { name: 'memory', durable: false, transactional: false },
    shared: {
      read: async () => ({ ...last, rows: select((row) => row.scope !== SettingScope.User) }),
      news: async ({ after, limit }) => ({
        ...last,
        knownToken:
          history.find(({ scope, revision }) => scope !== SettingScope.User && revision === after)?.token ??
          null,
        changes: history
          .filter((row) => row.scope !== SettingScope.User && row.revision > after)
          .toSorted(compareHistoryIds)
          .slice(limit === 0 ? Infinity : -limit),
      }),
      write: async (request) => {
        const result = write(request, last)
        last = { revision: result.revision, token: result.token }
        return result
      },
    },
    users: {
      read: async (userId, key) =>
        select(
          (row) => row.scope === SettingScope.User && row.userId === userId && row.key === (key ?? row.key),
        ),
      news: async (since, limit) => {
        const later = [...written].filter(([, write]) => since !== undefined && write > Number(since))
        return { next: String(writes), userIds: later.slice(0, limit).map(([userId]) => userId) }
      },
      write: async (request) => {
        const result = write(request, { lastVersion })
        for (const { userId } of result.changes) note(userId)
        return result
      },
      erase: async (userId) => erase(userId),
    },
    open: async () => {},
    history: async (query) => selectHistory(history, query),
    scan: async (what, after, limit) =>
      selectPage({ values: [...rows.values()], history }, what, after, limit),
    survey: async ({ known, secret = [] }) => {
      const plain = new Set(history.filter(isPlain).map(({ key }) => key))
      return {
        orphans: known ? countByKey(select(({ key }) => !known.includes(key))) : [],
        plain: secret.filter((key) => plain.has(key)),
      }
    },
    reencrypt: async (request) => {
      let replaced = 0
      for (const { before, after } of request.values) {
        const row = rows.get(rowIdText(before))
        if (row?.revision !== before.revision || row.value !== before.value) continue
        rows.set(rowIdText(before), Object.freeze({ ...after }))
        replaced++
      }
      const reencrypted = new Map(request.history.map((each) => [historyIdText(each.before), each]))
      history = history.map((row) => {
        const { before, after } = reencrypted.get(historyIdText(row)) ?? {}
        if (!after || row.oldValue !== before?.oldValue || row.newValue !== before.newValue) return row
        replaced++
        return Object.freeze({ ...after })
      })
      return replaced
    },
    trim: async (limits) => ({ removed: trim(limits), isDone: true }),
    close: async () => {},
  }

  function write(request: WriteRequest, found: Revision | Pick<FoundOfUsers, 'lastVersion'>): WriteResult {
    checkWrite(request)
    const known = request.reads.flatMap((id) => rows.get(rowIdText(id)) ?? [])
    const result = planWrite(request, { ...found, at: Date.now(), rows: known })
    for (const change of result.changes) {
      if (change.after) rows.set(rowIdText(change), change.after)
      else rows.delete(rowIdText(change))
      history.push(Object.freeze(historyOf(change, request, result)))
    }
    return result
  }

  function note(userId: string): void {
    written.delete(userId)
    written.set(userId, ++writes)
  }

  function lastVersion(id: RowId): number {
    const name = rowIdText(id)
    return history.reduce(
      (last, entry) => (rowIdText(entry) === name ? Math.max(last, entry.revision) : last),
      0,
    )
  }

  function trim({ olderThan, perValue }: TrimLimits): number {
    const seen = new Map<string, number>()
    const before = history.length
    history = history.toSorted(newestFirst).filter((row) => {
      const newer = seen.get(rowIdText(row)) ?? 0
      seen.set(rowIdText(row), newer + 1)
      return newer === 0 || (newer < perValue && row.at >= olderThan)
    })
    return before - history.length
  }

  function erase(userId: string): Erased {
    const isOwn = (row: { readonly scope: SettingScope; readonly userId: string }): boolean =>
      row.scope === SettingScope.User && row.userId === userId
    const values = select(isOwn).length
    const entries = history.filter(isOwn)
    let writers = 0
    for (const [name, row] of rows) {
      if (isOwn(row)) rows.delete(name)
      if (isOwn(row) || row.updatedBy !== userId) continue
      rows.set(name, Object.freeze({ ...row, updatedBy: null }))
      writers++
    }
    let mentions = writers
    history = history
      .filter((row) => !isOwn(row))
      .map((row) => {
        if (row.actor !== userId) return row
        mentions++
        return Object.freeze({ ...row, actor: null, note: null })
      })
    if (written.delete(userId) || values + writers > 0) note('')
    return { values, history: entries.length, mentions, isDone: true }
  }

  function select(wanted: (row: StoredRow) => boolean): StoredRow[] {
    return [...rows.values()].filter(wanted).toSorted(compareRowIds)
  }
}

function countByKey(rows: readonly StoredRow[]): KeyCount[] {
  const counts = new Map<string, KeyCount>()
  for (const { key, scope } of rows) {
    const name = `${scope} ${key}`
    counts.set(name, { key, scope, rows: (counts.get(name)?.rows ?? 0) + 1 })
  }
  return [...counts.values()].toSorted((a, b) => a.scope - b.scope || compareText(a.key, b.key))
}

function isPlain({ oldValue, oldEncrypted, newValue, newEncrypted }: HistoryRow): boolean {
  return (oldValue !== null && !oldEncrypted) || (newValue !== null && !newEncrypted)
}

function historyIdText(id: HistoryId): string {
  return `${id.revision} ${rowIdText(id)}`
}
