/** The values of users, loaded when first needed and kept for the users seen last. */
import type { Layer } from '../resolve.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import type { AppliedChange, SettingsStore, StoredRow } from '../store/store.ts'
import type { SharedValues } from './shared-values.ts'

/**
 * A user's own values by `UserPlace.index`; an `Error` stands for one that is unreadable. Never changed in place: a
 * reader keeps what it began with. Values alone, because there are many of them.
 */
export type UserValues = readonly (JsonValue | Error | undefined)[]

export interface UserCache {
  /** One query on first need, shared by all who ask meanwhile. @throws {ServiceUnavailableException} the database is down */
  load(userId: string): UserValues | Promise<UserValues>
  /** Takes what one revision, committed here, changed. */
  apply(revision: number, changes: readonly AppliedChange[]): void
  /** Forgets users whose values changed elsewhere; all users without an argument. */
  forget(userIds?: Iterable<string>): void
}

interface Loading {
  readonly values: Promise<UserValues>
  /** Commits that happened while the query ran: it may or may not have seen them. */
  readonly changes: AppliedChange[]
  forgotten: boolean
}

const nothing: UserValues = Object.freeze([])
const attempts = 3

export function createUserCache(
  store: SettingsStore,
  sharedValues: SharedValues,
  codec: RowCodec,
  capacity: number,
): UserCache {
  const users = new Map<string, UserValues>()
  const loading = new Map<string, Loading>()
  const share = createSharedLists()
  let newest = 0
  let places = 0

  function load(userId: string): UserValues | Promise<UserValues> {
    const known = users.get(userId)
    if (known === undefined) return (loading.get(userId) ?? startLoading(userId)).values
    // Least recently used goes first; below half of the capacity nobody is about to go.
    if (users.size * 2 > capacity) keep(userId, known)
    return known
  }

  function startLoading(userId: string): Loading {
    const changes: AppliedChange[] = []
    const entry: Loading = { changes, forgotten: false, values: Promise.resolve(nothing) }
    const values = readUntilSettled(userId, entry).finally(() => loading.delete(userId))
    const started = Object.assign(entry, { values })
    loading.set(userId, started)
    return started
  }

  /** Reads again if the user changed elsewhere meanwhile; a user who never rests is answered, but not kept. */
  async function readUntilSettled(userId: string, entry: Loading): Promise<UserValues> {
    let values = nothing
    for (let attempt = 0; attempt < attempts; attempt++) {
      entry.forgotten = false
      values = merge(await store.readUser(userId), entry.changes)
      if (entry.forgotten) continue
      keep(userId, values)
      return values
    }
    return values
  }

  function merge(rows: readonly StoredRow[], changes: readonly AppliedChange[]): UserValues {
    const byKey = new Map(rows.map((row) => [row.key, row]))
    for (const { key, before, after } of changes) {
      const seen = byKey.get(key)
      if (after) {
        if ((seen?.revision ?? 0) < after.revision) byKey.set(key, after)
      } else if (seen && before && seen.revision <= before.revision) byKey.delete(key)
    }
    const values: (JsonValue | Error | undefined)[] = []
    for (const row of byKey.values()) put(values, row.key, row)
    if (values.length === 0) return nothing
    const own = values.slice() // without the room to grow
    return [...byKey.keys()].some(isSensitive) ? own : share(own)
  }

  function isSensitive(key: string): boolean {
    return sharedValues.find(key)?.setting.definition.sensitive === true
  }

  function put(values: (JsonValue | Error | undefined)[], key: string, row: StoredRow | undefined): void {
    const state = sharedValues.find(key)
    if (!state?.place) return
    if (state.place.index === Infinity) state.place.index = places++
    // Filled up, because an array with holes is slower to read.
    while (values.length < state.place.index) values.push(undefined)
    values[state.place.index] = row && valueOf(codec.layerOf(state.setting, row))
  }

  function keep(userId: string, values: UserValues): void {
    users.delete(userId)
    users.set(userId, values)
    if (users.size <= capacity) return
    for (const oldest of users.keys()) {
      users.delete(oldest)
      return
    }
  }

  return {
    load,
    apply(revision, changes) {
      const late = revision < newest
      newest = Math.max(newest, revision)
      for (const change of changes) {
        const { scope, userId, key, after } = change
        if (scope !== SettingScope.User) continue
        loading.get(userId)?.changes.push(change)
        const known = users.get(userId)
        if (!known) continue
        // News of an older revision must not replace newer values: let the database tell.
        if (late) users.delete(userId)
        else {
          const values = [...known]
          put(values, key, after)
          users.set(userId, values)
        }
      }
    },
    forget(userIds) {
      for (const userId of userIds ?? users.keys()) users.delete(userId)
      for (const userId of userIds ?? loading.keys()) {
        const entry = loading.get(userId)
        if (entry) entry.forgotten = true
      }
    },
  }
}

function valueOf(layer: Layer): JsonValue | Error | undefined {
  if (layer.state === 'invalid') return undefined
  return layer.state === 'valid' ? layer.value : layer.error
}

/** Lists that are remembered, and how long their text may be. */
const maxLists = 1000
const maxText = 200

/**
 * Returns a function that gives equal lists back as one. Lists are never changed in place, so nobody notices. Not for
 * sensitive values: a list outlives its last user.
 */
export function createSharedLists(): (values: UserValues) => UserValues {
  const lists = new Map<string, UserValues>()
  return function share(values) {
    // What JSON cannot tell apart is not shared: to it errors are empty objects, and what is missing is null.
    if (values.some((value) => value instanceof Error || value === null)) return values
    const text = JSON.stringify(values)
    if (text.length > maxText) return values
    const known = lists.get(text)
    if (known === undefined && lists.size < maxLists) lists.set(text, values)
    return known ?? values
  }
}
