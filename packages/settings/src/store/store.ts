/** The port between the settings service and a database. Every store passes `storeContract()` of the testing folder. */
import type { Tx } from '@fastify-modular/core'
import type { FastifyBaseLogger } from 'fastify'
import type { SettingScope } from '../setting-definition.ts'

/** Identifies one value. */
export interface RowId {
  readonly scope: SettingScope
  /** Empty for System and Application, never empty for User. */
  readonly userId: string
  readonly key: string
}

/** One stored value. */
export interface StoredRow extends RowId {
  /** Canonical JSON text, or a sealed envelope. */
  readonly value: string
  readonly sealed: boolean
  /** The revision that wrote the row: its version and ETag. */
  readonly revision: number
  /** Milliseconds since the epoch. */
  readonly updatedAt: number
  readonly updatedBy: string | null
}

/** What one write does to one row; `value: null` deletes it. */
export interface RowChange extends RowId {
  readonly value: string | null
  readonly sealed: boolean
}

/** One row of history: what a revision did to one value. `null` means unset. */
export interface HistoryRow extends RowId {
  readonly revision: number
  readonly oldValue: string | null
  readonly oldSealed: boolean
  readonly newValue: string | null
  readonly newSealed: boolean
  readonly origin: string
  readonly actor: string | null
  readonly requestId: string | null
  readonly note: string | null
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Identifies an entry of history, and its place: by revision, those of one revision in the order of their rows. */
export interface HistoryId extends RowId {
  readonly revision: number
}

/** A row as it was read, and the same with its texts sealed, or sealed under another key. */
export interface Resealed<T> {
  readonly before: T
  readonly after: T
}

/** Rows whose texts are replaced by others of the same meaning. */
export interface ResealRequest {
  readonly values: readonly Resealed<StoredRow>[]
  readonly history: readonly Resealed<HistoryRow>[]
}

/** The rows named in `WriteRequest.reads`, as they are under the write lock. */
export interface CurrentRows {
  /** The revision before this write. */
  readonly revision: number
  get(id: RowId): StoredRow | undefined
}

/** One atomic write. */
export interface WriteRequest {
  /** The actor, the origin and the reason: recorded in history. */
  readonly actor: string | null
  readonly origin: string
  readonly requestId?: string | null
  readonly note?: string | null
  /** The rows that `decide` looks at or changes. */
  readonly reads: readonly RowId[]
  /**
   * Decides, under the write lock, what to change; synchronous, because a transaction waits for it. Throwing writes
   * nothing, returning no change writes nothing; a change is written even if the row is like that already. The changes
   * are of distinct rows.
   */
  decide(current: CurrentRows): readonly RowChange[]
  /**
   * So many entries of history stay of each value that is written, the newest ones. What is beyond goes with this write
   * or with one of the next seven of the value; all stay without it.
   */
  readonly keepHistory?: number
  /** Runs inside the transaction after the rows are written: enqueues events. Throwing rolls back. */
  enqueue?(tx: Tx, written: WriteResult): void | Promise<void>
}

/** What a write did. Without changes `revision` is the one from before. */
export interface WriteResult {
  readonly revision: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly changes: readonly AppliedChange[]
}

/** A change with the rows before and after it. */
export interface AppliedChange extends RowId {
  readonly before: StoredRow | undefined
  readonly after: StoredRow | undefined
}

/** Selects history, newest first. */
export interface HistoryQuery {
  readonly key?: string
  readonly scope?: SettingScope
  readonly userId?: string
  readonly revision?: number
  /** Only entries of these keys. */
  readonly keys?: readonly string[]
  /** Only what this actor wrote. */
  readonly actor?: string
  /** Only entries of this time, in milliseconds since the epoch, and later. */
  readonly since?: number
  /** Only entries older than this revision. */
  readonly before?: number
  /** Only entries newer than this revision. */
  readonly after?: number
  /** Only entries that follow this one, which may be of the same revision: the next page. */
  readonly following?: HistoryId
  readonly limit: number
  /** Bytes of stored text, old and new values together, that the entries may have; the first one always comes. */
  readonly maxBytes?: number
}

/** Which history may go: what is older than `olderThan` (milliseconds since the epoch), or beyond `perValue` rows of one value. */
export interface HistoryRetention {
  readonly olderThan: number
  readonly perValue: number
}

/** Where a database stands. */
export interface StoreState {
  /** The number of the last committed write. */
  readonly revision: number
  /** When that revision was written, as its history has it, in milliseconds since the epoch; null without a trace. */
  readonly at: number | null
  /** The same of the revision that the caller knows. */
  readonly knownAt: number | null
  /** Differs when another database may stand in the place of this one: its server was started, its tables were made anew. */
  readonly epoch: string
}

/** What a store gets when it opens. */
export interface StoreContext {
  readonly log: FastifyBaseLogger
}

/** A database of settings. All methods reject when the database cannot answer; nothing is retried in silence. */
export interface SettingsStore {
  /** Shown in messages: `sqlite`, `postgres`, `memory`. */
  readonly name: string
  /** False if values are gone when the process ends. */
  readonly durable: boolean
  /** The kind of transaction that `WriteRequest.enqueue` receives. */
  readonly transactional: Tx['kind'] | false
  /** Connects and migrates. Called once, before any other method. */
  open(context: StoreContext): Promise<void>
  /** All System and Application rows, with the revision they belong to. */
  readShared(): Promise<{ readonly revision: number; readonly rows: readonly StoredRow[] }>
  /** All rows of one user. */
  readUser(userId: string): Promise<readonly StoredRow[]>
  /** One row, as the database has it now. */
  readRow(id: RowId): Promise<StoredRow | undefined>
  /** Where the database stands, and what has become of a revision that the caller knows. */
  readState(known: number): Promise<StoreState>
  /** Applies one write: lock, `decide`, rows sorted by their full id, history, `enqueue`, commit. */
  write(request: WriteRequest): Promise<WriteResult>
  /** Rows of history, newest first. */
  readHistory(query: HistoryQuery): Promise<readonly HistoryRow[]>
  /** All rows of all scopes in the order of (scope, userId, key), at most `limit`, those after `after`. */
  scan(after: RowId | null, limit: number): Promise<readonly StoredRow[]>
  /** All rows of history in the order of (revision, scope, userId, key), at most `limit`, those after `after`. */
  scanHistory(after: HistoryId | null, limit: number): Promise<readonly HistoryRow[]>
  /** Those of the keys of which the history keeps a text, old or new, that is not sealed. */
  findPlainHistory(keys: readonly string[]): Promise<readonly string[]>
  /**
   * Replaces stored texts in one transaction under the write lock. No value changes: no revision, no history, no
   * notification. A row that is not as it was read any more stays as it is. Returns how many rows were replaced.
   */
  reseal(rows: ResealRequest): Promise<number>
  /** Forgets history; returns how many rows. The newest row of each value stays whatever its age. */
  pruneHistory(retention: HistoryRetention): Promise<number>
  /**
   * Calls `onHint` when another process may have written: with the revision where the database sent it along, and at
   * intervals without one. `onLost` is called when hints will not arrive for a while. Absent where no other process can write.
   */
  watch?(onHint: (revision?: number) => void, onLost: (error: unknown) => void): Promise<() => Promise<void>>
  /** Releases what `open` took. Calling it twice is fine. */
  close(): Promise<void>
}
