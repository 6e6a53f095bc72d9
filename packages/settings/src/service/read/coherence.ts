/** Keeps memory in step with a database that other processes write to (architecture, "Where it scales"). */
import type { FastifyBaseLogger } from 'fastify'
import { SettingScope } from '../../setting-definition.ts'
import type {
  CurrentRows,
  HistoryRow,
  RowChange,
  SettingsStore,
  StoredRow,
  WriteRequest,
  WriteResult,
} from '../../store/store.ts'
import type { Observer } from '../events/observer.ts'
import type { EffectiveChange, Snapshot } from './snapshot.ts'
import type { UserCache } from './user-cache.ts'

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
  /** Takes what other processes wrote. One at a time; a call while one runs starts another after it. Never rejects. */
  catchUp(): Promise<void>
  /** Writes to the store. That the database then tells of the write is no news. */
  readonly write: SettingsStore['write']
  /** Catches up if a write is in memory, but not all before it. */
  closeGap(): void
  stop(): Promise<void>
}

/** From so many changed rows on, reading everything is cheaper than reading the history. */
const page = 1000

export function createCoherence(
  store: SettingsStore,
  snapshot: Snapshot,
  users: UserCache,
  notify: (changes: readonly EffectiveChange[], revision: number) => void,
  observer: Pick<Observer, 'refreshed'>,
  log: FastifyBaseLogger,
): Coherence {
  let state: SettingsStatus['state'] = 'ready'
  let checkedAt = 0
  let running: Promise<void> | undefined
  let again = false
  let stopped = false
  let unwatch: (() => Promise<void>) | undefined
  /** Revisions that writes of this process are about to commit, and whether the database has told of them. */
  const own = new Map<number, boolean>()

  async function reload(): Promise<void> {
    const { revision, rows } = await store.readShared()
    users.forget()
    notify(snapshot.load(revision, rows), revision)
  }

  async function refresh(): Promise<'nothing' | 'changes' | 'everything'> {
    const known = snapshot.revision
    const current = await store.readRevision()
    if (current < known) {
      log.warn({ known, current }, 'settings database went back in time; all values are read again')
      snapshot.reset()
      await reload()
      return 'everything'
    }
    if (current > known || !snapshot.complete) {
      const news = await store.readHistory({ after: known, limit: page })
      // A full page may be one of several.
      if (news.length === page) {
        await reload()
        return 'everything'
      }
      applyHistory(news, current)
      return 'changes'
    }
    return 'nothing'
  }

  /** History keeps the newest row of every value, so that replaying it ends with the values that hold. */
  function applyHistory(news: readonly HistoryRow[], current: number): void {
    const newer = news.toReversed()
    users.forget(
      new Set(newer.filter(({ scope }) => scope === SettingScope.User).map(({ userId }) => userId)),
    )
    const changes = new Map<string, EffectiveChange>()
    for (const entry of newer) {
      if (entry.scope === SettingScope.User) continue
      for (const change of snapshot.apply(entry.revision, [{ ...entry, row: toRow(entry) }])) {
        const { key } = entry
        changes.set(key, { cell: change.cell, previous: changes.get(key)?.previous ?? change.previous })
      }
    }
    snapshot.advance(Math.max(current, newer.at(-1)?.revision ?? 0))
    // Last, so that a listener that reads other settings sees all of the news.
    notify([...changes.values()], snapshot.revision)
  }

  async function run(): Promise<void> {
    do {
      again = false
      try {
        const read = await refresh()
        checkedAt = Date.now()
        if (read !== 'nothing')
          observer.refreshed({ revision: snapshot.revision, reloaded: read === 'everything' })
        if (state === 'stale') log.info({ revision: snapshot.revision }, 'settings database answers again')
        state = 'ready'
      } catch (err) {
        if (state === 'ready')
          log.error({ err }, 'settings database does not answer; the last known values are served')
        state = 'stale'
        observer.refreshed({ revision: snapshot.revision, reloaded: false, error: err })
      }
    } while (again)
  }

  function catchUp(): Promise<void> {
    if (stopped) return Promise.resolve()
    if (running) again = true
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }

  /** @throws what the store throws; if the commit happened nevertheless, the database has told or will tell */
  async function write(request: WriteRequest): Promise<WriteResult> {
    let revision = 0
    function decide(current: CurrentRows): readonly RowChange[] {
      const changes = request.decide(current)
      revision = current.revision + 1
      if (changes.length > 0) own.set(revision, false)
      return changes
    }
    try {
      return await store.write({ ...request, decide })
    } catch (error) {
      if (own.get(revision) === true) void catchUp()
      throw error
    } finally {
      own.delete(revision)
    }
  }

  function hear(revision: number): void {
    if (own.has(revision) && state === 'ready') own.set(revision, true)
    else if (revision === snapshot.revision && state === 'ready') checkedAt = Date.now()
    else void catchUp()
  }

  return {
    get status() {
      return { state, revision: snapshot.revision, checkedAt }
    },
    catchUp,
    write,
    closeGap() {
      // Later, because the write before may just not have been told yet.
      if (!snapshot.complete) setImmediate(() => snapshot.complete || void catchUp())
    },
    async start() {
      await reload()
      checkedAt = Date.now()
      unwatch = await store.watch?.(
        // Mostly the echo of a write of our own, whose answer is about to arrive too.
        (revision) => void setImmediate(hear, revision),
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
      stopped = true
      await unwatch?.()
      unwatch = undefined
      await running
    },
  }
}

function toRow({
  scope,
  userId,
  key,
  newValue,
  newSealed,
  revision,
  at,
  actor,
}: HistoryRow): StoredRow | undefined {
  if (newValue === null) return undefined
  return { scope, userId, key, value: newValue, sealed: newSealed, revision, updatedAt: at, updatedBy: actor }
}
