/** The settings that one caller may see, kept up to date: by a connection of this tab, or by one of all tabs of a browser. */
import type { StreamedSetting } from '../streams/audience.ts'
import {
  createOpen,
  createSettingsClient,
  type Open,
  type SettingsClient,
  type SettingsClientOptions,
} from './client.ts'
import { type Connection, keepConnected, type LiveState, type News } from './connection.ts'
import type { StreamEvent } from './events.ts'
import { findTabs, isVisible, onPage, type Tabs } from './page.ts'
import { SharingTab } from './shared-connection.ts'

/** What is called with what the stream brings. */
export interface Follower {
  /**
   * Settings without `value` where that is secret or long: all that there are, or those that have changed.
   * @param revision of the newest change among all settings; 0 where values were polled
   */
  onSettings(settings: readonly StreamedSetting[], isEverything: boolean, revision: number): void
  /** The caller's own values may have changed. */
  onOwn(): void
  /** How settings arrive from now on; called with `live` again at each sign of life. */
  onState(state: LiveState | 'signed out'): void
}

export interface FollowOptions extends SettingsClientOptions {
  /** Follows public settings alone, which needs no signed-in caller. @default false */
  readonly public?: boolean
  /** The `settings-tag` of the API's answers: tabs with the same one share a stream. Null while it is not known. */
  readonly tag: string | null
}

/** Calls the follower, first with all settings, as long as the page is open. Returns the function that stops it. */
export function followSettings(options: FollowOptions, follower: Follower): () => void {
  const stream = new Stream(options, follower)
  stream.start()
  return () => stream.stop()
}

/** Milliseconds. A tag that another one follows so soon means nothing: each answer has its own. */
const tagLife = 1000

export class Stream implements Connection {
  /** Its answers say whose they are. */
  readonly client: SettingsClient
  readonly settings = new Map<string, StreamedSetting>()
  readonly wakes = new EventTarget()
  readonly #options: FollowOptions
  readonly #follower: Follower
  readonly #open: Open
  /** Names caller and session; null while that is not known, undefined where it means nothing. */
  #tag: string | null | undefined
  #tagged = -tagLife
  /** Of the last event. Empty before the first one, which has everything. */
  #id = ''
  /** From `start` to `stop`. */
  #wanted: AbortController | undefined
  /** The same, but not while the page is away. */
  #running: AbortController | undefined

  constructor(options: FollowOptions, follower: Follower) {
    const send: typeof fetch = async (...request) => {
      const response = await (options.fetch ?? fetch)(...request)
      const met = response.headers.get('settings-tag')
      if (met !== null) this.#meet(met)
      return response
    }
    const access = { ...options, fetch: send }
    this.client = createSettingsClient(access)
    this.#open = createOpen(access)
    this.#options = options
    this.#follower = follower
    this.#tag = options.public ? 'public' : options.tag
  }

  /** Aborts when it stops. */
  get signal(): AbortSignal {
    return this.#wanted?.signal ?? AbortSignal.abort()
  }

  start(): void {
    if (!this.#wanted) {
      this.#wanted = new AbortController()
      const { signal } = this.#wanted
      onPage('visibilitychange', () => (isVisible() ? this.#run() : this.#tabs || this.#pause()), signal)
      onPage('pageshow', () => this.#run(), signal)
      // Else the browser keeps the page with its lock, and no other tab could lead.
      onPage('pagehide', () => this.#pause(), signal)
    }
    this.#run()
  }

  /** What is known stays, so that the next start needs nothing but what has changed. */
  stop(): void {
    this.#wanted?.abort()
    this.#wanted = undefined
    this.#pause()
  }

  open(signal: AbortSignal): Promise<Response> {
    const headers = { accept: 'text/event-stream', ...(this.#id && { 'last-event-id': this.#id }) }
    return this.#open(this.#options.public ? '/public/stream' : '/stream', { headers, signal })
  }

  async poll(signal: AbortSignal): Promise<StreamEvent> {
    const { client } = this
    const isPublic = this.#options.public
    const settings: readonly StreamedSetting[] = isPublic
      ? Object.entries(await client.publicValues({ signal })).map(([key, value]) => ({ key, value }))
      : await client.list({ signal })
    const perUser = new Set(isPublic ? [] : (await client.mine({ signal })).map(({ key }) => key))
    const marked = settings.map((setting) => ({ ...setting, perUser: perUser.has(setting.key) }))
    return { id: '', event: 'snapshot', data: JSON.stringify(marked) }
  }

  snapshot(): StreamEvent | undefined {
    if (this.settings.size === 0) return undefined
    return { id: this.#id, event: 'snapshot', data: JSON.stringify([...this.settings.values()]) }
  }

  take({ event, state }: News): void {
    if (event) this.#takeEvent(event)
    if (state === 'signed out') this.#forget() // it begins again when somebody comes back to the page
    else if (state) this.#follower.onState(state)
  }

  /** Where pages share a stream. */
  get #tabs(): Tabs | undefined {
    return this.#tag ? findTabs() : undefined
  }

  #run(): void {
    const tabs = this.#tabs
    if (this.#running || (!tabs && !isVisible())) return
    this.#running = new AbortController()
    const { signal } = this.#running
    this.#follower.onState('connecting')
    const { baseUrl = '' } = this.#options // other applications may have the same origin
    if (tabs) void new SharingTab(tabs, `settings ${this.#tag} ${baseUrl}`, this, signal).join()
    else void keepConnected({ connection: this, take: (news) => this.take(news), signal })
  }

  #pause(): void {
    this.#running?.abort()
    this.#running = undefined
  }

  /** Nothing of one caller is kept for another, nor told to the tabs of the one before. */
  #meet(tag: string): void {
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
    if (this.#wanted) this.#run()
  }

  #forget(): void {
    this.#pause()
    this.settings.clear()
    this.#id = ''
    this.#follower.onState('signed out')
  }

  #takeEvent({ id, event, data }: StreamEvent): void {
    const isEverything = event === 'snapshot'
    if (isEverything || (event === 'change' && this.#id)) {
      const settings: readonly StreamedSetting[] = JSON.parse(data)
      if (isEverything) this.settings.clear()
      for (const setting of settings) this.settings.set(setting.key, setting)
      this.#follower.onSettings(settings, isEverything, Number.parseInt(id ?? '', 10) || 0)
    }
    if (event === 'own') this.#follower.onOwn()
    this.#id = id ?? this.#id
  }
}
