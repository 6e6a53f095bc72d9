/** Keeps memory in step with a database that other processes write to. */
import { isDomainException } from '@fastify-modular/core'
import { currentCommand, withTimeout } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import type { Observer } from '../diagnostics.ts'
import { noRevision, type Revision, revisionId } from '../store/revision.ts'
import {
  type HistoryRow,
  type RowId,
  type StorePort,
  type StoredRow,
  type StoreNews,
  TooManyWritesException,
  type WriteResult,
} from '../store/store.ts'
import { SharedRuns } from '../store/shared-runs.ts'
import type { Changes } from './changes.ts'
import type { SharedValues } from './shared-values.ts'

/** Whether the answers of `get` are known to be what the database holds. */
export interface SettingsStatus {
  /**
   * `stale`: the database did not answer the last time, or its announcements broke off and no look has succeeded since; the
   * last known values are served.
   */
  readonly state: 'ready' | 'stale'
  /** The revision that memory holds. */
  readonly revision: number
  /** When memory last agreed with the database, milliseconds since the epoch. */
  readonly checkedAt: number
}

interface CoherenceInit {
  readonly store: StorePort
  readonly sharedValues: SharedValues
  readonly changes: Pick<Changes, 'shared' | 'owned' | 'windows'>
  readonly observer: Pick<Observer, 'refreshed'>
  readonly log: FastifyBaseLogger
}

/** From so many changed rows on, reading everything is cheaper than reading the history. */
const page = 1000

/** From so many changed owners on, all are forgotten. */
const manyOwners = 1000

/** Milliseconds until a check that failed is repeated: doubled from the first to the last. */
const backOff = { first: 250, last: 5000 }

/** Milliseconds that a write that is committed waits for what was written before it. */
const patience = 2000

/** What a check brought. */
type News = 'nothing' | 'changes' | 'everything'

/** A committed write of shared rows by this process. */
interface OwnWrite {
  readonly written: WriteResult
  /** The revision that it found under its lock. */
  readonly found: Revision
  /** Rows that it left as they are, which are undefined where they are unset. */
  readonly same: readonly { readonly id: RowId; readonly row: StoredRow | undefined }[]
}

export class Coherence {
  readonly #init: CoherenceInit
  readonly #checks = new SharedRuns(() => this.#check())
  #state: SettingsStatus['state'] = 'ready'
  #checkedAt = 0
  #retry: NodeJS.Timeout | undefined
  #delay = backOff.first
  #unwatch: (() => Promise<void>) | undefined
  /** Memory may hold what the database does not: the next check reads everything, or the current one does. */
  #reload: 'due' | 'running' | undefined
  /** Changes of owners up to here are known, by the store's own count. */
  #ownerMark: string | undefined
  /** The versions of own writes that wait for a look, which may bring them as well. */
  readonly #waiting = new Set<number>()
  /** What memory took alone while everything is being read: the answer may be older. */
  #alone: WriteResult[] = []
  /** When the first open window was due at the last check. */
  #due: number | null = null
  /** Whether the next check looks for changes of owners that were not announced. */
  #areOwnersDue = false

  constructor(init: CoherenceInit) {
    this.#init = init
  }

  get status(): SettingsStatus {
    return {
      state: this.#state,
      revision: this.#init.sharedValues.revision,
      checkedAt: this.#checkedAt,
    }
  }

  /** Loads everything and begins to watch. @throws {Error} the database cannot be read */
  async start(): Promise<void> {
    const { store, changes, log } = this.#init
    await this.#readAll()
    this.#checkedAt = Date.now()
    if (currentCommand()) return // it ends before anybody would be notified
    this.#unwatch = await store.watch?.({
      // Later, so that a hint during a look begins another one.
      onHint: (revision) => void setImmediate(() => this.#receiveHint(revision)),
      onOwners: (hashes) => changes.owned({ hashes }),
      onLost: (err) => {
        log.warn(
          { err },
          'changes of other processes are not announced for now; the last known values are served until the next look',
        )
        this.#state = 'stale'
      },
    })
  }

  async stop(): Promise<void> {
    const stopped = this.#checks.stop()
    await this.#unwatch?.()
    this.#unwatch = undefined
    await stopped
    clearTimeout(this.#retry)
  }

  /** Takes what other processes wrote. One at a time; calls while one runs share the next one. Never rejects. */
  catchUp(): Promise<void> {
    return this.#checks.run()
  }

  /** Reads everything again. Never rejects. */
  reload(): Promise<void> {
    this.#reload = 'due'
    return this.catchUp()
  }

  /**
   * Resolves when memory has a write, and all before it. Where the database does not answer any more, memory takes the write
   * alone, and reads everything when it does. Never rejects.
   */
  async take({ written, found, same }: OwnWrite): Promise<void> {
    const { sharedValues, changes } = this.#init
    let isTaken = false
    const apply = (): void => {
      if (!isTaken && written.changes.length > 0) changes.shared(sharedValues.apply(written))
      isTaken = true
    }
    // Checks and applies in one step: before a later one somebody may ask for everything. Returns whether memory has the write.
    const applyNext = (): boolean => {
      if (this.#isAt(found)) apply()
      return isTaken || this.#isAt(written)
    }
    let isAlone = false
    if (!applyNext()) {
      const { revision } = written
      this.#waiting.add(revision)
      isAlone = await withTimeout(this.#reach(applyNext), patience, () => !applyNext())
      this.#waiting.delete(revision)
    }
    if (isAlone) {
      if (this.#reload === 'running') this.#alone.push(written)
      apply()
      void this.reload()
    }
    // Rows that were changed by hand are not in the history.
    else if (!same.every(({ id, row }) => sharedValues.agrees(id, row))) await this.reload()
  }

  /** Looks, unless the look that is on its way does. Resolves with whether no look was possible. */
  async #reach(applyNext: () => boolean): Promise<boolean> {
    await this.#checks.current
    if (!applyNext()) await this.catchUp()
    return !applyNext() && (this.#state === 'stale' || this.#checks.isStopped)
  }

  /** Whether memory has all up to a revision, and nothing that was written later. */
  #isAt(revision: Revision): boolean {
    return this.#reload === undefined && revisionId(revision) === revisionId(this.#init.sharedValues)
  }

  /**
   * Takes what a write that failed may have committed, or was refused for. Never rejects.
   * @param found the revision of shared rows that it found under its lock
   */
  async afterFailure(error: unknown, found: Revision | undefined): Promise<void> {
    if (isOutage(error)) {
      this.#lose(error) // a look may take long to fail as well
      this.#areOwnersDue = true
      void this.catchUp()
    }
    // A refused writer reads again, and must then find what the write was refused for.
    else if (found && !this.#isAt(found)) await this.catchUp()
  }

  /** A hint with a revision is a notification; one without it only says that it is time to check. */
  #receiveHint(revision?: Revision): void {
    if (revision === undefined) this.#areOwnersDue = true
    else if (this.#state === 'ready' && revisionId(revision) === revisionId(this.#init.sharedValues)) {
      this.#checkedAt = Date.now()
      return
    }
    void this.catchUp()
  }

  /** Never rejects: a failure makes the state stale and is tried again. */
  async #check(): Promise<void> {
    const { sharedValues, observer, log } = this.#init
    clearTimeout(this.#retry)
    try {
      const news = await this.#refresh()
      this.#checkedAt = Date.now()
      this.#delay = backOff.first
      if (news !== 'nothing')
        observer.refreshed({ revision: sharedValues.revision, reloaded: news === 'everything' })
      if (this.#state === 'stale')
        log.info({ revision: sharedValues.revision }, 'settings are up to date again')
      this.#state = 'ready'
    } catch (err) {
      this.#lose(err)
      this.#areOwnersDue = true
      observer.refreshed({ revision: sharedValues.revision, reloaded: false, error: err })
      this.#retry = setTimeout(() => void this.catchUp(), this.#delay).unref()
      this.#delay = Math.min(this.#delay * 2, backOff.last)
    }
  }

  #lose(err: unknown): void {
    if (this.#state === 'ready')
      this.#init.log.error({ err }, 'settings database does not answer; the last known values are served')
    this.#state = 'stale'
  }

  /** One query, unless users are looked for or everything is read. */
  async #refresh(): Promise<News> {
    const { store, sharedValues } = this.#init
    const known = { revision: sharedValues.revision, token: sharedValues.token }
    const found = await store.shared.news(known.revision, page)
    if (found.due !== this.#due) setImmediate(() => this.#init.changes.windows())
    this.#due = found.due
    // Before listeners are called, which may read values of owners.
    if (this.#areOwnersDue) await this.#readOwnerNews()
    this.#compare(found, known)
    return this.#reload ? this.#readAll() : this.#takeNews(found, known)
  }

  /** Looks whether memory is of the past that the database has: what it had before the look, and what it has now. */
  #compare(found: StoreNews, known: Revision): void {
    const tokens = new Map(found.changes.map(({ revision, token }) => [revision, token]))
    if (found.knownToken !== null) tokens.set(known.revision, found.knownToken)
    tokens.set(noRevision.revision, noRevision.token).set(found.revision, found.token)
    const { sharedValues, log } = this.#init
    // A write that was applied during the look may be later than what the look found.
    const applied = sharedValues.revision <= found.revision ? [sharedValues] : []
    const missing = [known, ...applied].filter(({ revision, token }) => tokens.get(revision) !== token)
    if (missing.length === 0) return
    this.#reload = 'due'
    // The history that proves a revision may have been trimmed.
    if (missing.some(({ revision }) => revision > found.revision || tokens.has(revision)))
      log.warn(
        { known: known.revision, current: found.revision },
        'settings database went back in time; all values are read again',
      )
  }

  async #readAll(): Promise<News> {
    const { store, sharedValues, changes } = this.#init
    this.#reload = 'running'
    this.#alone = []
    try {
      // Before owners are forgotten: what is written in between is found the next time.
      this.#ownerMark = (await store.owned.news(undefined, 0)).next
      this.#areOwnersDue = false
      const read = await store.shared.read()
      changes.owned({})
      const change = sharedValues.load(read, { rows: read.rows, later: this.#alone, own: this.#waiting })
      changes.shared(change)
      // Somebody may have asked for another one.
      if (this.#reload === 'running') this.#reload = undefined
      return change.kind === 'everything' ? 'everything' : 'nothing'
    } catch (error) {
      this.#reload = 'due'
      throw error
    }
  }

  async #takeNews({ revision, token, changes: entries }: StoreNews, known: Revision): Promise<News> {
    const { sharedValues, changes } = this.#init
    if (revision === known.revision) return 'nothing'
    // A full page may be one of several.
    if (entries.length === page) return this.#readAll()
    // History keeps the newest row of every value, so that replaying it ends with the current values.
    const past = entries.map((entry) => ({ ...entry, row: toRow(entry) }))
    // Last, so that a listener that reads other settings sees all of the news.
    changes.shared(sharedValues.replay({ revision, token }, past, this.#waiting))
    return 'changes'
  }

  /** Forgets owners whose changes were not announced: the process that wrote them ended before, or nobody listened. */
  async #readOwnerNews(): Promise<void> {
    const { store, changes } = this.#init
    this.#areOwnersDue = false
    const { next, owners } = await store.owned.news(this.#ownerMark, manyOwners + 1)
    const mayBeAny = owners.some(({ id }) => id === '')
    // Shared values name their writers, and another database has others.
    if (mayBeAny) this.#reload = 'due'
    changes.owned(owners.length > manyOwners || mayBeAny ? {} : { owners })
    this.#ownerMark = next
  }
}

function toRow(entry: HistoryRow): StoredRow | undefined {
  const { scope, owner, key, newValue: value, newEncrypted: encrypted, revision, at, actor } = entry
  return value === null
    ? undefined
    : { scope, owner, key, value, encrypted, revision, updatedAt: at, updatedBy: actor }
}

/** Whether the database did not answer, or not in time. */
function isOutage(error: unknown): boolean {
  return isDomainException(error) && error.statusCode === 503 && !(error instanceof TooManyWritesException)
}
