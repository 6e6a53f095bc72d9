/** @fastify-modular/settings/client/live: the client that is told of changes as they happen. */
import type { SettingToken } from '../definitions/tokens.ts'
import type { JsonValue } from '../setting-definition.ts'
import type { PublicData } from '../streams/caller-tags.ts'
import {
  createOpen,
  createSettingsClient,
  type SettingsClient,
  type SettingsClientOptions,
} from './client.ts'
import type { LiveState } from './connection.ts'
import { Feed } from './feed.ts'
import { currentPage, findTabs, isVisible, onPage } from './page.ts'

export type { LiveState } from './connection.ts'
export { type Follower, followSettings, type FollowOptions } from './follow.ts'
export type { StreamedSetting } from '../streams/audience.ts'
export type { PublicData } from '../streams/caller-tags.ts'

export interface LiveClientOptions extends SettingsClientOptions {
  /** Follows public settings alone, which needs no signed-in caller. @default false */
  readonly public?: boolean
  /** The first values. @default those that `app.settings.publicData` has written into the page */
  readonly data?: PublicData
}

export interface LiveClient extends SettingsClient {
  /**
   * Calls the listener with the value that holds for the caller, soon and whenever it changes; with null for a secret.
   * One stream carries everything that is watched. Returns the function that stops it.
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
export function createLiveClient(options: LiveClientOptions = {}): LiveClient {
  const data = options.data ?? readData()
  const fetchTagged: typeof fetch = async (...args) => {
    const response = await (options.fetch ?? fetch)(...args)
    const tag = response.headers.get('settings-tag')
    if (tag !== null) live.meet(tag)
    if (response.ok && (args[1]?.method ?? 'GET') !== 'GET') live.look()
    return response
  }
  const tagged = { ...options, fetch: fetchTagged }
  const client = createSettingsClient(tagged)
  const live = new Live(client, { ...tagged, data })
  return {
    ...client,
    watch: (reference: Reference, listener: (value: never) => void) =>
      live.watch(keyOf(reference), listener as Listener), // the caller vouches for the type
    known: (reference: Reference) => live.known(keyOf(reference)) as never,
    first: (key) => data.values[key],
    get state() {
      return live.state
    },
    onState: (listener) => live.onState(listener),
  }
}

function readData(): PublicData {
  const text = currentPage()?.getElementById('settings-data')?.textContent
  return text ? (JSON.parse(text) as PublicData) : { tag: null, values: {} } // written by this package
}

type Reference = string | { readonly key: string }

type Listener = (value: JsonValue) => void

function keyOf(reference: Reference): string {
  return typeof reference === 'string' ? reference : reference.key
}

/** Milliseconds. A tag that another one follows so soon means nothing: each answer has its own. */
const tagLife = 1000

/** Milliseconds for which the stream stays when nothing is watched: the next page of a router may watch the same. */
const linger = 1000

class Live {
  state: LiveState = 'connecting'
  readonly #client: SettingsClient
  readonly #options: LiveClientOptions & { readonly data: PublicData }
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #stateListeners = new Set<{ readonly call: (state: LiveState) => void }>()
  readonly #values: Map<string, JsonValue>
  #feed: Feed | undefined
  /** Names caller and session; null while that is not known, undefined where it means nothing. */
  #tag: string | null | undefined
  #tagged = -tagLife

  constructor(client: SettingsClient, options: LiveClientOptions & { readonly data: PublicData }) {
    this.#client = client
    this.#options = options
    this.#values = new Map(Object.entries(options.data.values))
    this.#tag = options.data.tag
    onPage('visibilitychange', () => {
      if (isVisible()) this.#start()
      else if (!this.#feed?.isShared) this.#feed?.stop()
    })
    onPage('pageshow', () => this.#start())
    // Else the browser keeps the page with its lock, and no other tab could lead.
    onPage('pagehide', () => this.#feed?.stop())
  }

  known(key: string): JsonValue | undefined {
    return this.#values.get(key)
  }

  onState(call: (state: LiveState) => void): () => void {
    const listener = { call }
    this.#stateListeners.add(listener)
    return () => this.#stateListeners.delete(listener)
  }

  watch(key: string, callback: Listener): () => void {
    const listener: Listener = (value) => callback(value) // one that is passed twice is called twice
    const listeners = this.#listeners.get(key) ?? new Set()
    this.#listeners.set(key, listeners.add(listener))
    const known = this.#values.get(key)
    if (known !== undefined) this.#call(key, listener, known)
    this.#feed?.publish(key)
    this.#start()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key)
      setTimeout(() => this.#listeners.size === 0 && this.#feed?.stop(), linger)
    }
  }

  #start(): void {
    if (this.#listeners.size === 0) return
    this.#feed ??= this.#createFeed()
    if (this.#feed.isShared || isVisible()) this.#feed.start()
  }

  /** Each answer says whose it is: nothing of one caller is kept for another. */
  meet(tag: string): void {
    if (this.#options.public || this.#tag === undefined || this.#tag === tag) return
    if (this.#tag === null && !findTabs()) {
      this.#tag = tag
      return
    }
    const now = performance.now() // the clock of the wall may go back
    const isStable = now - this.#tagged > tagLife
    this.#tagged = now
    this.#tag = isStable ? tag : undefined
    this.#forget()
    this.#start()
  }

  /** The client has written something. */
  look(): void {
    this.#feed?.look()
  }

  #createFeed(): Feed {
    return new Feed({
      client: this.#client,
      open: createOpen(this.#options),
      isPublic: this.#options.public ?? false,
      name: (this.#options.public ? 'public' : this.#tag) ?? undefined,
      isWatched: (key) => this.#listeners.has(key),
      onValue: (key, value) => this.#take(key, value),
      onState: (state) => (state === 'signed out' ? this.#forget() : this.#setState(state)),
    })
  }

  #take(key: string, value: JsonValue): void {
    if (JSON.stringify(this.#values.get(key)) === JSON.stringify(value)) return
    this.#values.set(key, value)
    for (const listener of this.#listeners.get(key) ?? []) this.#call(key, listener, value)
  }

  #setState(state: LiveState): void {
    if (this.state === state) return
    this.state = state
    for (const listener of this.#stateListeners)
      queueMicrotask(() => this.#stateListeners.has(listener) && listener.call(state))
  }

  /** Later, so that a listener that throws breaks nothing but itself. */
  #call(key: string, listener: Listener, value: JsonValue): void {
    queueMicrotask(() => {
      if (this.#listeners.get(key)?.has(listener)) listener(value)
    })
  }

  /** Nothing of a caller who is gone is kept. */
  #forget(): void {
    this.#feed?.stop()
    this.#feed = undefined
    this.#values.clear()
    this.#setState('offline')
  }
}
