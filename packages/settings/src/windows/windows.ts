/**
 * Change sets that have to be kept: this instance knows which are open, and puts back those that are due, unless another
 * instance was faster. The clock is that of the database.
 */
import { ForbiddenException, isDomainException, type Caller, NotFoundException } from '@fastify-modular/core'
import { SettingChangeSettled } from '../events.ts'
import {
  ChangeSettledException,
  SettingsChangedException,
  SettingValidationException,
} from '../exceptions.ts'
import { requireRevision } from '../history/history.ts'
import { entryOf } from '../history/revert.ts'
import type { Parts } from '../parts.ts'
import { SharedRuns } from '../store/shared-runs.ts'
import type { HistoryRow, StorePort } from '../store/store.ts'
import type { StoredWindow } from '../store/windows.ts'
import { requireUpdater, requireWritePermissions } from '../visibility.ts'
import type { WriteOptions } from '../write/write.ts'
import { requireSeconds, settling } from '../write/windows.ts'

/** How a change set is kept. */
export interface KeepOptions extends Omit<WriteOptions, 'confirmWithin'> {
  /** Seconds until it is put back unless it is kept then; a day after the write at most. Without it the change is kept for good. */
  readonly within?: number | undefined
  /** Only for a caller who may write all of it. */
  readonly as?: Caller
}

/** Milliseconds between two looks at the database while a window is open, at most and at least. */
const look = { most: 2000, least: 50 }
const day = 86_400_000

export class Windows {
  readonly #parts: Parts
  #open: readonly StoredWindow[] = []
  readonly #looks = new SharedRuns(() => this.#look())
  /** Why the last look failed. */
  #failure: unknown
  #isDue = false
  #timer: NodeJS.Timeout | undefined
  #isStarted = false

  constructor(parts: Parts) {
    this.#parts = parts
    parts.changes.follow({
      windows: () => this.#lookSoon(),
      // A write may have ended one.
      shared: () => void (this.#open.length > 0 && this.#lookSoon()),
    })
  }

  /** Settles what is due, and begins to watch. @throws {ServiceUnavailableException} the database does not answer */
  async start(): Promise<void> {
    this.#isStarted = true
    await this.#looks.run()
    if (this.#failure) throw this.#failure
  }

  async close(): Promise<void> {
    const stopped = this.#looks.stop()
    clearTimeout(this.#timer)
    await stopped
  }

  /** The open ones, the next one that is due first, and the time of the database. */
  open(): ReturnType<StorePort['windows']> {
    return this.#parts.store.windows()
  }

  /** The window of a change set, whatever became of it. */
  async find(revision: number): Promise<StoredWindow | undefined> {
    return (await this.#parts.store.windows(revision)).windows[0]
  }

  /**
   * Keeps a change set, for good or `within` so many seconds.
   * @throws {NotFoundException} there is no such change set, or nothing has to be kept of it
   * @throws {ForbiddenException} the caller may not write all of it
   * @throws {ChangeSettledException} it is over, with its `state`
   */
  async keep(revision: number, { within, as: caller, ...options }: KeepOptions): Promise<StoredWindow> {
    requireRevision(revision)
    if (within !== undefined) requireSeconds(within, 'within')
    if (caller) requireUpdater(caller)
    const rows = await this.#rowsOf(revision)
    const known = await this.find(revision)
    if (rows.length === 0 || !known) throw new NotFoundException('Change that has to be kept', revision)
    if (caller) this.#requireWriter(caller, rows)
    const written = Math.min(...rows.map(({ at }) => at))
    const hook = settling(revision, (found, { at }) =>
      within === undefined
        ? { ...found, state: 'kept' }
        : { ...found, due: Math.min(at + within * 1000, written + day) },
    )
    try {
      const { window } = await this.#parts.write([], { origin: 'keep', ...options }, { window: hook })
      await this.#report(window, options.actor ?? null)
      return window ?? known
    } catch (error) {
      if (!(error instanceof ChangeSettledException)) throw error
      throw new ChangeSettledException(revision, (await this.find(revision))?.state)
    }
  }

  #requireWriter(caller: Caller, rows: readonly HistoryRow[]): void {
    requireUpdater(
      caller,
      rows.map(({ scope }) => scope),
    )
    const definitions = rows.map(({ key }) => this.#parts.registry.getDefinition(key))
    if (definitions.includes(null))
      throw new ForbiddenException('No module defines one of these settings any more.')
    requireWritePermissions(
      caller,
      definitions.filter((definition) => definition !== null),
    )
  }

  /** Later in this turn of the event loop, once for all that happened in it. Never throws. */
  #lookSoon(): void {
    if (!this.#isStarted || this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      void this.#looks.run()
    })
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    try {
      this.#failure = undefined
      await this.#judgeAll()
    } catch (error) {
      this.#failure = error
      this.#schedule(Infinity) // the next look comes all the same
    }
  }

  async #judgeAll(): Promise<void> {
    clearTimeout(this.#timer)
    const { store } = this.#parts
    let { at, windows } = await store.windows()
    for (const window of windows) if (window.due <= at || this.#isOvertaken(window)) await this.#judge(window)
    ;({ at, windows } = await store.windows())
    const isOther = JSON.stringify(windows) !== JSON.stringify(this.#open)
    this.#open = windows
    if (isOther) this.#parts.changes.opened(windows.length > 0)
    this.#schedule(Math.min(...windows.map(({ due }) => due)) - at)
  }

  #schedule(wait: number): void {
    if (this.#looks.isStopped || this.#open.length === 0) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#lookSoon(), Math.max(look.least, Math.min(wait, look.most))).unref()
  }

  /** Whether memory has a later version of everything that a window is about. */
  #isOvertaken({ revision }: StoredWindow): boolean {
    const { sharedValues } = this.#parts
    return sharedValues.revision > revision && !sharedValues.hasChangeOf(revision)
  }

  /** Puts back what is still as the revision left it: all of that, or where it is refused nothing. */
  async #judge({ revision }: StoredWindow): Promise<void> {
    const rows = await this.#rowsOf(revision)
    const reasons = new Map<string, string>()
    let left = rows
    for (;;) {
      try {
        return await this.#putBack(revision, left, { isWhole: left.length === rows[0]?.setSize, reasons })
      } catch (error) {
        if (error instanceof ChangeSettledException) return // another instance, or the person who keeps it, was faster
        if (left.length === 0 || (isDomainException(error) && error.statusCode === 503)) throw error
        for (const [key, reason] of refusalsOf(error, rows)) if (!reasons.has(key)) reasons.set(key, reason)
        const isChanged = error instanceof SettingsChangedException
        if (!isChanged)
          this.#parts.log.warn(
            { revision, keys: rows.map(({ key }) => key) },
            'a change that was not kept could not be put back',
          )
        left = isChanged ? rows.filter(({ key }) => !reasons.has(key)) : []
      }
    }
  }

  /** Settles a window with what these rows replaced. @throws {SettingsChangedException} others have written some of them */
  async #putBack(
    revision: number,
    rows: readonly HistoryRow[],
    { isWhole, reasons }: { readonly isWhole: boolean; readonly reasons: ReadonlyMap<string, string> },
  ): Promise<void> {
    const errors = new Map<string, readonly string[]>()
    const entries = rows.map((row) => entryOf(this.#parts, row, errors))
    const state = isWhole ? 'put-back' : 'conflicted'
    const next = (found: StoredWindow) => ({ ...found, state, reasons: Object.fromEntries(reasons) }) as const
    // What has been written since, or is refused, is settled at once.
    const window = settling(revision, next, { ifDue: rows.length > 0 })
    const options = { origin: 'expired', note: `Revision ${revision} was not kept.` }
    const outcome = await this.#parts.write(entries, options, { isBulk: true, errors, window })
    await this.#report(outcome.window, null)
  }

  #rowsOf(revision: number): Promise<readonly HistoryRow[]> {
    return this.#parts.store.history({ revision, limit: Number.MAX_SAFE_INTEGER })
  }

  /** Logs and publishes what became of a window. */
  async #report(window: StoredWindow | undefined, actor: string | null): Promise<void> {
    if (!window || window.state === 'open') return
    const { revision, state, reasons } = window
    const { log, events } = this.#parts
    log.info(
      { revision, state, actor, keys: Object.keys(reasons) },
      'a change that had to be kept is settled',
    )
    try {
      await events()?.publish(new SettingChangeSettled({ revision, state, settledBy: actor, reasons }))
    } catch (err) {
      log.error({ err, revision }, 'event of a settled change could not be published')
    }
  }
}

/** Why keys could not be put back. */
function refusalsOf(error: unknown, rows: readonly HistoryRow[]): readonly (readonly [string, string])[] {
  if (error instanceof SettingsChangedException)
    return error.conflicts.map(({ key }) => [key, 'It has changed since.'])
  if (error instanceof SettingValidationException)
    return Object.entries(error.errorsByKey).map(([key, messages]) => [key, messages.join(' ')])
  const reason = isDomainException(error) ? error.message : 'It cannot be written.'
  return rows.map(({ key }) => [key, reason])
}
