/** The state of a page, and what it reads: no answer replaces a later one, nor what was written since it was asked for. */
import { type EditorState, initialState, noKeys, withValues } from './editor-state.ts'
import type { SettingValue } from './setting.ts'
import { type SettingsSource, toFailure } from './source.ts'

export class EditorStore {
  protected readonly source: SettingsSource
  #state = initialState
  readonly #listeners = new Set<() => void>()
  /** Reads begun; the answers to those up to `#lastRead` come too late. */
  #reads = 0
  #lastRead = 0
  #lastLoad = 0

  constructor(source: SettingsSource) {
    this.source = source
  }

  get state(): EditorState {
    return this.#state
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Replaces parts of the state. */
  protected update(part: Partial<EditorState>): void {
    this.#state = { ...this.#state, ...part }
    for (const listener of this.#listeners) listener()
  }

  async load(): Promise<void> {
    const read = ++this.#reads
    this.#lastLoad = read
    this.update({ phase: 'loading', failure: null })
    try {
      const [all, values] = await Promise.all([this.source.definitions(), this.source.values()])
      if (read !== this.#lastLoad) return
      const byKey = new Map(all.map((definition) => [definition.key, definition]))
      this.update({ definitions: all.filter(({ hidden }) => !hidden), byKey })
      this.#take(read, values)
      this.update({ phase: 'ready' })
    } catch (error) {
      if (read === this.#lastLoad) this.update({ phase: 'failed', failure: toFailure(error) })
    }
  }

  /** Loads what other users have saved meanwhile. A failure is ignored: the next action reports it. */
  async refresh(): Promise<void> {
    const { phase, saving } = this.#state
    if (phase !== 'ready' || saving.size > 0) return
    const read = ++this.#reads
    try {
      this.#take(read, await this.source.values())
    } catch {
      // as said
    }
  }

  preview(preview: EditorState['preview']): void {
    this.update({ preview })
  }

  /** Learns of which values the reader has one of their own. */
  readOwn(): void {
    this.update({ own: null })
    this.source.own?.().then(
      (own) => this.update({ own }),
      () => undefined,
    )
  }

  /** Makes a request that writes these keys: what is read meanwhile may be older than its answer. */
  protected async write<T>(keys: readonly string[], request: () => Promise<T>): Promise<T> {
    this.update({ saving: new Set(keys) })
    this.#lastRead = this.#reads
    try {
      return await request()
    } finally {
      this.#lastRead = this.#reads
      this.update({ saving: noKeys })
    }
  }

  #take(read: number, values: readonly SettingValue[]): void {
    if (read <= this.#lastRead) return
    this.#lastRead = read
    this.update(withValues(this.#state, values))
  }
}
