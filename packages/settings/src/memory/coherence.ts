/** Keeps memory in step with a database that other processes write to, and that may be restored behind our back. */
import { isDomainException } from '@fastify-modular/core'
import type { FastifyBaseLogger } from 'fastify'
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
import type { Observer } from '../diagnostics.ts'
import { createSharedRuns } from './shared-runs.ts'
import type { EffectiveChange, SharedValues } from './shared-values.ts'
import type { UserCache } from './user-values.ts'

/** Whether what `get` answers is known to be what the database holds. */
export interface SettingsStatus {
  /** `stale`: the database does not answer, or does not tell of changes; the last known values are served. */
  readonly state: 'ready' | 'stale'
  /** The revision that memory holds. */
  readonly revision: number
  /** When memory last agreed with the database, milliseconds since the epoch. */
  readonly checkedAt: number
}

export interface Coherence {
  readonly status: SettingsStatus
  /** Loads everything and begins to watch. @throws {Error} the database cannot be read */
  start(): Promise<void>
  /** Takes what other processes wrote. One at a time; calls while one runs share the next one. Never rejects. */
  catchUp(): Promise<void>
  /** Reads everything again. Never rejects. */
  reload(): Promise<void>
  /** Resolves when memory has rows that a write found and left as they are. Never rejects. */
  confirm(found: readonly { readonly id: RowId; readonly row: StoredRow | undefined }[]): Promise<void>
  /** Writes to the store. That the database then tells of the write is no news. */
  readonly write: SettingsStore['write']
  /** Catches up if a write is in memory, but not all before it. */
  closeGap(): void
  stop(): Promise<void>
}

/** From so many changed rows on, reading everything is cheaper than reading the history. */
const page = 1000

/** Milliseconds until a look that failed is repeated: doubled from the first to the last. */
const backOff = { first: 250, last: 5000 }

/**
 * So many milliseconds after a database took the place of another one, each look reads everything: a restore in several
 * transactions loads rows that no revision tells of.
 */
const settling = 120_000

export function createCoherence(
  store: SettingsStore,
  sharedValues: SharedValues,
  users: UserCache,
  notify: (changes: readonly EffectiveChange[], revision: number) => void,
  observer: Pick<Observer, 'refreshed'>,
  log: FastifyBaseLogger,
): Coherence {
  let state: SettingsStatus['state'] = 'ready'
  let checkedAt = 0
  let retry: NodeJS.Timeout | undefined
  let delay = backOff.first
  let unwatch: (() => Promise<void>) | undefined
  /** What the last look found. Own writes do not move it: they may be on top of another past than ours. */
  let anchor: StoreState = { revision: 0, at: null, knownAt: null, epoch: '' }
  /** The last own write that no look has found yet. */
  let unseen: Pick<WriteResult, 'revision' | 'at'> | undefined
  /** Until when each look reads everything, and the first one after it, milliseconds since the epoch. */
  let unsettledUntil: number | undefined
  /** Whether memory has what the database has not. */
  let isSuspect = false
  /** Revisions that writes of this process are about to commit, and whether the database has told of them. */
  const own = new Map<number, boolean>()

  async function readAll(): Promise<Read> {
    isSuspect = false
    try {
      sharedValues.beginLoad()
      const { revision, rows } = await store.readShared()
      users.forget()
      const before = { revision: sharedValues.revision, generation: sharedValues.generation }
      const changes = sharedValues.load(revision, rows)
      notify(changes, revision)
      const isNews =
        before.revision !== sharedValues.revision || before.generation !== sharedValues.generation
      return isNews ? 'everything' : 'nothing'
    } catch (error) {
      isSuspect = true
      throw error
    }
  }

  async function refresh(): Promise<Read> {
    const known = sharedValues.revision
    const mine = unseen
    // Before the rows: what changes in between is found by the next look.
    const found = await store.readState(anchor.revision)
    const isReplaced = await isOther(found, known, mine)
    if (isReplaced) unsettledUntil = Date.now() + settling
    const isUnsettled = unsettledUntil !== undefined
    const read = isSuspect || isUnsettled ? await readAll() : await readNews(found, known)
    if (!isReplaced && unsettledUntil !== undefined && Date.now() >= unsettledUntil)
      unsettledUntil = undefined
    anchor = found
    if (unseen === mine) unseen = undefined
    return read
  }

  /** Whether another database than the one that memory knows is in its place. */
  async function isOther(found: StoreState, known: number, mine: typeof unseen): Promise<boolean> {
    if (
      found.revision < Math.max(known, mine?.revision ?? 0) ||
      isOtherTime(found.knownAt, anchor.at) ||
      (mine && isOtherTime(await timeOf(mine.revision, found), mine.at))
    ) {
      log.warn(
        { known, current: found.revision },
        'settings database went back in time or was replaced; all values are read again',
      )
      return true
    }
    if (found.epoch === anchor.epoch) return false
    log.info({ known }, 'settings database was started again or made anew; all values are read again')
    return true
  }

  async function timeOf(revision: number, found: StoreState): Promise<number | null> {
    return revision === found.revision ? found.at : (await store.readState(revision)).knownAt
  }

  async function readNews(found: StoreState, known: number): Promise<Read> {
    if (found.revision === known && sharedValues.complete) return 'nothing'
    const news = await store.readHistory({ after: known, limit: page })
    // A full page may be one of several.
    if (news.length === page) return readAll()
    applyHistory(news, found.revision)
    return 'changes'
  }

  /** History keeps the newest row of every value, so that replaying it ends with the values that hold. */
  function applyHistory(news: readonly HistoryRow[], current: number): void {
    const newer = news.toReversed()
    users.forget(
      new Set(newer.filter(({ scope }) => scope === SettingScope.User).map(({ userId }) => userId)),
    )
    const changes = sharedValues.replay(
      Math.max(current, newer.at(-1)?.revision ?? 0),
      newer.map((entry) => ({ ...entry, row: toRow(entry) })),
    )
    // Last, so that a listener that reads other settings sees all of the news.
    notify(changes, sharedValues.revision)
  }

  async function look(): Promise<void> {
    clearTimeout(retry)
    try {
      const read = await refresh()
      checkedAt = Date.now()
      delay = backOff.first
      if (read !== 'nothing')
        observer.refreshed({ revision: sharedValues.revision, reloaded: read === 'everything' })
      if (state === 'stale') log.info({ revision: sharedValues.revision }, 'settings database answers again')
      state = 'ready'
    } catch (err) {
      if (state === 'ready')
        log.error({ err }, 'settings database does not answer; the last known values are served')
      state = 'stale'
      observer.refreshed({ revision: sharedValues.revision, reloaded: false, error: err })
      retry = setTimeout(() => void catchUp(), delay).unref()
      delay = Math.min(delay * 2, backOff.last)
    }
  }

  const looks = createSharedRuns(look)
  const catchUp = looks.run

  function reload(): Promise<void> {
    isSuspect = true
    return catchUp()
  }

  const confirm: Coherence['confirm'] = async (found) => {
    // Of users memory has values only, so that it cannot compare.
    const names = found.filter(({ id }) => id.scope === SettingScope.User).map(({ id }) => id.userId)
    if (names.length > 0) users.forget(names)
    const isKnown = (): boolean => found.every(({ id, row }) => sharedValues.agrees(id, row))
    if (isSuspect || !isKnown()) await catchUp()
    // History does not tell of rows that were changed by hand.
    if (!isKnown()) await reload()
  }

  /** @throws what the store throws; if the commit happened nevertheless, the database has told or will tell */
  async function write(request: WriteRequest): Promise<WriteResult> {
    let revision = 0
    let found = 0
    function decide(current: CurrentRows): readonly RowChange[] {
      found = current.revision
      // Under the lock memory may be behind the database, but neither ahead of it nor beside it.
      const { revision: known } = sharedValues
      const isDifferent = (): boolean => request.reads.some((id) => !sharedValues.agrees(id, current.get(id)))
      if (current.revision < known || (current.revision === known && isDifferent())) isSuspect = true
      const changes = request.decide(current)
      revision = current.revision + 1
      if (changes.length > 0) own.set(revision, false)
      return changes
    }
    try {
      const written = await store.write({ ...request, decide })
      if (written.changes.length > 0) unseen = { revision: written.revision, at: written.at }
      own.delete(revision)
      return written
    } catch (error) {
      const isTold = own.get(revision) === true
      own.delete(revision)
      const isOutage = isDomainException(error) && error.statusCode === 503
      if (isOutage || isTold) void catchUp()
      // A refused writer reads again, and must then find what the write was refused for.
      else if (isSuspect || found > sharedValues.revision) await catchUp()
      throw error
    }
  }

  function onHint(revision?: number): void {
    const isTold = revision !== undefined && state === 'ready'
    if (isTold && own.has(revision)) own.set(revision, true)
    else if (isTold && revision === sharedValues.revision) checkedAt = Date.now()
    else void catchUp()
  }

  return {
    get status() {
      return { state, revision: sharedValues.revision, checkedAt }
    },
    catchUp,
    reload,
    confirm,
    write,
    closeGap() {
      // Later, because the write before may just not have been told yet.
      if (!sharedValues.complete) setImmediate(() => sharedValues.complete || void catchUp())
    },
    async start() {
      anchor = await store.readState(0)
      await readAll()
      checkedAt = Date.now()
      unwatch = await store.watch?.(
        // Mostly the echo of a write of our own, whose answer is about to arrive too.
        (revision) => void setImmediate(onHint, revision),
        (err) => {
          log.warn(
            { err },
            'changes of other processes are not noticed for now; the last known values are served',
          )
          state = 'stale'
        },
      )
    },
    async stop() {
      const stopped = looks.stop()
      await unwatch?.()
      unwatch = undefined
      await stopped
      clearTimeout(retry)
    },
  }
}

/** What a look brought. */
type Read = 'nothing' | 'changes' | 'everything'

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
