/** The values that hold for one caller, kept up to date while the feed runs: rows of the stream, and the caller's own values. */
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import type { StreamedSetting } from '../streams/audience.ts'
import type { SettingsClient } from './client.ts'
import { pause, wait } from './connection.ts'
import { Stream, type StreamInit } from './stream.ts'

export interface FeedInit extends StreamInit {
  readonly client: Pick<SettingsClient, 'list' | 'get' | 'mine' | 'publicValues'>
  /** Whether somebody wants the values of a key. */
  isWatched(key: string): boolean
  /** Called with each value that may be a new one. */
  onValue(key: string, value: JsonValue): void
}

export class Feed extends Stream {
  readonly #init: FeedInit
  /** The caller's own values; undefined while they are not known. */
  #own: ReadonlyMap<string, JsonValue> | undefined
  #ownRead: AbortController | undefined

  constructor(init: FeedInit) {
    super(init)
    this.#init = init
  }

  override stop(): void {
    super.stop()
    this.#forgetOwn()
  }

  protected onSettings(settings: readonly StreamedSetting[]): void {
    for (const { key } of settings) this.publish(key)
  }

  protected onOwn(): void {
    this.#forgetOwn()
    for (const { key, perUser } of this.settings.values()) if (perUser) this.publish(key)
  }

  /** Hands the value over, or reads it first where the stream leaves it out. */
  publish(key: string): void {
    const setting = this.settings.get(key)
    if (!setting) return
    if (setting.perUser && !this.#own) {
      if (!this.#ownRead && this.#init.isWatched(key)) void this.#readOwn()
      return
    }
    const value = this.#own?.get(key) ?? setting.value
    if (value !== undefined) this.#init.onValue(key, value)
    else if (this.#init.isWatched(key)) void this.#readLong(setting)
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
    const { signal } = this
    const isNews = (): boolean => this.settings.get(key) === setting && !signal.aborted
    while (isNews()) {
      const got = await (
        isPublic
          ? client.publicValues({ signal }).then((values) => ({ value: values[key] ?? null, version }))
          : client.get(key, scope, { signal })
      ).catch(() => undefined)
      if (!isNews()) return
      if (got && got.version >= version) {
        this.settings.set(key, { ...setting, value: got.value })
        return this.publish(key)
      }
      await pause(wait.last, signal) // the instance that answered does not have it yet
    }
  }
}
