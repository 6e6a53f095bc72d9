/** Keeps the page told which changes wait to be kept, and of what became of those that did. */
import type { OpenChange, SettingsClient, SettledChange } from '@fastify-modular/settings/client'
import type { Waiting } from '../model/editor-state.ts'
import type { SettingsEditor } from '../model/editor.ts'
import { toFailure } from '../model/source.ts'

export interface OpenReaderInit {
  readonly api: Pick<SettingsClient, 'openChanges' | 'change'>
  readonly editor: SettingsEditor
  /** @param isInTime somebody has settled it before it was due */
  readonly onSettled: (change: SettledChange, isInTime: boolean) => void
}

/** Milliseconds between two looks while something waits: soon after the first is due, and often enough where no stream says it. */
const look = { least: 1000, most: 10_000, afterDue: 300 }

export class OpenReader {
  readonly #init: OpenReaderInit
  #timer: ReturnType<typeof setTimeout> | undefined
  #reads = 0
  #last: Promise<void> | undefined
  #isStopped = false

  constructor(init: OpenReaderInit) {
    this.#init = init
    init.editor.readOpen = this.read
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#init.editor.readOpen = async () => undefined
  }

  /** Reads again what a clock or a tab that stood still may have missed. */
  readonly wake = (): void => {
    if (this.#init.editor.state.open.length > 0) void this.read()
  }

  /** Resolves when the page shows what waits: the read that was begun last counts. */
  readonly read = (): Promise<void> => {
    this.#last = this.#readOnce()
    return this.#last
  }

  async #readOnce(): Promise<void> {
    const { api, editor } = this.#init
    clearTimeout(this.#timer)
    const read = ++this.#reads
    const begun = performance.now()
    const page = await api.openChanges().catch(toFailure)
    if (this.#isStopped) return undefined
    if (read !== this.#reads) return this.#last
    const before = editor.state.open
    if ('changes' in page) {
      const now = Date.parse(page.now)
      const seen = page.changes.filter(({ entries }) => entries.length > 0)
      const open = seen.map((change) => toWaiting(change, { now, begun, before }))
      editor.know(page.people)
      editor.arrive((state) => ({ ...state, open }))
      const gone = before.filter(({ revision }) => !open.some((each) => each.revision === revision))
      await Promise.all(gone.map((change) => this.#settle(change)))
    } else if ([401, 403].includes(page.status)) editor.arrive((state) => ({ ...state, open: [] }))
    this.#schedule()
    return undefined
  }

  async #settle({ revision, ends }: Waiting): Promise<void> {
    const isInTime = performance.now() < ends
    const change = await this.#init.api.change(revision).catch(() => undefined)
    if (change && change.state !== 'open' && !this.#isStopped) this.#init.onSettled(change, isInTime)
  }

  #schedule(): void {
    const { open } = this.#init.editor.state
    if (open.length === 0 || this.#isStopped) return
    const wait = Math.min(...open.map(({ ends }) => ends)) - performance.now() + look.afterDue
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.read(), Math.min(look.most, Math.max(look.least, wait)))
  }
}

interface Moment {
  /** The time of the server when it answered. */
  readonly now: number
  /** When it was asked, by the clock of `performance.now()`: rather too early than too late. */
  readonly begun: number
  readonly before: readonly Waiting[]
}

/** The clock of the reader may be wrong: what counts is how far the server's is from what is due. */
function toWaiting(change: OpenChange, { now, begun, before }: Moment): Waiting {
  const left = Date.parse(change.due) - now
  const known = before.find(({ revision }) => revision === change.revision)
  const first = Date.parse(change.due) - Date.parse(change.at)
  const total = known ? (known.due === change.due ? known.total : left) : first
  return { ...change, ends: begun + left, total }
}
