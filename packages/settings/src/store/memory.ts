/** A store that forgets: for tests, and for applications that have not chosen a database yet. */
import { SettingScope } from '../setting-definition.ts'
import { checkRequest, historyOf, planWrite, TrimCounter } from './plan-write.ts'
import { compareRowIds, rowIdText, textBytes } from './row-id.ts'
import type { HistoryId, HistoryQuery, HistoryRow, SettingsStore, StoredRow } from './store.ts'

/** Creates an empty store in memory: the reference that the databases are compared with. Nothing survives the process. */
export function memoryStore(): SettingsStore {
  const rows = new Map<string, StoredRow>()
  let history: HistoryRow[] = []
  let revision = 0
  const trims = new TrimCounter()

  // Each method runs to its end before another one starts, which makes every write atomic.
  return {
    name: 'memory',
    durable: false,
    transactional: false,
    open: async () => {},
    readShared: async () => ({ revision, rows: select((row) => row.scope !== SettingScope.User) }),
    readUser: async (userId) => select((row) => row.scope === SettingScope.User && row.userId === userId),
    readRow: async (id) => rows.get(rowIdText(id)),
    readState: async (known) => ({ revision, at: atOf(revision), knownAt: atOf(known), epoch: '' }),
    write: async (request) => {
      checkRequest(request)
      const read = request.reads.flatMap((id) => rows.get(rowIdText(id)) ?? [])
      const result = planWrite(request, revision, read)
      for (const change of result.changes) {
        if (change.after) rows.set(rowIdText(change), change.after)
        else rows.delete(rowIdText(change))
        history.push(Object.freeze(historyOf(change, request, result)))
      }
      revision = result.revision
      if (request.keepHistory !== undefined) {
        const due = new Set(trims.takeDue(result).map(rowIdText))
        if (due.size > 0) trim(request.keepHistory, 0, due)
      }
      return result
    },
    readHistory: async (query) => {
      const found = history.filter((row) => isSelected(row, query)).toSorted(newestFirst)
      return withinBytes(found.slice(0, query.limit), query.maxBytes)
    },
    scan: async (after, limit) =>
      select((row) => after === null || compareRowIds(row, after) > 0).slice(0, limit),
    scanHistory: async (after, limit) =>
      history
        .toSorted(compareHistoryIds)
        .filter((row) => after === null || compareHistoryIds(row, after) > 0)
        .slice(0, limit),
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
    pruneHistory: async ({ olderThan, perValue }) => trim(perValue, olderThan),
    close: async () => {},
  }

  function atOf(written: number): number | null {
    return history.find((row) => row.revision === written)?.at ?? null
  }

  /** Keeps the newest entries of these values, or of all. Returns how many are gone. */
  function trim(perValue: number, olderThan: number, names?: ReadonlySet<string>): number {
    const before = history.length
    const seen = new Map<string, number>()
    history = history.toSorted(newestFirst).filter((row) => {
      const name = rowIdText(row)
      if (names?.has(name) === false) return true
      const newer = seen.get(name) ?? 0
      seen.set(name, newer + 1)
      return newer === 0 || (newer < perValue && row.at >= olderThan)
    })
    return before - history.length
  }

  function select(wanted: (row: StoredRow) => boolean): StoredRow[] {
    return [...rows.values()].filter(wanted).toSorted(compareRowIds)
  }
}

function isSelected(row: HistoryRow, query: HistoryQuery): boolean {
  return (
    (query.key === undefined || row.key === query.key) &&
    (query.scope === undefined || row.scope === query.scope) &&
    (query.userId === undefined || row.userId === query.userId) &&
    (query.revision === undefined || row.revision === query.revision) &&
    (query.keys === undefined || query.keys.includes(row.key)) &&
    (query.actor === undefined || row.actor === query.actor) &&
    (query.since === undefined || row.at >= query.since) &&
    (query.before === undefined || row.revision < query.before) &&
    (query.after === undefined || row.revision > query.after) &&
    (query.following === undefined || newestFirst(row, query.following) > 0)
  )
}

function withinBytes(rows: readonly HistoryRow[], maxBytes = Infinity): readonly HistoryRow[] {
  let bytes = 0
  const end = rows.findIndex((row, index) => {
    bytes += textBytes(row)
    return index > 0 && bytes > maxBytes
  })
  return end === -1 ? rows : rows.slice(0, end)
}

function newestFirst(a: HistoryId, b: HistoryId): number {
  return b.revision - a.revision || compareRowIds(a, b)
}

function compareHistoryIds(a: HistoryId, b: HistoryId): number {
  return a.revision - b.revision || compareRowIds(a, b)
}

function isPlain({ oldValue, oldSealed, newValue, newSealed }: HistoryRow): boolean {
  return (oldValue !== null && !oldSealed) || (newValue !== null && !newSealed)
}

function historyIdText(id: HistoryId): string {
  return `${id.revision} ${rowIdText(id)}`
}
