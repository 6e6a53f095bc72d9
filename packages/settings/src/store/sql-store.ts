/** What the stores in SQL databases do alike: every call goes to the statements of the open database. */
import { FMOD_SETTINGS_STORE_NOT_OPEN } from '../misuse-errors.ts'
import type { Maintenance } from './maintenance.ts'
import { canExist, checkWrite } from './plan-write.ts'
import type { SqlReads } from './reads.ts'
import {
  type Erased,
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
  readonly reads: SqlReads
  readonly writer: SqlWriter
  readonly maintenance: Maintenance
  /** Releases what opening took. */
  readonly release: () => Answer<void>
}

const nothingErased: Erased = { values: 0, history: 0, mentions: 0, isDone: true }

export abstract class SqlStore<Parts extends SqlParts> implements StorePort {
  readonly [isPort] = true
  abstract readonly info: StoreInfo
  protected parts: Parts | undefined
  readonly #watches = new Set<() => Answer<void>>()

  readonly shared: StorePort['shared'] = {
    read: () => this.read(({ reads }) => reads.shared()),
    news: (after, limit) => this.read(({ reads }) => reads.news(after, limit)),
    write: async (request) => {
      checkWrite(request)
      return this.write(({ writer }) => writer.shared(request))
    },
  }

  readonly owned: StorePort['owned'] = {
    read: (owner) => this.read(({ reads }) => (canExist(owner.id) ? reads.owned(owner) : [])),
    news: (since, limit) => this.read(({ reads }) => reads.ownerNews(since, limit)),
    write: async (owner, request) => {
      checkWrite(request)
      return this.write(({ writer }) => writer.owned(owner, request))
    },
    erase: (owner) =>
      this.write(({ maintenance }) => (canExist(owner.id) ? maintenance.erase(owner) : nothingErased)),
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
    return this.read(({ reads }) =>
      canExist(key, owner, actor, following?.key) ? reads.history(selection) : [],
    )
  }

  readonly scan: StorePort['scan'] = (what, after, limit) =>
    this.read(({ reads }) => reads.scan[what](after, limit))

  readonly survey: StorePort['survey'] = (query) => this.read(({ reads }) => reads.survey(query))

  readonly windows: StorePort['windows'] = (revision) => this.read(({ reads }) => reads.windows(revision))

  readonly reencrypt: StorePort['reencrypt'] = (rows) =>
    this.write(({ maintenance }) => maintenance.reencrypt(rows))

  readonly forget: StorePort['forget'] = (key, scopes) =>
    this.write(({ maintenance }) =>
      canExist(key) && scopes.length > 0
        ? maintenance.forget(key, scopes)
        : { values: 0, history: 0, isDone: true },
    )

  readonly trim: StorePort['trim'] = (limits) => this.write(({ maintenance }) => maintenance.trim(limits))

  /** Watches until the returned function is called; calling it twice is fine. */
  protected abstract startWatch(parts: Parts, watch: StoreWatch): Answer<() => Answer<void>>

  /** Rejects with what callers get for a failure of the driver. */
  protected abstract read<T>(task: (parts: Parts) => Answer<T>): Promise<T>

  /** The same; what the caller's own functions throw stays as it is. */
  protected abstract write<T>(task: (parts: Parts) => Answer<T>): Promise<T>

  /** @throws {FMOD_SETTINGS_STORE_NOT_OPEN} */
  protected opened(): Parts {
    if (!this.parts) throw new FMOD_SETTINGS_STORE_NOT_OPEN(this.info.name)
    return this.parts
  }
}
