/** The state of a page, and what it reads: no answer replaces a later one, nor what was written since it was asked for. */
import { type EditorState, initialState, type OpenDialog, withValues } from './editor-state.ts'
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
  /** Whether what others save arrives without being read. */
  isLive = false
  /** Reads which changes wait to be kept; what follows others replaces it. */
  readOpen: () => Promise<void> = async () => undefined

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
      if (read > this.#lastRead) {
        this.#lastRead = read
        this.arrive((state) => withValues(state, values))
      }
      this.update({ phase: 'ready' })
    } catch (error) {
      if (read === this.#lastLoad) this.update({ phase: 'failed', failure: toFailure(error) })
    }
  }

  /** Says whether the page is of another organisation than the one in which its reader works now: then it shows and writes nothing. */
  setElsewhere(isElsewhere: boolean): void {
    if (isElsewhere === (this.#state.phase === 'elsewhere')) return
    if (!isElsewhere) return void this.load()
    this.#lastRead = this.#lastLoad = ++this.#reads
    this.update({ phase: 'elsewhere', failure: null, message: null })
  }

  /** Loads what other users have saved meanwhile. */
  async refresh(): Promise<void> {
    const values = await this.read()
    if (values) this.arrive((state) => withValues(state, values))
  }

  /** Values as they are now, for what follows in the same turn; undefined where it is known better, or cannot be known. */
  async read(): Promise<readonly SettingValue[] | undefined> {
    const { phase, saving } = this.#state
    if (phase !== 'ready' || saving.size > 0) return undefined
    const read = ++this.#reads
    // The next action reports a failure.
    const values = await this.source.values().catch(() => undefined)
    if (!values || read <= this.#lastRead) return undefined
    this.#lastRead = read
    return values
  }

  /** Takes what has come from elsewhere. */
  arrive(change: (state: EditorState) => EditorState): void {
    this.update(change(this.#state))
  }

  /** Has a sentence read out. */
  announce(text: string): void {
    this.update({ announcement: { text } })
  }

  /** Puts the focus on a setting of the page, wherever it is. */
  reveal(key: string): void {
    this.update({ focus: { key, isSought: true } })
  }

  /** Opens a dialog over the page, or closes the one that is open. */
  open(dialog: OpenDialog | null): void {
    this.update({ dialog })
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
      this.update({ saving: initialState.saving })
    }
  }
}
