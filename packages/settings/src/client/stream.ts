/**
 * The settings that one caller may see, kept up to date while the page is visible: one stream for all who follow on a page.
 * A frame has none: it follows what its parent does.
 */
import { SettingScope } from '../setting-definition.ts'
import type { StreamedSetting } from '../streams/audience.ts'
import { createSettingsClient } from './client.ts'
import { type Connection, keepConnected, type LiveState, pause } from './connection.ts'
import type { StreamEvent } from './events.ts'
import { currentPage, isVisible, onPage, parentOf } from './page.ts'
import { createOpen, type SettingsClientOptions } from './request.ts'

/** What is called with what the stream brings. */
export interface Follower {
  /**
   * Settings without `value` where that is secret or long: all that there are, or those that have changed.
   * @param revision of the newest change among all settings; 0 where values were polled
   */
  onSettings(settings: readonly StreamedSetting[], isEverything: boolean, revision: number): void
  /**
   * The caller's own values may have changed, or those of the tenant.
   * @param caller whose they are; undefined of strangers, and where values were polled
   */
  onOwn(caller: string | undefined, within: Within): void
  /**
   * How settings arrive from now on; called with `live` again at each sign of life. `signed out`: nothing that is known is the
   * reader's any more; where somebody else has signed in, or the caller works in another tenant, theirs follows.
   */
  onState(state: LiveState | 'signed out'): void
  /** Other changes wait to be kept than before. Also called after each connection while one waits. */
  onOpen?(): void
}

/** The tenant that values are of. */
export interface Within {
  /** Its id; null without one. Undefined where the server has none, and where values were polled. */
  readonly tenant?: string | null | undefined
  /** Whose values have changed; undefined of those that a connection begins with. */
  readonly changed?: 'user' | 'tenant'
}

/** Of whom a page knows values. */
interface Known extends Pick<Within, 'tenant'> {
  readonly caller?: string | undefined
}

export interface FollowOptions extends SettingsClientOptions {
  /** Follows public settings alone, which needs no signed-in caller. @default false */
  readonly public?: boolean
  /** The id of the caller that the page was made for, if that is known: what another one may see is not mixed with it. */
  readonly caller?: string | undefined
}

/**
 * Calls the follower, first with all settings, as long as the page is visible. All on a page share one stream, but for those
 * with `headers` or `fetch` of their own. Returns the function that stops it.
 */
export function followSettings(options: FollowOptions, follower: Follower): () => void {
  return streamOf(options).add(follower, { caller: options.caller })
}

/** Where the pages of an origin find streams. The number is that of what they call: other versions have their own. */
const registry = Symbol.for('@fastify-modular/settings/streams/1')

type Registry = Map<string, Stream>

/** The stream that clients with these options have in common, which they are not told apart by. */
export function streamOf(options: FollowOptions): Stream {
  const page = currentPage()
  if (!page || options.headers || options.fetch) return new Stream(options)
  const known: unknown = Reflect.get(globalThis, registry)
  const streams = (known as Registry | undefined) ?? new Map<string, Stream>() // by this symbol nothing else is kept
  Reflect.set(globalThis, registry, streams)
  const baseUrl = new URL(options.baseUrl ?? '/api/settings', page.baseURI).href.replace(/\/+$/, '')
  const name = nameOf({ ...options, baseUrl })
  const stream = streams.get(name) ?? new Stream({ ...options, baseUrl })
  streams.set(name, stream)
  return stream
}

function nameOf({ baseUrl, tenant = '', public: isPublic = false }: FollowOptions): string {
  return `${isPublic ? 'public' : 'caller'} ${baseUrl} ${tenant}`
}

/**
 * Milliseconds until values are read that a tenant has changed: all its members got the news at once. By the first of them other
 * instances have it, too.
 */
const spread = { least: 250, most: 3000 }

/** Milliseconds for which a stream stays when nobody follows: the next page of a router may follow the same. */
const linger = 1000

export class Stream implements Connection, Follower {
  readonly settings = new Map<string, StreamedSetting>()
  readonly wakes = new EventTarget()
  readonly #options: FollowOptions
  readonly #followers = new Set<Follower>()
  /** Of the last event. Empty before the first one, which has everything. */
  #id = ''
  #revision = 0
  /** Whose values are known, and in which tenant. */
  #caller: string | undefined
  #tenant: Within['tenant']
  /** Whether values are about to be read that the tenant has changed. */
  #isOwnDue = false
  /** When the page last wrote something. */
  #wrote = -Infinity
  #state: LiveState | 'signed out' = 'connecting'
  /** While somebody follows. */
  #followed: AbortController | undefined
  /** The same, but not while the page is hidden or away. */
  #running: AbortController | undefined

  constructor(options: FollowOptions) {
    this.#options = options
    this.wakes.addEventListener('look', () => (this.#wrote = Date.now()))
  }

  /** Calls the follower with what is known, and with all that comes. Returns the function that stops it. */
  add(follower: Follower, known: Known = {}): () => void {
    if (this.#isAnother(known)) follower.onState('signed out')
    this.#caller ??= known.caller
    if (this.#tenant === undefined) this.#tenant = known.tenant
    this.#followers.add(follower)
    this.#watchPage()
    this.run()
    follower.onState(this.#state)
    if (this.#state === 'live' || this.#state === 'polling') follower.onOwn(this.#caller, this.#within())
    if (this.settings.size > 0) follower.onSettings([...this.settings.values()], true, this.#revision)
    return () => {
      this.#followers.delete(follower)
      setTimeout(() => this.#followers.size === 0 && this.#stop(), linger)
    }
  }

  #watchPage(): void {
    if (this.#followed) return
    this.#followed = new AbortController()
    const { signal } = this.#followed
    // Browsers open six connections to a host with HTTP/1.1: those of hidden pages would be missed.
    onPage('visibilitychange', () => (isVisible() ? this.run() : this.#pause()), signal)
    onPage('pageshow', () => this.run(), signal)
    onPage('pagehide', () => this.#pause(), signal)
  }

  /** What is known stays, so that the next start needs nothing but what has changed. */
  #stop(): void {
    this.#followed?.abort()
    this.#followed = undefined
    this.#pause()
  }

  /** Begins, or begins again after somebody has signed out, unless the page is hidden. */
  run(): void {
    if (this.#running || !isVisible()) return
    this.#running = new AbortController()
    const { signal } = this.#running
    this.onState('connecting')
    const parent = this.#findParent()
    if (parent) signal.addEventListener('abort', parent.add(this))
    else void keepConnected(this, signal).then(() => signal.aborted || this.#pause())
  }

  #pause(): void {
    this.#running?.abort()
    this.#running = undefined
  }

  /** The stream of the page that this one is a frame of. One for callers has what is public, too. */
  #findParent(): Stream | undefined {
    try {
      const streams: unknown = Reflect.get(parentOf() ?? {}, registry)
      const names = [this.#options, { ...this.#options, public: false }].map((options) => nameOf(options))
      const found = names.map((name) => (streams as Registry | undefined)?.get(name))
      return found.find((stream) => stream?.isFollowed)
    } catch {
      return undefined // it is of another origin
    }
  }

  get isFollowed(): boolean {
    return this.#followed !== undefined
  }

  async open(signal: AbortSignal): Promise<Response> {
    if (parentOf()) {
      if (this.#findParent()) {
        this.#pause()
        this.run()
      }
      return new Response(null, { status: 404 })
    }
    const headers = { accept: 'text/event-stream', ...(this.#id && { 'last-event-id': this.#id }) }
    return createOpen(this.#options)(this.#options.public ? '/public/stream' : '/stream', { headers, signal })
  }

  async poll(signal: AbortSignal): Promise<void> {
    const settings = await this.#readAll(signal)
    this.#id = ''
    this.onSettings(settings, true, 0)
    this.onState('polling')
    this.onOwn(undefined, {})
  }

  /** @throws {Error} another caller has signed in, or works in another tenant: the next stream begins with everything */
  take({ id = this.#id, event, data }: StreamEvent, signal: AbortSignal): Promise<void> | undefined {
    if (event === 'read') return this.#takeRead(id, signal)
    if (event === 'own') this.#takeOwn(JSON.parse(data), signal)
    if (event === 'open') this.onOpen()
    const isEverything = event === 'snapshot'
    if (isEverything || (event === 'change' && this.#id))
      this.onSettings(JSON.parse(data), isEverything, Number.parseInt(id, 10) || 0)
    this.#id = id
    return undefined
  }

  /** @throws {Error} another caller has signed in, or works in another tenant */
  #takeOwn({ caller, ...within }: Within & { readonly caller: string | null }, signal: AbortSignal): void {
    const known = { caller: caller ?? undefined, tenant: within.tenant }
    const isAnother = this.#isAnother(known)
    if (within.changed === 'tenant' && !isAnother) return void this.#ownLater(signal)
    this.onOwn(known.caller, within)
    if (isAnother) throw new Error('Another caller has signed in, or works in another tenant.')
  }

  /** Soon where this page has written. What comes meanwhile is read with it. */
  async #ownLater(signal: AbortSignal): Promise<void> {
    if (this.#isOwnDue) return
    this.#isOwnDue = true
    const isWriter = Date.now() - this.#wrote < spread.most
    const milliseconds = isWriter ? 0 : spread.least + Math.random() * (spread.most - spread.least)
    await pause(milliseconds, signal, this.wakes)
    this.#isOwnDue = false
    // After a pause the next connection reads it.
    if (!signal.aborted) this.onOwn(this.#caller, this.#within('tenant'))
  }

  #within(changed?: Within['changed']): Within {
    return { ...(this.#tenant !== undefined && { tenant: this.#tenant }), ...(changed && { changed }) }
  }

  /** A snapshot that is long is read: as a list it is compressed, and may be known already. */
  async #takeRead(id: string, signal: AbortSignal): Promise<void> {
    const settings = await this.#readAll(signal, id)
    this.onSettings(settings, true, Number.parseInt(id, 10) || 0)
    this.#id = id
  }

  /** @param id of an event: no instance answers with what was before it */
  async #readAll(signal: AbortSignal, id?: string): Promise<readonly StreamedSetting[]> {
    const { headers, ...options } = this.#options
    const own = typeof headers === 'function' ? headers() : headers
    const client = createSettingsClient({
      ...options,
      headers: { ...own, ...(id && { 'last-event-id': id }) },
    })
    const isPublic = options.public
    const settings: readonly StreamedSetting[] = isPublic
      ? Object.entries(await client.publicValues({ signal })).map(([key, value]) => ({ key, value }))
      : await client.list({ signal })
    const mine = isPublic ? [] : await client.mine({ all: true, signal })
    const scopes = new Map(mine.map(({ key, scope }) => [key, scope]))
    signal.throwIfAborted()
    const isWithin = isPublic === true && typeof this.#tenant === 'string'
    return settings.map((setting) => ({
      ...setting,
      perUser: scopes.get(setting.key) === SettingScope.User,
      inherits: isWithin || scopes.has(setting.key),
    }))
  }

  onSettings(settings: readonly StreamedSetting[], isEverything: boolean, revision: number): void {
    if (isEverything) this.settings.clear()
    for (const setting of settings) this.settings.set(setting.key, setting)
    this.#revision = revision
    for (const follower of this.#followers) follower.onSettings(settings, isEverything, revision)
  }

  onOwn(caller: string | undefined, within: Within): void {
    const { tenant } = within
    if (this.#isAnother({ caller, tenant })) this.#forget()
    this.#caller = caller ?? this.#caller
    if (tenant !== undefined) this.#tenant = tenant
    for (const follower of this.#followers) follower.onOwn(caller, within)
  }

  onOpen(): void {
    for (const follower of this.#followers) follower.onOpen?.()
  }

  #isAnother({ caller, tenant }: Known): boolean {
    const isCaller = caller === undefined || this.#caller === undefined || caller === this.#caller
    return !isCaller || (tenant !== undefined && this.#tenant !== undefined && tenant !== this.#tenant)
  }

  /** The caller may come back: it begins again when somebody comes back to the page. */
  onState(state: LiveState | 'signed out'): void {
    if (state === 'signed out') return this.#forget()
    this.#state = state
    for (const follower of this.#followers) follower.onState(state)
  }

  #forget(): void {
    this.settings.clear()
    this.#id = ''
    this.#caller = undefined
    this.#tenant = undefined
    this.#state = 'signed out'
    for (const follower of this.#followers) follower.onState('signed out')
  }
}
