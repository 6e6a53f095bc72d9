/** What the stores in SQL databases do alike: every call goes to the statements of the open database. */
import { errorCodes } from '../misuse-errors.ts'
import { erase, forget, reencrypt, trim } from './maintenance.ts'
import { canExist, checkWrite } from './plan-write.ts'
import {
  readHistory,
  readNews,
  readOrphans,
  readOwned,
  readOwnerNews,
  readPlainKeys,
  readShared,
  readWindows,
  scanHistory,
  scanValues,
} from './reads.ts'
import type { SqlEngine, Steps } from './statements.ts'
import {
  type Owner,
  type StorePort,
  type StoreContext,
  type StoreInfo,
  type StoreWatch,
  type WriteRequest,
  type WriteResult,
  isPort,
} from './store.ts'

/** Of a driver that answers at once, or of one that does not. */
type Answer<T> = T | Promise<T>

/** Requests were checked. */
export interface SqlWriter {
  shared(request: WriteRequest): Answer<WriteResult>
  owned(owner: Owner, request: WriteRequest): Answer<WriteResult>
}

/** A database that is open. */
export interface OpenDatabase {
  readonly engine: SqlEngine
  readonly writer: SqlWriter
  /** Rejects with what callers get for a failure of the driver. */
  readonly read: <T>(task: () => Answer<T>) => Promise<T>
  /** The same; what the caller's own functions throw stays as it is. */
  readonly write: <T>(task: () => Answer<T>) => Promise<T>
  /** Watches until the returned function is called; calling it twice is fine. */
  readonly watch: (watch: StoreWatch) => Answer<() => Answer<void>>
  /** Notifies other processes that an owner was erased, or may have been. */
  readonly announceErasure?: (owner: Owner) => void
  /** Releases what opening took. */
  readonly release: () => Answer<void>
}

/** What makes a store of a database. */
interface SqlStoreInit {
  readonly info: StoreInfo
  /** What it was made with. */
  readonly connection: unknown
  /** Connects and migrates. */
  readonly open: (context: StoreContext) => Promise<OpenDatabase>
}

const nothing = { values: 0, history: 0, isDone: true }

export class SqlStore implements StorePort {
  readonly [isPort] = true
  readonly info: StoreInfo
  readonly connection: unknown
  readonly #open: SqlStoreInit['open']
  #database: OpenDatabase | undefined
  readonly #watches = new Set<() => Answer<void>>()

  constructor({ info, connection, open }: SqlStoreInit) {
    this.info = info
    this.connection = connection
    this.#open = open
  }

  async open(context: StoreContext): Promise<void> {
    this.#database = await this.#open(context)
  }

  readonly shared: StorePort['shared'] = {
    read: () => this.#read(({ engine }) => readShared(engine)),
    news: (after, limit) => this.#read(({ engine }) => readNews(engine, after, limit)),
    write: async (request) => {
      checkWrite(request)
      return this.#write(({ writer }) => writer.shared(request))
    },
  }

  readonly owned: StorePort['owned'] = {
    read: (owner) => this.#read(({ engine }) => (canExist(owner.id) ? readOwned(engine, owner) : [])),
    news: (since, limit) => this.#read(({ engine }) => readOwnerNews(engine, since, limit)),
    write: async (owner, request) => {
      checkWrite(request)
      return this.#write(({ writer }) => writer.owned(owner, request))
    },
    erase: async (owner) => {
      if (!canExist(owner.id)) return { ...nothing, mentions: 0 }
      try {
        return await this.#transact((engine) => erase(engine, owner))
      } finally {
        this.#database?.announceErasure?.(owner)
      }
    },
  }

  async watch(watch: StoreWatch): Promise<() => Promise<void>> {
    const stop = await this.#opened().watch(watch)
    this.#watches.add(stop)
    return async () => {
      this.#watches.delete(stop)
      await stop()
    }
  }

  async close(): Promise<void> {
    const open = this.#database
    this.#database = undefined
    await Promise.all([...this.#watches].map(async (stop) => stop()))
    this.#watches.clear()
    await open?.release()
  }

  readonly history: StorePort['history'] = (query) => {
    const { key, keys, owner, actor, following } = query
    const selection = { ...query, keys: keys?.filter((each) => canExist(each)) }
    return this.#read(({ engine }) =>
      canExist(key, owner, actor, following?.key) ? readHistory(engine, selection) : [],
    )
  }

  readonly scan: StorePort['scan'] = {
    values: (after, limit) => this.#read(({ engine }) => scanValues(engine, after, limit)),
    history: (after, limit) => this.#read(({ engine }) => scanHistory(engine, after, limit)),
  }

  readonly orphans: StorePort['orphans'] = (known) => this.#read(({ engine }) => readOrphans(engine, known))

  readonly plainKeys: StorePort['plainKeys'] = (keys) =>
    this.#read(({ engine }) => readPlainKeys(engine, keys))

  readonly windows: StorePort['windows'] = (revision) =>
    this.#read(({ engine }) => readWindows(engine, revision))

  readonly reencrypt: StorePort['reencrypt'] = (rows) => this.#transact((engine) => reencrypt(engine, rows))

  readonly forget: StorePort['forget'] = async (key, scopes) =>
    canExist(key) && scopes.length > 0 ? this.#transact((engine) => forget(engine, key, scopes)) : nothing

  readonly trim: StorePort['trim'] = (limits) => this.#transact((engine) => trim(engine, limits))

  async #read<T>(task: (open: OpenDatabase) => Answer<T>): Promise<T> {
    const open = this.#opened()
    return open.read(() => task(open))
  }

  async #write<T>(task: (open: OpenDatabase) => Answer<T>): Promise<T> {
    const open = this.#opened()
    return open.write(() => task(open))
  }

  #transact<T>(begin: (engine: SqlEngine) => Steps<T>): Promise<T> {
    return this.#write(({ engine }) => engine.transact(() => begin(engine)))
  }

  /** @throws {FMOD_SETTINGS_STORE_NOT_OPEN} */
  #opened(): OpenDatabase {
    if (!this.#database) throw new errorCodes.FMOD_SETTINGS_STORE_NOT_OPEN(this.info.name)
    return this.#database
  }
}
