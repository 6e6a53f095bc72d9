/** Reads definitions and values, and lets no answer replace a later one, nor what was written since it was asked for. */
import type { EditorStore } from './editor-store.ts'
import { noKeys, withValues } from './editor-state.ts'
import type { SettingValue } from './setting.ts'
import { type SettingsSource, toFailure } from './source.ts'

export class Reading {
  readonly #store: EditorStore
  readonly #source: SettingsSource
  /** Reads begun; the answers to those up to `#lastRead` come too late. */
  #reads = 0
  #lastRead = 0
  #lastLoad = 0

  constructor(store: EditorStore, source: SettingsSource) {
    this.#store = store
    this.#source = source
  }

  async load(): Promise<void> {
    const read = ++this.#reads
    this.#lastLoad = read
    this.#store.update({ phase: 'loading', failure: null })
    try {
      const [all, values] = await Promise.all([this.#source.definitions(), this.#source.values()])
      if (read !== this.#lastLoad) return
      const hidden = all.filter((each) => each.hidden)
      this.#store.update({ definitions: all.filter((each) => !each.hidden), hidden })
      this.#take(read, values)
      this.#store.update({ phase: 'ready' })
    } catch (error) {
      if (read === this.#lastLoad) this.#store.update({ phase: 'failed', failure: toFailure(error) })
    }
  }

  /** Loads what other users have saved meanwhile. A failure is ignored: the next action reports it. */
  async refresh(): Promise<void> {
    const { phase, saving } = this.#store.getState()
    if (phase !== 'ready' || saving.size > 0) return
    const read = ++this.#reads
    try {
      this.#take(read, await this.#source.values())
    } catch {
      // as said
    }
  }

  /** Makes a request that writes these keys: what is read meanwhile may be older than its answer. */
  async write<T>(keys: readonly string[], request: () => Promise<T>): Promise<T> {
    this.#store.update({ saving: new Set(keys) })
    this.#lastRead = this.#reads
    try {
      return await request()
    } finally {
      this.#lastRead = this.#reads
      this.#store.update({ saving: noKeys })
    }
  }

  #take(read: number, values: readonly SettingValue[]): void {
    if (read <= this.#lastRead) return
    this.#lastRead = read
    this.#store.update(withValues(this.#store.getState(), values))
  }
}
