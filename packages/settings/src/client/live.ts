/** @fastify-modular/settings/client/live: the client that is told of changes as they happen. */
import type { SettingToken } from '../definitions/tokens.ts'
import type { JsonValue } from '../setting-definition.ts'
import {
  createOpen,
  createSettingsClient,
  type SettingsClient,
  type SettingsClientOptions,
} from './client.ts'
import type { LiveState } from './connection.ts'
import { Feed } from './feed.ts'
import { isVisible, onPage } from './page.ts'

export type { LiveState } from './connection.ts'

export interface LiveClientOptions extends SettingsClientOptions {
  /** Follows public settings alone, which needs no signed-in caller. @default false */
  readonly public?: boolean
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
  /** How values arrive. */
  readonly state: LiveState
}

/** A settings client that follows changes: `createLiveClient().watch(app.title, (title) => …)`. */
export function createLiveClient(options: LiveClientOptions = {}): LiveClient {
  const client = createSettingsClient(options)
  const live = new Live(client, options)
  return {
    ...client,
    watch: (reference: Reference, listener: (value: never) => void) =>
      live.watch(keyOf(reference), listener as Listener), // the caller vouches for the type
    known: (reference: Reference) => live.known(keyOf(reference)) as never,
    get state() {
      return live.state
    },
  }
}

type Reference = string | { readonly key: string }

type Listener = (value: JsonValue) => void

function keyOf(reference: Reference): string {
  return typeof reference === 'string' ? reference : reference.key
}

/** Milliseconds for which the stream stays when nothing is watched: the next page of a router may watch the same. */
const linger = 1000

class Live {
  state: LiveState = 'connecting'
  readonly #client: SettingsClient
  readonly #options: LiveClientOptions
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #values = new Map<string, JsonValue>()
  #feed: Feed | undefined

  constructor(client: SettingsClient, options: LiveClientOptions) {
    this.#client = client
    this.#options = options
    const update = (): void => (isVisible() ? this.#start() : this.#feed?.stop())
    onPage('visibilitychange', update)
    onPage('pageshow', update)
    onPage('pagehide', () => this.#feed?.stop())
  }

  known(key: string): JsonValue | undefined {
    return this.#values.get(key)
  }

  watch(key: string, callback: Listener): () => void {
    const listener: Listener = (value) => callback(value) // one that is passed twice is called twice
    const listeners = this.#listeners.get(key) ?? new Set()
    this.#listeners.set(key, listeners.add(listener))
    const known = this.#values.get(key)
    if (known !== undefined) this.#call(key, listener, known)
    this.#feed?.publish(key)
    if (isVisible()) this.#start()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key)
      setTimeout(() => this.#listeners.size === 0 && this.#feed?.stop(), linger)
    }
  }

  #start(): void {
    if (this.#listeners.size === 0) return
    this.#feed ??= this.#createFeed()
    this.#feed.start()
  }

  #createFeed(): Feed {
    return new Feed({
      client: this.#client,
      open: createOpen(this.#options),
      isPublic: this.#options.public ?? false,
      isWatched: (key) => this.#listeners.has(key),
      onValue: (key, value) => this.#take(key, value),
      onState: (state) => (this.state = state),
      onSignedOut: () => this.#forget(),
    })
  }

  #take(key: string, value: JsonValue): void {
    if (JSON.stringify(this.#values.get(key)) === JSON.stringify(value)) return
    this.#values.set(key, value)
    for (const listener of this.#listeners.get(key) ?? []) this.#call(key, listener, value)
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
    this.state = 'offline'
  }
}
