/**
 * The port between the settings service and a database. Every store passes `storeContract()` of the testing folder.
 *
 * There are two number lines. **The revision** orders System and Application changes: it counts their writes, one after
 * the other, and is the version of the rows that they write. **A row that belongs to somebody**, a user or a tenant, has
 * versions of its own: each one is the larger of the version before plus one and the milliseconds of the database's clock.
 * Where no row is, the version before is that of the value's newest entry of history, which is never trimmed. Writes of
 * such rows leave the revision alone, and those of different owners need not wait for each other.
 */
import { createHash } from 'node:crypto'
import { ServiceUnavailableException, type Tx } from '@fastify-modular/core'
import { safeRead } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import type { OwnedScope, SettingScope } from '../setting-definition.ts'
import type { Revision } from './revision.ts'
import type { StoredWindow } from './windows.ts'

/** Whose rows: a user and a tenant may have the same id. */
export interface Owner {
  readonly scope: OwnedScope
  readonly id: string
}

/** Identifies one value. */
export interface RowId {
  readonly scope: SettingScope
  /** The id of its owner: empty for System and Application, never empty for User and Tenant. */
  readonly owner: string
  readonly key: string
}

/** One stored value. */
export interface StoredRow extends RowId {
  /** Canonical JSON text, or an encrypted envelope. */
  readonly value: string
  readonly encrypted: boolean
  /** Its version, and its ETag: the revision that wrote it; of a row with an owner a version of its own. */
  readonly revision: number
  /** Milliseconds since the epoch. */
  readonly updatedAt: number
  readonly updatedBy: string | null
}

/** What one write does to one row; `value: null` deletes it. */
export interface RowChange extends RowId {
  readonly value: string | null
  readonly encrypted: boolean
}

/** One row of history: what a write did to one value. `null` means unset. */
export interface HistoryRow extends RowId {
  /** The version that the row got. */
  readonly revision: number
  /** Of the revision; empty for rows with an owner. */
  readonly token: string
  readonly oldValue: string | null
  readonly oldEncrypted: boolean
  readonly newValue: string | null
  readonly newEncrypted: boolean
  readonly origin: string
  readonly actor: string | null
  readonly requestId: string | null
  readonly note: string | null
  /** How many entries the write made: those that are missing were trimmed. */
  readonly setSize: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Identifies an entry of history. */
export interface HistoryId extends RowId {
  readonly revision: number
}

/** The place of an entry of history: those of an owner are in the order of time, all others in that of revisions. */
export interface HistoryPlace extends HistoryId {
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A row as it was read, and the same with its texts encrypted, or encrypted under another key. */
export interface Reencrypted<T> {
  readonly before: T
  readonly after: T
}

/** Rows whose texts are replaced by others of the same meaning. */
export interface ReencryptRequest {
  readonly values: readonly Reencrypted<StoredRow>[]
  readonly history: readonly Reencrypted<HistoryRow>[]
}

/** The rows named in `WriteRequest.reads`, as they are under the write lock. */
export interface CurrentRows extends Revision {
  /** The revision before this write; 0 where the write is of an owner's rows, which does not look at it. */
  readonly revision: number
  get(id: RowId): StoredRow | undefined
  /** Milliseconds since the epoch, by the clock of the database. */
  readonly at: number
  /** The open windows, where the request has `window`. */
  readonly windows: readonly StoredWindow[]
  /** Of a row that is missing: the version of the value's newest entry of history, which is its removal, or 0. */
  lastVersion(id: RowId): number
}

/** One atomic write, either of System and Application rows or of those of one owner. */
export interface WriteRequest {
  /** The actor, the origin and the reason: recorded in history. */
  readonly actor: string | null
  readonly origin: string
  readonly requestId?: string | null
  readonly note?: string | null
  /** The rows that `decide` looks at or changes; those that only another write can change are read as they are, not locked. */
  readonly reads: readonly RowId[]
  /**
   * Decides, under the write lock, what to change; synchronous, because a transaction waits for it. Throwing writes
   * nothing, returning no change writes nothing; a change is written even if the row is like that already. The changes
   * are of distinct rows.
   */
  decide(current: CurrentRows): readonly RowChange[]
  /**
   * Of System and Application rows: decides, after `decide`, which window is saved in the same transaction, also where no row
   * changes.
   */
  window?(result: WriteResult): StoredWindow | undefined
  /** Runs inside the transaction after the rows are written: enqueues events. Throwing rolls back. */
  enqueue?(tx: Tx, written: WriteResult): void | Promise<void>
}

/** What a write did. */
export interface WriteResult {
  /** Of the revision; empty where the write is of an owner's rows. */
  readonly token: string
  /** After a write of System and Application rows, with or without changes; 0 where the write is of an owner's rows. */
  readonly revision: number
  /** Milliseconds since the epoch, by the clock of the database. */
  readonly at: number
  readonly changes: readonly AppliedChange[]
}

/** A change with the rows before and after it. */
export interface AppliedChange extends RowId {
  /** The version that the row got, or that its deletion has in the history. */
  readonly revision: number
  readonly before: StoredRow | undefined
  readonly after: StoredRow | undefined
}

/**
 * Selects history, newest first: that of one owner by time and version, or that of System and Application by revision, the
 * entries of one revision by row.
 */
export interface HistoryQuery {
  /** Without it, or empty: System and Application. */
  readonly owner?: string | undefined
  readonly key?: string | undefined
  /** System or Application alone; together with `owner` that of the owner, or nothing is found. */
  readonly scope?: SettingScope | undefined
  readonly revision?: number | undefined
  /** Only entries of these keys. */
  readonly keys?: readonly string[] | undefined
  /** Only what this actor wrote. */
  readonly actor?: string | undefined
  /** Only entries of this time, in milliseconds since the epoch, and later. */
  readonly since?: number | undefined
  /** Only entries that follow this one, which may be of the same revision: the next page. */
  readonly following?: HistoryPlace | undefined
  readonly limit: number
  /** Bytes of stored text, old and new values together, that the entries may have; the first one always comes. */
  readonly maxBytes?: number | undefined
}

/** How much history is kept of each value. The newest entry of each one always is. */
export interface TrimLimits {
  /** Entries before this time go; milliseconds since the epoch. */
  readonly olderThan: number
  /** So many of the newest entries of a value stay. */
  readonly perValue: number
}

/** What a portion of trimming did. */
export interface TrimResult {
  /** Entries of history that are gone. */
  readonly removed: number
  /** False if another portion is needed. */
  readonly isDone: boolean
}

/** Where a database stands, and what has happened to System and Application values; all of one moment. */
export interface StoreNews extends Revision {
  /** The number of the last committed write of System and Application values. */
  readonly revision: number
  /** The token of the revision that was asked about; null where the history has no entry of it. */
  readonly knownToken: string | null
  /** When the first open window is due; null where none is open. */
  readonly due: number | null
  /** Oldest first. */
  readonly changes: readonly HistoryRow[]
}

/** Owners whose values have changed. */
export interface OwnerNews {
  /** For the next question. It means something to the store alone. */
  readonly next: string
  /** Each one at least once; an empty id stands for one that was erased, or for any: the mark is of another database. */
  readonly owners: readonly Owner[]
}

/** What a portion of erasing an owner removed. */
export interface Erased {
  /** Values. */
  readonly values: number
  /** Entries of the history of these values. */
  readonly history: number
  /** Other values and entries of history that named the user as their writer; entries lost their note, too. Of a tenant 0. */
  readonly mentions: number
  /** Whether another call is needed. */
  readonly isDone: boolean
}

/** Called by a store that other processes may write to. */
export interface StoreWatch {
  /** Another process may have written: the revision where the database sent it along, nothing when it is time to look. */
  onHint(revision?: Revision): void
  /** Another process wrote values of the owners with these `ownerHash`es; of any owner without them. */
  onOwners(hashes?: readonly string[]): void
  /** What other processes write is not announced for a while; hints without a revision may still come. */
  onLost(error: unknown): void
}

/** What a store gets when it opens. */
export interface StoreContext {
  readonly log: FastifyBaseLogger
}

/** What a store is, before it opens. */
export interface StoreInfo {
  /** Shown in messages: `sqlite`, `postgres`, `memory`. */
  readonly name: string
  /** False if values are gone when the process ends. */
  readonly durable: boolean
  /** The kind of transaction that `WriteRequest.enqueue` receives. */
  readonly transactional: Tx['kind'] | false
}

/** System and Application rows, which belong to nobody. */
export interface SharedStore {
  /** All rows and the revision, of one moment. */
  read(): Promise<Revision & { readonly rows: readonly StoredRow[] }>
  /**
   * Where the database stands, and what changed after a revision: at most `limit` changes, the newest ones. Called for
   * every hint: it should be one query.
   */
  news(after: number, limit: number): Promise<StoreNews>
  /**
   * Applies one write: lock, `decide`, rows sorted by their full id, history, `enqueue`, commit. Other processes are
   * notified after the commit, never in its transaction.
   */
  write(request: WriteRequest): Promise<WriteResult>
}

/** Rows of users and of tenants. */
export interface OwnedStore {
  /** All rows of one owner. */
  read(owner: Owner): Promise<readonly StoredRow[]>
  /**
   * Owners whose values were changed since an earlier `next`, at most `limit` of them; those of a write that commits
   * later than another one with a higher version too. Without `since` only `next` is wanted.
   */
  news(since: string | undefined, limit: number): Promise<OwnerNews>
  /** The same as of shared rows, of the rows of one owner. All others that it reads are read as they are, not locked. */
  write(owner: Owner, request: WriteRequest): Promise<WriteResult>
  /**
   * Removes one portion of an owner: values and their history; of a user also the name where it stands for the writer of
   * anything else, with the note. One transaction, of which a write of the owner's rows is wholly before or wholly after.
   * The other processes forget the owner.
   */
  erase(owner: Owner): Promise<Erased>
}

/** Returns at most `limit` rows in the order of their places, those after `after`. */
type Scan<Row, Place> = (after: Place | null, limit: number) => Promise<readonly Row[]>

/** The mark of stores. It is registered, because a package manager may install the package twice. */
export const isPort: unique symbol = Symbol.for('@fastify-modular/settings-store')

/** Where settings are stored: `memoryStore`, `sqlite` and `postgres` return one for the option `store`. */
export interface SettingsStore {
  readonly [isPort]: true
}

/** The inside of a store. */
export function portOf(store: SettingsStore): StorePort {
  if (!hasPort(store)) throw new TypeError('Not a store of settings.')
  return store
}

export function hasPort(store: unknown): store is StorePort {
  return safeRead(store, isPort) === true
}

/** A database of settings. All methods reject when the database cannot answer; nothing is retried in silence. */
export interface StorePort extends SettingsStore {
  readonly info: StoreInfo
  /** The connection, pool or connection string that it was made with; absent where it has no transactions. */
  readonly connection?: unknown
  readonly shared: SharedStore
  readonly owned: OwnedStore
  /** Connects and migrates. Called once, before any other method. */
  open(context: StoreContext): Promise<void>
  /** Rows of history, newest first. */
  history(query: HistoryQuery): Promise<readonly HistoryRow[]>
  readonly scan: {
    /** All rows of all scopes in the order of (scope, owner, key). */
    readonly values: Scan<StoredRow, RowId>
    /** All rows of history in the order of (revision, scope, owner, key). */
    readonly history: Scan<HistoryRow, HistoryId>
  }
  /** Counts the rows of all keys and scopes but these, by scope and key. Known rows are not visited. */
  orphans(known: readonly Pick<RowId, 'scope' | 'key'>[]): Promise<readonly KeyCount[]>
  /** Of these keys, those of which the history keeps a text, old or new, that is not encrypted. */
  plainKeys(keys: readonly string[]): Promise<readonly string[]>
  /** The open windows, or that of a revision, whatever became of it; and the time of the database. */
  windows(revision?: number): Promise<{ readonly at: number; readonly windows: readonly StoredWindow[] }>
  /**
   * Replaces stored texts in one transaction under the write lock. No value changes: no version, no history, no
   * notification. A row that is not as it was read any more stays as it is. Returns how many rows were replaced.
   */
  reencrypt(rows: ReencryptRequest): Promise<number>
  /**
   * Removes a portion of history: at most 500 entries, of what is older than the limit, and of values that were written
   * since the portions before. How far they came is in the database, so that each entry is looked at once or twice,
   * whoever trims; portions of several processes take turns.
   */
  trim(limits: TrimLimits): Promise<TrimResult>
  /**
   * Removes one portion of what is stored for a key in these scopes, and its history. The other processes forget all owners.
   * One transaction.
   */
  forget(key: string, scopes: readonly SettingScope[]): Promise<Omit<Erased, 'mentions'>>
  /** Watches for writes of other processes until the returned function is called. Absent where no other process can write. */
  watch?(watch: StoreWatch): Promise<() => Promise<void>>
  /** Releases what `open` took. Calling it twice is fine. */
  close(): Promise<void>
}

/** 503 of a database that answers: so many writes wait for it that this one gave up its place. Nothing was written. */
export class TooManyWritesException extends ServiceUnavailableException {
  constructor() {
    super('Too many writes wait for the settings database.', 1)
  }
}

/** How many rows a key has in a scope; in User scope one for each user with a value, in Tenant scope for each tenant. */
export interface KeyCount {
  readonly key: string
  readonly scope: SettingScope
  readonly rows: number
}

/** A short name of an owner for notifications: 8 bytes of a hash. */
export function ownerHash({ scope, id }: Owner): string {
  return createHash('sha256').update(`${scope} ${id}`).digest('base64url').slice(0, 11)
}
