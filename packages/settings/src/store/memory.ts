/** A store that forgets: for tests, and for applications that have not chosen a database yet. */
import { isOwned, SettingScope } from '../setting-definition.ts'
import { checkWrite, compareRowIds, compareText, historyOf, planWrite, rowIdText } from './plan-write.ts'
import { noRevision, type Revision } from './revision.ts'
import type { StoredWindow } from './windows.ts'
import { compareHistoryIds, selectHistory, selectPage } from './select-history.ts'
import {
  type Erased,
  type HistoryId,
  type HistoryRow,
  type KeyCount,
  type Owner,
  type RowId,
  type SettingsStore,
  type StorePort,
  type StoredRow,
  type WriteRequest,
  type WriteResult,
  isPort,
} from './store.ts'

/** Creates an empty store in memory: the reference that the databases are compared with. Nothing survives the process. */
export function memoryStore(): SettingsStore {
  return new MemoryStore()
}

/**
 * Each method runs to its end before another one starts, which makes every write atomic. They are members of the object, so
 * that a store that differs in some may be made of it: `{ ...store, history }`.
 */
class MemoryStore implements StorePort {
  readonly [isPort] = true
  readonly info = { name: 'memory', durable: false, transactional: false } as const
  readonly #rows = new Map<string, StoredRow>()
  /** Of each value the oldest entry first. */
  #history: HistoryRow[] = []
  #last = noRevision
  /** Owners by name, in the order of their last write. */
  readonly #written = new Map<string, { readonly owner: Owner; readonly write: number }>()
  #writes = 0
  readonly #windows = new Map<number, StoredWindow>()

  readonly shared: StorePort['shared'] = {
    read: async () => ({ ...this.#last, rows: this.#select(isShared) }),
    news: async (after, limit) => {
      const entries = this.#history.filter(isShared)
      const changes = entries.filter(({ revision }) => revision > after).toSorted(compareHistoryIds)
      return {
        ...this.#last,
        due: this.#open()[0]?.due ?? null,
        knownToken: entries.find(({ revision }) => revision === after)?.token ?? null,
        changes: changes.slice(limit === 0 ? Infinity : -limit),
      }
    },
    write: async (request) => {
      const result = this.#write(request, { ...this.#last, windows: this.#open() })
      const window = request.window?.(result)
      if (window) this.#windows.set(window.revision, window)
      this.#last = { revision: result.revision, token: result.token }
      return result
    },
  }

  readonly owned: StorePort['owned'] = {
    read: async (owner) => this.#select(isOf(owner)),
    news: async (since, limit) => {
      const later = [...this.#written.values()].filter(
        ({ write }) => since !== undefined && write > Number(since),
      )
      return { next: String(this.#writes), owners: later.slice(0, limit).map(({ owner }) => owner) }
    },
    write: async (owner, request) => {
      const result = this.#write(request, { of: owner })
      if (result.changes.length > 0) this.#note(owner)
      return result
    },
    erase: async (owner) => this.#erase(owner),
  }

  readonly open: StorePort['open'] = async () => {}

  readonly close: StorePort['close'] = async () => {}

  readonly history: StorePort['history'] = async (query) => selectHistory(this.#history, query)

  readonly scan: StorePort['scan'] = {
    values: async (after, limit) => selectPage([...this.#rows.values()], compareRowIds, after, limit),
    history: async (after, limit) => selectPage(this.#history, compareHistoryIds, after, limit),
  }

  readonly forget: StorePort['forget'] = async (key, scopes) => {
    const counts = this.#remove((row) => row.key === key && scopes.includes(row.scope))
    if (counts.values > 0) this.#note({ scope: SettingScope.User, id: '' })
    return { ...counts, isDone: true }
  }

  readonly orphans: StorePort['orphans'] = async (known) =>
    countByKey(this.#select((row) => !known.some(({ scope, key }) => scope === row.scope && key === row.key)))

  readonly plainKeys: StorePort['plainKeys'] = async (keys) =>
    keys.filter((key) => this.#history.some((row) => row.key === key && isPlain(row)))

  readonly windows: StorePort['windows'] = async (revision) => ({
    at: Date.now(),
    windows:
      revision === undefined
        ? this.#open()
        : [this.#windows.get(revision)].filter((found) => found !== undefined),
  })

  readonly reencrypt: StorePort['reencrypt'] = async ({ values, history }) => {
    let replaced = 0
    for (const { before, after } of values) {
      const row = this.#rows.get(rowIdText(before))
      if (row?.revision !== before.revision || row.value !== before.value) continue
      this.#rows.set(rowIdText(before), Object.freeze({ ...after }))
      replaced++
    }
    const byId = new Map(history.map((each) => [historyIdText(each.before), each]))
    this.#history = this.#history.map((row) => {
      const { before, after } = byId.get(historyIdText(row)) ?? {}
      if (!after || row.oldValue !== before?.oldValue || row.newValue !== before.newValue) return row
      replaced++
      return Object.freeze({ ...after })
    })
    return replaced
  }

  readonly trim: StorePort['trim'] = async ({ olderThan, perValue }) => {
    const seen = new Map<string, number>()
    const before = this.#history.length
    const kept = this.#history.toReversed().filter((row) => {
      const newer = seen.get(rowIdText(row)) ?? 0
      seen.set(rowIdText(row), newer + 1)
      return newer === 0 || (newer < perValue && row.at >= olderThan)
    })
    this.#history = kept.toReversed()
    return { removed: before - this.#history.length, isDone: true }
  }

  #open(): readonly StoredWindow[] {
    const open = [...this.#windows.values()].filter(({ state }) => state === 'open')
    return open.toSorted((a, b) => a.due - b.due)
  }

  #write(
    request: WriteRequest,
    of: (Revision & { readonly windows: readonly StoredWindow[] }) | { readonly of: Owner },
  ): WriteResult {
    checkWrite(request)
    const known = request.reads.flatMap((id) => this.#rows.get(rowIdText(id)) ?? [])
    const lastVersion = (id: RowId) =>
      this.#history.findLast((entry) => rowIdText(entry) === rowIdText(id))?.revision ?? 0
    const result = planWrite(request, { ...of, at: Date.now(), rows: known, lastVersion })
    for (const change of result.changes) {
      if (change.after) this.#rows.set(rowIdText(change), change.after)
      else this.#rows.delete(rowIdText(change))
      this.#history.push(Object.freeze(historyOf(change, request, result)))
    }
    return result
  }

  #erase(owner: Owner): Erased {
    const counts = this.#remove(isOf(owner))
    const [written, made] = owner.scope === SettingScope.User ? this.#forgetWriter(owner.id) : [0, 0]
    if (this.#written.delete(ownerText(owner)) || counts.values + written > 0)
      this.#note({ scope: SettingScope.User, id: '' })
    return { ...counts, mentions: written + made, isDone: true }
  }

  /** Returns how many rows and entries are gone. */
  #remove(isMeant: (row: RowId) => boolean): { readonly values: number; readonly history: number } {
    const rows = this.#select(isMeant)
    for (const row of rows) this.#rows.delete(rowIdText(row))
    const kept = this.#history.filter((row) => !isMeant(row))
    const history = this.#history.length - kept.length
    this.#history = kept
    return { values: rows.length, history }
  }

  /** Returns how many rows and entries named the user. */
  #forgetWriter(userId: string): readonly [rows: number, entries: number] {
    const written = this.#select((row) => row.updatedBy === userId)
    for (const row of written) this.#rows.set(rowIdText(row), Object.freeze({ ...row, updatedBy: null }))
    const made = this.#history.filter(({ actor }) => actor === userId).length
    this.#history = this.#history.map((row) =>
      row.actor === userId ? Object.freeze({ ...row, actor: null, note: null }) : row,
    )
    return [written.length, made]
  }

  #note(owner: Owner): void {
    this.#written.delete(ownerText(owner))
    this.#written.set(ownerText(owner), { owner, write: ++this.#writes })
  }

  #select(wanted: (row: StoredRow) => boolean): StoredRow[] {
    return [...this.#rows.values()].filter(wanted).toSorted(compareRowIds)
  }
}

function isShared({ scope }: RowId): boolean {
  return !isOwned(scope)
}

function isOf({ scope, id }: Owner): (row: RowId) => boolean {
  return (row) => row.scope === scope && row.owner === id
}

function ownerText({ scope, id }: Owner): string {
  return `${scope} ${id}`
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
