/** Keeps memory in step with a database that other processes write to, and that may be restored at any time. */
import { isDomainException } from '@fastify-modular/core'
import type { FastifyBaseLogger } from 'fastify'
import type { Observer } from '../diagnostics.ts'
import { SettingScope } from '../setting-definition.ts'
import type {
  CurrentRows,
  HistoryRow,
  RowChange,
  RowId,
  SettingsStore,
  StoredRow,
  StoreState,
  WriteRequest,
  WriteResult,
} from '../store/store.ts'
import type { EffectiveChange, SharedValues } from './shared-values.ts'
import type { UserCache } from './user-values.ts'

/** Whether the answers of `get` are known to be what the database holds. */
export interface SettingsStatus {
  /** `stale`: the database does not answer, or does not announce changes; the last known values are served. */
  readonly state: 'ready' | 'stale'
  /** The revision that memory holds. */
  readonly revision: number
  /** When memory last agreed with the database, milliseconds since the epoch. */
  readonly checkedAt: number
}

interface CoherenceInit {
  readonly store: SettingsStore
  readonly sharedValues: SharedValues
  readonly users: Pick<UserCache, 'forget'>
  /** Notified of what other processes changed. */
  readonly listeners: {
    notify(changes: readonly EffectiveChange[], revision: number, origin: 'remote'): void
  }
  readonly observer: Pick<Observer, 'refreshed'>
  readonly log: FastifyBaseLogger
}

/** From so many changed rows on, reading everything is cheaper than reading the history. */
const page = 1000

/** Milliseconds until a check that failed is repeated: doubled from the first to the last. */
const backOff = { first: 250, last: 5000 }

/**
 * For so many milliseconds after a database took the place of another one, each check reads everything: a restore in
 * several transactions loads rows without a revision of their own.
 */
const settling = 120_000

/** What a check brought. */
type News = 'nothing' | 'changes' | 'everything'

/** A row that a write found and left as it is; undefined means unset. */
interface FoundRow {
  readonly id: RowId
  readonly row: StoredRow | undefined
}

export class Coherence {
  readonly #init: CoherenceInit
  readonly #checks = new SharedRuns(() => this.#check())
  #state: SettingsStatus['state'] = 'ready'
  #checkedAt = 0
  #retry: NodeJS.Timeout | undefined
  #delay = backOff.first
  #unwatch: (() => Promise<void>) | undefined
  /** What the last check found. Own writes do not move it: they may build on another past than the one known here. */
  #anchor: StoreState = { revision: 0, at: null, knownAt: null, epoch: '' }
  /** The last own write that no check has found yet. */
  #unchecked: Pick<WriteResult, 'revision' | 'at'> | undefined
  /** Until when each check reads everything, and the first one after it, milliseconds since the epoch. */
  #unsettledUntil: number | undefined
  /** Whether memory may hold what the database does not. */
  #isSuspect = false
  /** Revisions that writes of this process are about to commit, and whether their notification has arrived. */
  readonly #pendingWrites = new Map<number, 'unannounced' | 'announced'>()

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
    const { store, log } = this.#init
    this.#anchor = await store.readState(0)
    await this.#readAll()
    this.#checkedAt = Date.now()
    this.#unwatch = await store.watch?.(
      // Mostly the echo of an own write, whose answer is about to arrive too.
      (revision) => void setImmediate(() => this.#receiveHint(revision)),
      (err) => {
        log.warn(
          { err },
          'changes of other processes are not noticed for now; the last known values are served',
        )
        this.#state = 'stale'
      },
    )
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
    this.#isSuspect = true
    return this.catchUp()
  }

  /** Catches up if a write is in memory, but not all before it. */
  closeGap(): void {
    const { sharedValues } = this.#init
    // Later, because the notification of the write before may be on its way.
    if (!sharedValues.complete) setImmediate(() => sharedValues.complete || void this.catchUp())
  }

  /** Resolves when memory has rows that a write found and left as they are. Never rejects. */
  async confirm(found: readonly FoundRow[]): Promise<void> {
    const { sharedValues, users } = this.#init
    // Of users memory has values only, so that it cannot compare.
    const names = found.filter(({ id }) => id.scope === SettingScope.User).map(({ id }) => id.userId)
    if (names.length > 0) users.forget(names)
    const isKnown = (): boolean => found.every(({ id, row }) => sharedValues.agrees(id, row))
    if (this.#isSuspect || !isKnown()) await this.catchUp()
    // Rows that were changed by hand are not in the history.
    if (!isKnown()) await this.reload()
  }

  /**
   * Writes to the store; the notification that follows is known to be the write's own.
   * @throws what the store throws; if the commit happened nevertheless, its notification has arrived or will arrive
   */
  async write(request: WriteRequest): Promise<WriteResult> {
    const { store, sharedValues } = this.#init
    let revision = 0
    let found = 0
    const decide = (current: CurrentRows): readonly RowChange[] => {
      found = current.revision
      if (this.#contradicts(request, current)) this.#isSuspect = true
      const changes = request.decide(current)
      revision = current.revision + 1
      if (changes.length > 0) this.#pendingWrites.set(revision, 'unannounced')
      return changes
    }
    try {
      const written = await store.write({ ...request, decide })
      if (written.changes.length > 0) this.#unchecked = { revision: written.revision, at: written.at }
      this.#pendingWrites.delete(revision)
      return written
    } catch (error) {
      const isAnnounced = this.#pendingWrites.get(revision) === 'announced'
      this.#pendingWrites.delete(revision)
      const isOutage = isDomainException(error) && error.statusCode === 503
      if (isOutage || isAnnounced) void this.catchUp()
      // A refused writer reads again, and must then find what the write was refused for.
      else if (this.#isSuspect || found > sharedValues.revision) await this.catchUp()
      throw error
    }
  }

  /** Under the lock memory may be behind the database, but neither ahead of it nor beside it. */
  #contradicts({ reads }: WriteRequest, current: CurrentRows): boolean {
    const { sharedValues } = this.#init
    if (current.revision !== sharedValues.revision) return current.revision < sharedValues.revision
    return reads.some((id) => !sharedValues.agrees(id, current.get(id)))
  }

  /** A hint with a revision is a notification; one without it only says that it is time to check. */
  #receiveHint(revision?: number): void {
    const isNotification = revision !== undefined && this.#state === 'ready'
    if (isNotification && this.#pendingWrites.has(revision)) this.#pendingWrites.set(revision, 'announced')
    else if (isNotification && revision === this.#init.sharedValues.revision) this.#checkedAt = Date.now()
    else void this.catchUp()
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
        log.info({ revision: sharedValues.revision }, 'settings database answers again')
      this.#state = 'ready'
    } catch (err) {
      if (this.#state === 'ready')
        log.error({ err }, 'settings database does not answer; the last known values are served')
      this.#state = 'stale'
      observer.refreshed({ revision: sharedValues.revision, reloaded: false, error: err })
      this.#retry = setTimeout(() => void this.catchUp(), this.#delay).unref()
      this.#delay = Math.min(this.#delay * 2, backOff.last)
    }
  }

  async #refresh(): Promise<News> {
    const known = this.#init.sharedValues.revision
    const own = this.#unchecked
    // Before the rows: the next check finds what changes in between.
    const found = await this.#init.store.readState(this.#anchor.revision)
    const isReplaced = await this.#isOtherDatabase(found, known, own)
    if (isReplaced) this.#unsettledUntil = Date.now() + settling
    const isUnsettled = this.#unsettledUntil !== undefined
    const news = this.#isSuspect || isUnsettled ? await this.#readAll() : await this.#readNews(found, known)
    if (!isReplaced && this.#unsettledUntil !== undefined && Date.now() >= this.#unsettledUntil)
      this.#unsettledUntil = undefined
    this.#anchor = found
    if (this.#unchecked === own) this.#unchecked = undefined
    return news
  }

  /** Whether the database has gone back in time, or another one is in its place. */
  async #isOtherDatabase(
    found: StoreState,
    known: number,
    own: Pick<WriteResult, 'revision' | 'at'> | undefined,
  ): Promise<boolean> {
    const { log } = this.#init
    if (
      found.revision < Math.max(known, own?.revision ?? 0) ||
      isOtherTime(found.knownAt, this.#anchor.at) ||
      (own && isOtherTime(await this.#timeOf(own.revision, found), own.at))
    ) {
      log.warn(
        { known, current: found.revision },
        'settings database went back in time or was replaced; all values are read again',
      )
      return true
    }
    if (found.epoch === this.#anchor.epoch) return false
    log.info({ known }, 'settings database was restarted or recreated; all values are read again')
    return true
  }

  async #timeOf(revision: number, found: StoreState): Promise<number | null> {
    if (revision === found.revision) return found.at
    return (await this.#init.store.readState(revision)).knownAt
  }

  async #readAll(): Promise<News> {
    const { store, sharedValues, users, listeners } = this.#init
    this.#isSuspect = false
    try {
      sharedValues.beginLoad()
      const { revision, rows } = await store.readShared()
      users.forget()
      const before = { revision: sharedValues.revision, generation: sharedValues.generation }
      const changes = sharedValues.load(revision, rows)
      listeners.notify(changes, revision, 'remote')
      const isNews =
        before.revision !== sharedValues.revision || before.generation !== sharedValues.generation
      return isNews ? 'everything' : 'nothing'
    } catch (error) {
      this.#isSuspect = true
      throw error
    }
  }

  async #readNews(found: StoreState, known: number): Promise<News> {
    const { store, sharedValues } = this.#init
    if (found.revision === known && sharedValues.complete) return 'nothing'
    const news = await store.readHistory({ after: known, limit: page })
    // A full page may be one of several.
    if (news.length === page) return this.#readAll()
    this.#applyHistory(news, found.revision)
    return 'changes'
  }

  /** History keeps the newest row of every value, so that replaying it ends with the current values. */
  #applyHistory(news: readonly HistoryRow[], current: number): void {
    const { sharedValues, users, listeners } = this.#init
    const oldestFirst = news.toReversed()
    const ofUsers = oldestFirst.filter(({ scope }) => scope === SettingScope.User)
    users.forget(new Set(ofUsers.map(({ userId }) => userId)))
    const changes = sharedValues.replay(
      Math.max(current, oldestFirst.at(-1)?.revision ?? 0),
      oldestFirst.map((entry) => ({ ...entry, row: toRow(entry) })),
    )
    // Last, so that a listener that reads other settings sees all of the news.
    listeners.notify(changes, sharedValues.revision, 'remote')
  }
}

function toRow(entry: HistoryRow): StoredRow | undefined {
  const { scope, userId, key, newValue: value, newSealed: sealed, revision, at, actor } = entry
  return value === null
    ? undefined
    : { scope, userId, key, value, sealed, revision, updatedAt: at, updatedBy: actor }
}

/** Whether a revision has another time than it had. History may have lost it, which means nothing. */
function isOtherTime(at: number | null, before: number | null): boolean {
  return at !== null && at !== before
}

/** A task that runs once at a time, for many callers. */
class SharedRuns {
  readonly #task: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #isStopped = false

  /** `task` must not reject. */
  constructor(task: () => Promise<void>) {
    this.#task = task
  }

  /** Resolves after a run that began with this call or later: calls during a run share the next one. */
  run(): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    if (!this.#running) {
      this.#running = this.#task().finally(() => {
        this.#running = undefined
      })
      return this.#running
    }
    // The current run may have read the database already.
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      return this.run()
    })
    return this.#next
  }

  /** Starts no further run, and resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
    await this.#next
  }
}
