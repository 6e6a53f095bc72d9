/** A store that forgets: for tests, and for applications that have not chosen a database yet. */
import { SettingScope } from '../setting-definition.ts'
import {
  checkWrite,
  compareRowIds,
  compareText,
  historyOf,
  isOfUsers,
  planWrite,
  rowIdText,
} from './plan-write.ts'
import { compareHistoryIds, newestFirst, selectHistory } from './select-history.ts'
import {
  type Erased,
  type HistoryId,
  type HistoryRow,
  type KeyCount,
  type RowId,
  type SettingsStore,
  type StoredRow,
  storePort,
  type TrimLimits,
} from './store.ts'

/** Creates an empty store in memory: the reference that the databases are compared with. Nothing survives the process. */
export function memoryStore(): SettingsStore {
  const rows = new Map<string, StoredRow>()
  let history: HistoryRow[] = []
  let revision = 0
  /** Users in the order of their last write. */
  const written = new Map<string, number>()
  let writes = 0

  // Each method runs to its end before another one starts, which makes every write atomic.
  return {
    port: storePort,
    name: 'memory',
    durable: false,
    transactional: false,
    open: async () => {},
    readShared: async () => ({ revision, rows: select((row) => row.scope !== SettingScope.User) }),
    readUser: async (userId) => select((row) => row.scope === SettingScope.User && row.userId === userId),
    readRow: async (id) => rows.get(rowIdText(id)),
    readNews: async ({ after, limit }) => ({
      revision,
      changes: history
        .filter((row) => row.scope !== SettingScope.User && row.revision > after)
        .toSorted(compareHistoryIds)
        .slice(limit === 0 ? Infinity : -limit),
    }),
    readUserNews: async (since, limit) => {
      const later = [...written].filter(([, write]) => since !== undefined && write > Number(since))
      return { next: String(writes), userIds: later.slice(0, limit).map(([userId]) => userId) }
    },
    write: async (request) => {
      checkWrite(request)
      const found = request.reads.flatMap((id) => rows.get(rowIdText(id)) ?? [])
      const ofUsers = isOfUsers(request)
      const result = planWrite(request, { revision, at: Date.now(), rows: found, lastVersion })
      for (const change of result.changes) {
        const name = rowIdText(change)
        if (change.after) rows.set(name, change.after)
        else rows.delete(name)
        if (ofUsers) note(change.userId)
        history.push(Object.freeze(historyOf(change, request, result)))
      }
      if (!ofUsers) revision = result.revision
      return result
    },
    readHistory: async (query) => selectHistory(history, query),
    scan: async (after, limit) =>
      select((row) => after === null || compareRowIds(row, after) > 0).slice(0, limit),
    scanHistory: async (after, limit) =>
      history
        .toSorted(compareHistoryIds)
        .filter((row) => after === null || compareHistoryIds(row, after) > 0)
        .slice(0, limit),
    countOthers: async (keys) => countByKey(select(({ key }) => !keys.includes(key))),
    findPlainHistory: async (keys) => {
      const plain = new Set(history.filter(isPlain).map(({ key }) => key))
      return keys.filter((key) => plain.has(key))
    },
    reseal: async (request) => {
      let replaced = 0
      for (const { before, after } of request.values) {
        const row = rows.get(rowIdText(before))
        if (row?.revision !== before.revision || row.value !== before.value) continue
        rows.set(rowIdText(before), Object.freeze({ ...after }))
        replaced++
      }
      const resealed = new Map(request.history.map((each) => [historyIdText(each.before), each]))
      history = history.map((row) => {
        const { before, after } = resealed.get(historyIdText(row)) ?? {}
        if (!after || row.oldValue !== before?.oldValue || row.newValue !== before.newValue) return row
        replaced++
        return Object.freeze({ ...after })
      })
      return replaced
    },
    trim: async (limits) => ({ removed: trim(limits), isDone: true }),
    eraseUser: async (userId) => erase(userId),
    close: async () => {},
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
    if (written.delete(userId) || values + writers > 0) {
      note('')
      history.push(Object.freeze(erasedEntry(Date.now())))
    }
    return { values, history: entries.length, mentions, isDone: true }
  }

  function select(wanted: (row: StoredRow) => boolean): StoredRow[] {
    return [...rows.values()].filter(wanted).toSorted(compareRowIds)
  }
}

/** What stands in the history for a user who was erased. */
function erasedEntry(at: number): HistoryRow {
  return {
    scope: SettingScope.User,
    userId: '',
    key: '',
    revision: at,
    oldValue: null,
    oldSealed: false,
    newValue: null,
    newSealed: false,
    origin: 'erased',
    actor: null,
    requestId: null,
    note: null,
    setSize: 1,
    at,
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

function isPlain({ oldValue, oldSealed, newValue, newSealed }: HistoryRow): boolean {
  return (oldValue !== null && !oldSealed) || (newValue !== null && !newSealed)
}

function historyIdText(id: HistoryId): string {
  return `${id.revision} ${rowIdText(id)}`
}
