/** What one caller may see of the stream, kept while it runs: for one tab, or for all tabs of a browser. */
import type { StreamedSetting } from '../streams/audience.ts'
import type { Open, SettingsClient } from './client.ts'
import { type Connection, keepConnected, type News } from './connection.ts'
import type { StreamEvent } from './events.ts'
import { findTabs, type Tabs } from './page.ts'
import { SharingTab } from './shared-connection.ts'

export interface StreamInit {
  readonly client: Pick<SettingsClient, 'list' | 'mine' | 'publicValues'>
  readonly open: Open
  /** Public settings alone, for callers who are not signed in. */
  readonly isPublic: boolean
  /** The same for all tabs that may see the same; undefined while that is not known. */
  readonly name: string | undefined
  onState(state: NonNullable<News['state']>): void
}

export abstract class Stream implements Connection {
  readonly #init: StreamInit
  protected readonly settings = new Map<string, StreamedSetting>()
  /** Of the last event. Empty before the first one, which has everything. */
  #id = ''
  #running: AbortController | undefined
  readonly wakes = new EventTarget()
  readonly #tabs: Tabs | undefined

  constructor(init: StreamInit) {
    this.#init = init
    this.#tabs = init.name === undefined ? undefined : findTabs()
  }

  /** Called with settings of an event that are kept by then: all, or those that changed. @param revision 0 where values were polled */
  protected abstract onSettings(
    settings: readonly StreamedSetting[],
    isEverything: boolean,
    revision: number,
  ): void

  /** The caller's own values are to be read again. */
  protected abstract onOwn(): void

  /** Whether all tabs have one connection. */
  get isShared(): boolean {
    return this.#tabs !== undefined
  }

  /** Aborts when the stream stops. */
  protected get signal(): AbortSignal {
    return this.#running?.signal ?? AbortSignal.abort()
  }

  start(): void {
    if (this.#running) return
    this.#running = new AbortController()
    const { signal } = this.#running
    this.#init.onState('connecting')
    const { name } = this.#init
    if (this.#tabs && name) void new SharingTab(this.#tabs, `settings ${name}`, this, signal).join()
    else void keepConnected(this, signal)
  }

  /** What is known stays, so that the next start needs nothing but what has changed. */
  stop(): void {
    this.#running?.abort()
    this.#running = undefined
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
    if (this.settings.size === 0) return undefined
    return { id: this.#id, event: 'snapshot', data: JSON.stringify([...this.settings.values()]) }
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
    if (isEverything || (event === 'change' && this.#id)) {
      const settings: readonly StreamedSetting[] = JSON.parse(data)
      if (isEverything) this.settings.clear()
      for (const setting of settings) this.settings.set(setting.key, setting)
      this.onSettings(settings, isEverything, Number.parseInt(id ?? '', 10) || 0)
    }
    if (event === 'own') this.onOwn()
    this.#id = id ?? this.#id
  }
}
