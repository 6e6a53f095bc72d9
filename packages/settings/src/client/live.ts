/** @fastify-modular/settings/client/live: the client that is told of changes as they happen. */
import { keyOf, type SettingReference, type SettingToken } from '../definitions/tokens.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import type { StreamedSetting } from '../streams/audience.ts'
import type { PublicData } from '../streams/public-data.ts'
import { createSettingsClient, type SettingsClient } from './client.ts'
import { type LiveState, pause, wait } from './connection.ts'
import { currentPage } from './page.ts'
import type { CallOptions } from './request.ts'
import { type Follower, type FollowOptions, type Stream, streamOf, type Within } from './stream.ts'

export type { LiveState } from './connection.ts'

export interface LiveClientOptions extends Omit<FollowOptions, 'caller'> {
  /** The first values. @default those that `app.settings.publicDataElement` has written into the page */
  readonly data?: PublicData
}

export interface LiveClient extends SettingsClient {
  /**
   * Calls the listener with the value that holds for the caller, soon and whenever it changes; with null for a secret.
   * One stream carries everything that is watched on a page. Returns the function that stops it.
   */
  watch<T>(token: SettingToken<T>, listener: (value: T) => void): () => void
  watch(key: string, listener: (value: JsonValue) => void): () => void
  /** The value that listeners were called with last; undefined where none is known. The same object until it changes. */
  known<T>(token: SettingToken<T>): T | undefined
  known(key: string): JsonValue | undefined
  /** The value that the page began with; never changes. */
  first(key: string): JsonValue | undefined
  /** How values arrive. */
  readonly state: LiveState
  /** Calls the listener with each new `state`. Returns the function that stops it. */
  onState(listener: (state: LiveState) => void): () => void
}

/** A settings client that follows changes: `createLiveClient().watch(app.title, (title) => …)`. */
export function createLiveClient({ data = readData(), ...options }: LiveClientOptions = {}): LiveClient {
  const values = new LiveValues(options, data)
  return {
    ...values.client,
    watch: (reference: SettingReference, listener: (value: never) => void) =>
      values.watch(keyOf(reference), listener as Listener), // the caller vouches for the type
    known: (reference: SettingReference) => values.known(keyOf(reference)) as never,
    first: (key) => data.values[key],
    get state() {
      return values.state
    },
    onState: (listener) => values.states.add(listener),
  }
}

function readData(): PublicData {
  const text = currentPage()?.getElementById('settings-data')?.textContent
  return text ? (JSON.parse(text) as PublicData) : { caller: null, values: {} } // written by this package
}

type Listener = (value: JsonValue) => void

/** Without values while they are being read. */
interface OwnRead {
  values?: ReadonlyMap<string, JsonValue> | undefined
}

/** Called later, so that one that throws breaks nothing but itself; not after they were removed. */
class Listeners<T> {
  readonly #all = new Set<(value: T) => void>()

  get size(): number {
    return this.#all.size
  }

  /** One that is added twice is called twice. @param known what it is called with at first */
  add(callback: (value: T) => void, known?: T): () => void {
    const listener = (value: T): void => callback(value)
    this.#all.add(listener)
    if (known !== undefined) this.call(known, [listener])
    return () => this.#all.delete(listener)
  }

  call(value: T, listeners: Iterable<(value: T) => void> = this.#all): void {
    for (const listener of listeners) queueMicrotask(() => this.#all.has(listener) && listener(value))
  }
}

/** The values that hold for one caller: shared ones of the stream, and the caller's own, which are read beside it. */
class LiveValues implements Follower {
  state: LiveState = 'connecting'
  readonly states = new Listeners<LiveState>()
  readonly client: SettingsClient
  readonly #stream: Stream
  readonly #isPublic: boolean
  /** Whose values the page began with. */
  readonly #known: Pick<PublicData, 'caller' | 'tenant'>
  /** Whether there is a tenant whose values hold. */
  #hasTenant = false
  readonly #listeners = new Map<string, Listeners<JsonValue>>()
  readonly #values: Map<string, JsonValue>
  /** While anything is watched. */
  #watching: AbortController | undefined
  /** The last read of the caller's own values; undefined while there is none. */
  #own: OwnRead | undefined

  constructor(options: LiveClientOptions, { values, ...known }: PublicData) {
    const send: typeof fetch = async (...request) => {
      const response = await (options.fetch ?? fetch)(...request)
      // Where there is no stream, the page reads what was written.
      const isWrite = (request[1]?.method ?? 'GET') !== 'GET'
      if (response.ok && isWrite) this.#stream.wakes.dispatchEvent(new Event('look'))
      return response
    }
    this.client = createSettingsClient({ ...options, fetch: send })
    this.#stream = streamOf(options)
    this.#isPublic = options.public ?? false
    this.#known = known
    this.#values = new Map(Object.entries(values))
  }

  known(key: string): JsonValue | undefined {
    return this.#values.get(key)
  }

  watch(key: string, callback: Listener): () => void {
    const listeners = this.#listeners.get(key) ?? new Listeners()
    this.#listeners.set(key, listeners)
    const remove = listeners.add(callback, this.#values.get(key))
    if (this.#watching) {
      this.#stream.run()
      this.#publish(key)
    } else {
      this.#watching = new AbortController()
      const { caller, ...within } = this.#known
      const stop = this.#stream.add(this, { ...within, caller: caller ?? undefined })
      this.#watching.signal.addEventListener('abort', stop)
    }
    return () => {
      remove()
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key)
      if (this.#listeners.size > 0) return
      this.#watching?.abort()
      this.#watching = undefined
    }
  }

  onSettings(settings: readonly StreamedSetting[]): void {
    // What strangers read beside the stream does not say whether it is the tenant's.
    if (this.#isPublic && settings.some((setting) => this.#isOwn(setting))) this.#own = undefined
    for (const { key } of settings) this.#publish(key)
  }

  onOwn(_caller: string | undefined, { tenant }: Within): void {
    this.#hasTenant = typeof tenant === 'string'
    this.#own = undefined
    this.#publishOwn()
  }

  #publishOwn(): void {
    for (const setting of this.#stream.settings.values()) if (this.#isOwn(setting)) this.#publish(setting.key)
  }

  /** Whether a value may hold for the reader that is not in the stream. */
  #isOwn({ perUser = false, inherits = false }: StreamedSetting): boolean {
    return this.#isPublic ? inherits && this.#hasTenant : perUser || inherits
  }

  onState(state: LiveState | 'signed out'): void {
    if (state === 'connecting' || state === 'signed out') this.#own = undefined
    if (state === 'signed out') this.#values.clear()
    const shown = state === 'signed out' ? 'offline' : state
    if (this.state === shown) return
    this.state = shown
    this.states.call(shown)
  }

  /** Hands the value over, or reads it first where the stream leaves it out. */
  #publish(key: string): void {
    const setting = this.#stream.settings.get(key)
    if (!setting) return
    const isWatched = this.#listeners.has(key)
    const isOwn = this.#isOwn(setting)
    if (isOwn && !this.#own?.values) {
      if (!this.#own && isWatched) void this.#readOwn()
      return
    }
    const own = isOwn ? this.#own?.values?.get(key) : undefined
    const value = own === undefined ? setting.value : own
    if (value !== undefined) this.#take(key, value)
    else if (isWatched) void this.#readLong(setting)
  }

  #take(key: string, value: JsonValue): void {
    if (JSON.stringify(this.#values.get(key)) === JSON.stringify(value)) return
    this.#values.set(key, value)
    this.#listeners.get(key)?.call(value)
  }

  async #readOwn(): Promise<void> {
    const read: OwnRead = {}
    this.#own = read
    await Promise.resolve() // several events of one portion may say the same
    read.values = await this.#read(
      (call) => this.#readBeside(call),
      () => this.#own === read,
    )
    if (read.values) this.#publishOwn()
  }

  /** Of strangers what holds in the tenant; of callers what is theirs or the tenant's: the rest is in the stream. */
  async #readBeside(call: CallOptions): Promise<ReadonlyMap<string, JsonValue>> {
    if (this.#isPublic) return new Map(Object.entries(await this.client.publicValues(call)))
    const all = [...this.#stream.settings.values()].some(({ inherits }) => inherits)
    const rows = await this.client.mine({ ...call, ...(all && { all }) })
    return new Map(
      rows.flatMap(({ key, value, source }) =>
        source === 'user' || source === 'tenant' ? [[key, value]] : [],
      ),
    )
  }

  /** A secret is null. */
  async #readLong(setting: StreamedSetting): Promise<void> {
    const { client } = this
    const { settings } = this.#stream
    const { key, scope = SettingScope.Application, version = 0 } = setting
    const isNews = (): boolean => settings.get(key) === setting
    const value = await this.#read(async (call) => {
      if (this.#isPublic) return (await client.publicValues(call))[key] ?? null
      const got = await client.get(key, scope, call)
      // Else the instance that answered does not have it yet: a reset row has version 0, which every other one exceeds.
      const isCurrent = version === 0 ? got.version === 0 : got.version >= version
      return isCurrent ? got.value : undefined
    }, isNews)
    if (value === undefined) return
    settings.set(key, { ...setting, value })
    this.#publish(key)
  }

  /** Reads until there is something, and undefined as soon as it is no news any more. */
  async #read<T>(
    read: (call: { readonly signal: AbortSignal }) => Promise<T | undefined>,
    isNews: () => boolean,
  ): Promise<T | undefined> {
    const signal = this.#watching?.signal ?? AbortSignal.abort()
    while (isNews() && !signal.aborted) {
      const got = await read({ signal }).catch(() => undefined)
      if (!isNews() || signal.aborted) return undefined
      if (got !== undefined) return got
      await pause(wait.last, signal)
    }
    return undefined
  }
}
