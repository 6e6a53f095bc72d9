/** What one caller may see, kept up to date while the feed runs: rows of the stream, and the caller's own values. */
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import type { StreamedSetting } from '../streams/audience.ts'
import type { Open, SettingsClient } from './client.ts'
import { type Connection, keepConnected, type News, pause, wait } from './connection.ts'
import type { StreamEvent } from './events.ts'
import { findTabs, type Tabs } from './page.ts'
import { SharingTab } from './shared-connection.ts'

export interface FeedInit {
  readonly client: Pick<SettingsClient, 'list' | 'get' | 'mine' | 'publicValues'>
  readonly open: Open
  /** Public settings alone, for callers who are not signed in. */
  readonly isPublic: boolean
  /** The same for all tabs that may see the same; undefined while that is not known. */
  readonly name: string | undefined
  /** Whether somebody wants the values of a key. */
  isWatched(key: string): boolean
  /** Called with each value that may be a new one. */
  onValue(key: string, value: JsonValue): void
  onState(state: NonNullable<News['state']>): void
}

export class Feed implements Connection {
  readonly #init: FeedInit
  readonly #settings = new Map<string, StreamedSetting>()
  /** The caller's own values; undefined while they are not known. */
  #own: ReadonlyMap<string, JsonValue> | undefined
  #ownRead: AbortController | undefined
  /** Of the last event. Empty before the first one, which has everything. */
  #id = ''
  #running: AbortController | undefined
  readonly wakes = new EventTarget()
  readonly #tabs: Tabs | undefined

  constructor(init: FeedInit) {
    this.#init = init
    this.#tabs = init.name === undefined ? undefined : findTabs()
  }

  /** Whether all tabs have one connection. */
  get isShared(): boolean {
    return this.#tabs !== undefined
  }

  start(): void {
    if (this.#running) return
    this.#running = new AbortController()
    const { signal } = this.#running
    this.#init.onState('connecting')
    const { name } = this.#init
    if (this.#tabs && name) void new SharingTab(this.#tabs, name, this, signal).join()
    else void keepConnected(this, signal)
  }

  /** What is known stays, so that the next start needs nothing but what has changed. */
  stop(): void {
    this.#running?.abort()
    this.#running = undefined
    this.#forgetOwn()
  }

  open(signal: AbortSignal): Promise<Response> {
    const headers = { accept: 'text/event-stream', ...(this.#id && { 'last-event-id': this.#id }) }
    return this.#init.open(this.#init.isPublic ? '/public/stream' : '/stream', { headers, signal })
  }

  async poll(signal: AbortSignal): Promise<StreamEvent> {
    const { client, isPublic } = this.#init
    const settings: StreamedSetting[] = isPublic
      ? Object.entries(await client.publicValues({ signal })).map(([key, value]) => ({ key, value }))
      : await client.list({ signal })
    const perUser = new Set((isPublic ? [] : await client.mine({ signal })).map(({ key }) => key))
    const marked = settings.map((setting) =>
      perUser.has(setting.key) ? { ...setting, perUser: true } : setting,
    )
    return { id: '', event: 'snapshot', data: JSON.stringify(marked) }
  }

  /** Everything that is known, for a tab that joins; undefined while nothing is. */
  snapshot(): StreamEvent | undefined {
    if (this.#settings.size === 0) return undefined
    return { id: this.#id, event: 'snapshot', data: JSON.stringify([...this.#settings.values()]) }
  }

  take({ event, state }: News): void {
    if (event) this.#takeEvent(event)
    if (state) this.#init.onState(state)
  }

  /** Something was written, which a stream would show: reads without one. */
  look(): void {
    this.wakes.dispatchEvent(new Event('look'))
  }

  #takeEvent({ id, event, data }: StreamEvent): void {
    const isEverything = event === 'snapshot'
    if (isEverything || (event === 'change' && this.#id)) this.#takeSettings(JSON.parse(data), isEverything)
    if (event === 'own') {
      this.#forgetOwn()
      for (const { key, perUser } of this.#settings.values()) if (perUser) this.publish(key)
    }
    this.#id = id ?? this.#id
  }

  /** Hands the value over, or reads it first where the stream leaves it out. */
  publish(key: string): void {
    const setting = this.#settings.get(key)
    if (!setting) return
    if (setting.perUser && !this.#own) {
      if (!this.#ownRead && this.#init.isWatched(key)) void this.#readOwn()
      return
    }
    const value = this.#own?.get(key) ?? setting.value
    if (value !== undefined) this.#init.onValue(key, value)
    else if (this.#init.isWatched(key)) void this.#readLong(setting)
  }

  #takeSettings(settings: readonly StreamedSetting[], isEverything: boolean): void {
    const before = new Map(this.#settings)
    if (isEverything) this.#settings.clear()
    for (const setting of settings) {
      const known = before.get(setting.key)
      this.#settings.set(setting.key, known && isWithout(known, setting) ? known : setting)
    }
    for (const { key } of settings) this.publish(key)
  }

  #forgetOwn(): void {
    this.#own = undefined
    this.#ownRead?.abort()
    this.#ownRead = undefined
  }

  async #readOwn(): Promise<void> {
    this.#ownRead = new AbortController()
    const { signal } = this.#ownRead
    await Promise.resolve() // several events of one portion may say the same
    while (!signal.aborted) {
      const mine = await this.#init.client.mine({ signal }).catch(() => undefined)
      if (signal.aborted) return
      if (!mine) {
        await pause(wait.last, signal)
        continue
      }
      this.#own = new Map(
        mine.flatMap(({ key, value, isOverridden }) => (isOverridden ? [[key, value]] : [])),
      )
      for (const { key } of mine) this.publish(key)
      return
    }
  }

  /** A secret is null. */
  async #readLong(setting: StreamedSetting): Promise<void> {
    const { client, isPublic } = this.#init
    const { key, scope = SettingScope.Application, version = 0 } = setting
    const signal = this.#running?.signal ?? AbortSignal.abort()
    const isNews = (): boolean => this.#settings.get(key) === setting && !signal.aborted
    while (isNews()) {
      const got = await (
        isPublic
          ? client.publicValues({ signal }).then((values) => ({ value: values[key] ?? null, version }))
          : client.get(key, scope, { signal })
      ).catch(() => undefined)
      if (!isNews()) return
      if (got && got.version >= version) {
        this.#settings.set(key, { ...setting, value: got.value })
        return this.publish(key)
      }
      await pause(wait.last, signal) // the instance that answered does not have it yet
    }
  }
}

/** Whether a stored row is one that is known, but for its long value, which was read already. */
function isWithout(known: StreamedSetting, setting: StreamedSetting): boolean {
  const { value, ...rest } = known
  return value !== undefined && Boolean(setting.version) && JSON.stringify(rest) === JSON.stringify(setting)
}
