/** What the stores in SQL databases do alike: every call goes to the statements of the open database. */
import { FMOD_SETTINGS_STORE_NOT_OPEN } from '../misuse-errors.ts'
import { erase, forget, reencrypt, trim } from './maintenance.ts'
import { canExist, checkWrite } from './plan-write.ts'
import {
  readHistory,
  readNews,
  readOwned,
  readOwnerNews,
  readShared,
  readWindows,
  scanHistory,
  scanValues,
  survey,
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
export interface SqlParts {
  readonly engine: SqlEngine
  readonly writer: SqlWriter
  /** Notifies other processes that an owner was erased, or may have been. */
  readonly announceErasure?: (owner: Owner) => void
  /** Releases what opening took. */
  readonly release: () => Answer<void>
}

const nothing = { values: 0, history: 0, isDone: true }

export abstract class SqlStore<Parts extends SqlParts> implements StorePort {
  readonly [isPort] = true
  abstract readonly info: StoreInfo
  protected parts: Parts | undefined
  readonly #watches = new Set<() => Answer<void>>()

  readonly shared: StorePort['shared'] = {
    read: () => this.read(({ engine }) => readShared(engine)),
    news: (after, limit) => this.read(({ engine }) => readNews(engine, after, limit)),
    write: async (request) => {
      checkWrite(request)
      return this.write(({ writer }) => writer.shared(request))
    },
  }

  readonly owned: StorePort['owned'] = {
    read: (owner) => this.read(({ engine }) => (canExist(owner.id) ? readOwned(engine, owner) : [])),
    news: (since, limit) => this.read(({ engine }) => readOwnerNews(engine, since, limit)),
    write: async (owner, request) => {
      checkWrite(request)
      return this.write(({ writer }) => writer.owned(owner, request))
    },
    erase: async (owner) => {
      if (!canExist(owner.id)) return { ...nothing, mentions: 0 }
      try {
        return await this.#transact((engine) => erase(engine, owner))
      } finally {
        this.parts?.announceErasure?.(owner)
      }
    },
  }

  abstract open(context: StoreContext): Promise<void>

  async watch(watch: StoreWatch): Promise<() => Promise<void>> {
    const stop = await this.startWatch(this.opened(), watch)
    this.#watches.add(stop)
    return async () => {
      this.#watches.delete(stop)
      await stop()
    }
  }

  async close(): Promise<void> {
    const open = this.parts
    this.parts = undefined
    await Promise.all([...this.#watches].map(async (stop) => stop()))
    this.#watches.clear()
    await open?.release()
  }

  readonly history: StorePort['history'] = (query) => {
    const { key, keys, owner, actor, following } = query
    const selection = { ...query, keys: keys?.filter((each) => canExist(each)) }
    return this.read(({ engine }) =>
      canExist(key, owner, actor, following?.key) ? readHistory(engine, selection) : [],
    )
  }

  readonly scan: StorePort['scan'] = {
    values: (after, limit) => this.read(({ engine }) => scanValues(engine, after, limit)),
    history: (after, limit) => this.read(({ engine }) => scanHistory(engine, after, limit)),
  }

  readonly survey: StorePort['survey'] = (query) => this.read(({ engine }) => survey(engine, query))

  readonly windows: StorePort['windows'] = (revision) =>
    this.read(({ engine }) => readWindows(engine, revision))

  readonly reencrypt: StorePort['reencrypt'] = (rows) => this.#transact((engine) => reencrypt(engine, rows))

  readonly forget: StorePort['forget'] = async (key, scopes) =>
    canExist(key) && scopes.length > 0 ? this.#transact((engine) => forget(engine, key, scopes)) : nothing

  readonly trim: StorePort['trim'] = (limits) => this.#transact((engine) => trim(engine, limits))

  /** Watches until the returned function is called; calling it twice is fine. */
  protected abstract startWatch(parts: Parts, watch: StoreWatch): Answer<() => Answer<void>>

  /** Rejects with what callers get for a failure of the driver. */
  protected abstract read<T>(task: (parts: Parts) => Answer<T>): Promise<T>

  /** The same; what the caller's own functions throw stays as it is. */
  protected abstract write<T>(task: (parts: Parts) => Answer<T>): Promise<T>

  #transact<T>(begin: (engine: SqlEngine) => Steps<T>): Promise<T> {
    return this.write(({ engine }) => engine.transact(() => begin(engine)))
  }

  /** @throws {FMOD_SETTINGS_STORE_NOT_OPEN} */
  protected opened(): Parts {
    if (!this.parts) throw new FMOD_SETTINGS_STORE_NOT_OPEN(this.info.name)
    return this.parts
  }
}
