/** What others have changed, on its way into the rows: read where the stream leaves it out, held back where it would disturb, named, and said. */
import { type SettingsClient, SettingsRequestError } from '@fastify-modular/settings/client'
import type { Follower, StreamedSetting } from '@fastify-modular/settings/client/internal'
import { format, plural } from '../../texts/messages.ts'
import type { SettingsEditor } from '../model/editor.ts'
import { justNow, newestOf, tinted, toArrival, withNews, withOlderNews } from '../model/news.ts'
import { isSameJson, type SettingValue } from '../model/setting.ts'
import type { Access } from '../model/source.ts'
import type { PageContext } from '../page-context.ts'

interface ArrivalsInit {
  readonly page: () => Pick<
    PageContext,
    'messages' | 'locale' | 'canUpdate' | 'callerId' | 'tenant' | 'preview' | 'readLook'
  >
  readonly api: Pick<SettingsClient, 'get' | 'changes'>
  readonly access: Pick<Access, 'isOthers'>
  readonly editor: SettingsEditor
  /** Whether a change of this row would disturb nobody now. */
  readonly mayShow: (key: string) => boolean
  /** Called with the keys of what somebody else has changed. */
  readonly onShown: (keys: readonly string[]) => void
  /** Called when other changes may wait to be kept than before. */
  readonly onOpen: () => void
  /** Has a sentence read out. */
  readonly say: (text: string) => void
}

/** Milliseconds between two sentences. */
const silence = 10_000

/** Milliseconds until an instance that does not have a long value yet is asked again, and how often it is. */
const retry = 2000
const retries = 5

export class Arrivals implements Follower {
  readonly #init: ArrivalsInit
  readonly #waiting = new Map<string, SettingValue>()
  /** Who has changed what, since the last sentence. */
  readonly #unsaid = new Map<string, string | null>()
  #said = -Infinity
  #isSaying = false
  /** The versions of what shows around the page, by key. */
  readonly #around = new Map<string, number | undefined>()
  /** Own values are to be read, when nothing is being saved. */
  #isOwnDue = false
  #isStopped = false
  /** Whose page it is. */
  #caller: string | undefined
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()
  /** Of the last sign of life. */
  #alive = Date.now()

  constructor(init: ArrivalsInit) {
    this.#init = init
  }

  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#init.editor.isLive = false
    if (this.#init.editor.state.stale !== null) this.#setStale(null)
  }

  onState(state: Parameters<Follower['onState']>[0]): void {
    const { editor } = this.#init
    if (state === 'connecting') return
    editor.isLive = state === 'live'
    if (state === 'offline') return this.onNetwork(false)
    if (state === 'polling') this.onOpen()
    if (state !== 'signed out') this.#alive = Date.now()
    // Of an ended session the next action says so.
    this.onNetwork(globalThis.navigator?.onLine !== false)
  }

  /** Whether the server can be reached: the browser knows of its network before a stream breaks off. */
  onNetwork(isThere: boolean): void {
    const { editor, page } = this.#init
    const { messages, locale } = page()
    if (isThere === (editor.state.stale === null)) return
    const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short' }).format(this.#alive)
    this.#setStale(isThere ? null : format(messages.offlineShowing, { time }))
    if (isThere) editor.comeBack()
  }

  #setStale(stale: string | null): void {
    this.#init.editor.arrive((state) => ({
      ...state,
      stale,
      ...(stale && { announcement: { text: stale } }),
    }))
  }

  onOpen(): void {
    this.#init.onOpen()
  }

  onOwn(caller?: string, { tenant }: Partial<Parameters<Follower['onOwn']>[1]> = {}): void {
    const { page, access, editor } = this.#init
    if (tenant !== undefined && !editor.isShared) editor.setElsewhere(tenant !== (page().tenant?.id ?? null))
    if (caller !== undefined) {
      this.#caller ??= page().callerId ?? caller
      const isOthers = caller !== this.#caller
      // Drafts wait for whoever has entered them.
      if (isOthers !== access.isOthers)
        editor.arrive((state) => ({ ...state, failure: isOthers ? new SettingsRequestError(401, {}) : null }))
      access.isOthers = isOthers
    }
    this.#isOwnDue = !editor.isShared
    queueMicrotask(this.show) // several events of one portion may say the same
  }

  onSettings(settings: readonly StreamedSetting[], isEverything: boolean, revision: number): void {
    if (this.#init.access.isOthers) return
    this.#followLook(settings)
    const { editor } = this.#init
    if (editor.isShared) this.#take(settings, isEverything ? 0 : revision)
    else if (settings.some(({ key }) => editor.state.values.has(key))) this.onOwn()
  }

  /** Once for all that comes together; after what was written from here, the page asks without this. */
  #followLook(settings: readonly StreamedSetting[]): void {
    const { page, editor } = this.#init
    const { preview, readLook } = page()
    const changed = settings.filter(({ key, version }) => {
      if (!Object.hasOwn(preview, key)) return false
      const isNew = this.#around.has(key) && this.#around.get(key) !== version
      this.#around.set(key, version)
      const isOurs = editor.state.saving.has(key) || newestOf(editor.state, key)?.version === version
      return isNew && !isOurs
    })
    if (changed.length > 0) readLook()
  }

  /** Shows what may be shown by now. */
  readonly show = (): void => {
    const { editor, mayShow } = this.#init
    if (editor.state.saving.size > 0) return
    if (this.#isOwnDue) void this.#readOwn()
    const ready = [...this.#waiting.values()].filter(({ key }) => mayShow(key))
    if (ready.length === 0) return
    for (const { key } of ready) this.#waiting.delete(key)
    this.#show(ready)
  }

  #take(settings: readonly StreamedSetting[], revision: number): void {
    const { editor, page } = this.#init
    const resets: SettingValue[] = []
    for (const row of settings) {
      const { key } = row
      const known = this.#waiting.get(key) ?? newestOf(editor.state, key)
      if (!known) continue
      const isSecret = editor.state.byKey.get(key)?.sensitive === true
      const arrival = toArrival(known, row, { revision, isSecret })
      if (!arrival) continue
      const { value, isLong } = arrival
      if (isLong) void this.#readLong(value)
      else if (value.version === 0 && known.version > 0 && page().canUpdate) resets.push(value)
      else this.#waiting.set(key, value)
    }
    this.show()
    if (resets.length > 0) void this.#takeResets(resets)
  }

  /** A value that is gone does not say who took it away: the history does. */
  async #takeResets(resets: readonly SettingValue[]): Promise<void> {
    const actors = await this.#readActors()
    for (const value of resets) {
      const known = this.#waiting.get(value.key)
      if (!known?.version)
        this.#waiting.set(value.key, { ...value, updatedBy: actors.get(value.key) ?? null })
    }
    this.show()
  }

  async #readLong(wanted: SettingValue, tries = 0): Promise<void> {
    const { key, scope, version } = wanted
    const { editor, api } = this.#init
    const got = await api.get(key, scope).catch(() => undefined)
    if (this.#isStopped) return
    if (got && (got.version >= version || version === 0)) {
      const { people = {}, ...value } = got
      editor.know(people)
      this.#waiting.set(key, value)
      this.show()
    } else if (tries < retries) this.#later(retry, () => void this.#readLong(wanted, tries + 1))
  }

  async #readOwn(): Promise<void> {
    this.#isOwnDue = false
    const { editor, page } = this.#init
    const values = (await editor.read()) ?? []
    for (const value of values) this.#waiting.set(value.key, value)
    if (this.#isStopped) return
    // Theme and language are of the reader's own.
    if (values.some(({ key, value }) => !isSameJson(newestOf(editor.state, key)?.value, value)))
      page().readLook()
    this.show()
  }

  #show(values: readonly SettingValue[]): void {
    const { editor, page, onShown } = this.#init
    const before = editor.state
    const { callerId } = page()
    // What readers change in another window is no news to them.
    const isMine = ({ updatedBy }: SettingValue): boolean =>
      editor.isOwn || (updatedBy !== null && updatedBy === callerId)
    editor.arrive((state) => withNews(state, values, { now: Date.now(), isMine }))
    const shown = values.filter(
      (value) =>
        before.news.get(value.key) !== editor.state.news.get(value.key) ||
        (editor.state.drafts.get(value.key)?.theirs === value && !isMine(value)),
    )
    if (shown.length === 0) return
    onShown(shown.map(({ key }) => key))
    for (const time of [tinted, justNow])
      this.#later(time, () => editor.arrive((state) => withOlderNews(state, shown)))
    for (const { key, updatedBy } of shown) this.#unsaid.set(key, updatedBy)
    void this.#nameAndSay()
  }

  async #nameAndSay(): Promise<void> {
    const { api, editor, page } = this.#init
    const ids = [...this.#unsaid.values()].filter((id) => id !== null)
    // One answer has the names of all who changed something lately.
    if (page().canUpdate) await editor.learnNames(ids, () => api.changes())
    if (this.#isSaying || this.#isStopped) return
    this.#isSaying = true
    this.#later(Math.max(0, this.#said + silence - Date.now()), () => this.#sayAll())
  }

  #later(milliseconds: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      run()
    }, milliseconds)
    this.#timers.add(timer)
  }

  #sayAll(): void {
    this.#isSaying = false
    const { editor, page, say } = this.#init
    const { messages, locale } = page()
    const { people } = editor.state
    const names = [...this.#unsaid.values()].map((id) =>
      id === null ? messages.somebody : (people.get(id) ?? id),
    )
    const who = new Intl.ListFormat(locale).format(new Set(names))
    const [key = ''] = this.#unsaid.keys()
    const { size } = this.#unsaid
    this.#unsaid.clear()
    this.#said = Date.now()
    say(
      size === 1
        ? format(messages.someoneChanged, { who, name: editor.nameOf(key) })
        : plural(messages.someoneChangedMany, size, locale, { who }),
    )
  }

  /** Who has changed what lately, by key. */
  async #readActors(): Promise<ReadonlyMap<string, string | null>> {
    const { api, editor } = this.#init
    const page = await api.changes().catch(() => undefined)
    if (!page) return new Map()
    editor.know(page.people)
    const entries = page.changes.flatMap(({ actor, entries }) =>
      entries.map(({ key }) => [key, actor] as const),
    )
    return new Map(entries.toReversed()) // the newest of a key wins
  }
}
