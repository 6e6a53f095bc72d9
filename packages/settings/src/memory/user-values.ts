/** The values of users, loaded when first needed and kept for the users seen last. */
import { ArgumentException } from '@fastify-modular/core'
import type { RowCodec } from '../secrets/row-codec.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import { type SettingsStore, type StoredRow, userHash } from '../store/store.ts'
import type { SharedValues } from './shared-values.ts'

/**
 * A user's own values of User settings, by key; an `Error` stands for one that is unreadable. Never changed in place: a
 * reader keeps what it began with. Values alone, because there are many of them.
 */
export interface UserValues extends ReadonlyMap<string, JsonValue | Error> {
  /** Keys of values that were encrypted before their settings stopped being sensitive: they stay secrets. */
  readonly pastSecrets?: ReadonlySet<string>
}

const noValues: UserValues = new Map()

/**
 * The user of a row: empty for System and Application, whatever was passed.
 * @throws {ArgumentException} User scope without a user, an identifier that is too long, an unknown scope
 */
export function rowUser(scope: SettingScope, userId: string | null | undefined): string {
  if (scope === SettingScope.System || scope === SettingScope.Application) return ''
  if (scope !== SettingScope.User)
    throw new ArgumentException('The scope must be 0 (System), 1 (Application) or 2 (User).', 'scope')
  return requireUser(userId)
}

/**
 * The scope that options name: a user, also one who is missing, means User scope.
 * @throws {ArgumentException} a user together with another scope
 */
export function namedScope(place: {
  readonly scope?: SettingScope | undefined
  readonly userId?: string
}): SettingScope | undefined {
  if (!Object.hasOwn(place, 'userId')) return place.scope
  if (place.scope !== undefined && place.scope !== SettingScope.User)
    throw new ArgumentException('Only values of User scope belong to a user.', 'userId')
  return SettingScope.User
}

/** @throws {ArgumentException} no user, or an identifier of more than 255 characters */
export function requireUser(userId: string | null | undefined): string {
  if (typeof userId === 'string' && userId !== '' && userId.length <= 255) return userId
  throw new ArgumentException('User scope needs a user id of 1 to 255 characters.', 'userId')
}

/** Users whose values have changed, by their ids or by the names that notifications give them; without either, all may have. */
export interface ChangedUsers {
  readonly ids?: readonly string[] | undefined
  readonly hashes?: readonly string[] | undefined
}

interface UserCacheInit {
  readonly store: Pick<SettingsStore, 'users'>
  readonly sharedValues: Pick<SharedValues, 'find'>
  readonly codec: RowCodec
  /** How many users are kept; the least recently used one leaves first. */
  readonly capacity: number
}

/** How often a user is read again whose values change during each read. */
const attempts = 3

/** Emptied, user by user, by each write of the user's values, here or in another process: it follows the changes. */
export class UserCache {
  readonly #init: UserCacheInit
  /** Least recently used first. */
  readonly #users = new Map<string, UserValues>()
  readonly #reading = new Map<string, Promise<UserValues>>()
  /** Users in memory by the names that notifications give them, from the first one on. */
  #byHash: Map<string, string> | undefined

  constructor(init: UserCacheInit) {
    this.#init = init
  }

  /** One query on first need, shared by all callers meanwhile. @throws {ServiceUnavailableException} the database is down */
  load(userId: string): UserValues | Promise<UserValues> {
    const known = this.#users.get(userId)
    if (known === undefined) return this.#reading.get(userId) ?? this.#read(userId, attempts)
    // Below half of the capacity no user is about to leave.
    if (this.#users.size * 2 > this.#init.capacity) this.#keep(userId, known)
    return known
  }

  /** Forgets users whose values have changed. The next `load` reads them again. Next to nothing for those not in memory. */
  forget({ ids, hashes }: ChangedUsers): void {
    if (ids === undefined && hashes === undefined) {
      this.#users.clear()
      this.#reading.clear()
      this.#byHash?.clear()
    }
    for (const userId of ids ?? this.#idsOf(hashes ?? [])) {
      this.#reading.delete(userId)
      this.#drop(userId)
    }
  }

  /** The users in memory who have these names in notifications. */
  #idsOf(hashes: readonly string[]): readonly string[] {
    this.#byHash ??= new Map(
      [...this.#users.keys(), ...this.#reading.keys()].map((userId) => [userHash(userId), userId]),
    )
    const byHash = this.#byHash
    return hashes.flatMap((hash) => byHash.get(hash) ?? [])
  }

  #drop(userId: string): void {
    this.#users.delete(userId)
    this.#byHash?.delete(userHash(userId))
  }

  #read(userId: string, left: number): Promise<UserValues> {
    const reading = this.#init.store.users.read(userId).then(
      (rows) => {
        const values = this.#decode(rows)
        if (this.#reading.get(userId) === reading) {
          this.#reading.delete(userId)
          this.#keep(userId, values)
          return values
        }
        // Forgotten meanwhile: the query may have been too early.
        const newer = this.#users.get(userId) ?? this.#reading.get(userId)
        return newer ?? (left > 1 ? this.#read(userId, left - 1) : values)
      },
      (error: unknown) => {
        if (this.#reading.get(userId) === reading) {
          this.#reading.delete(userId)
          this.#drop(userId)
        }
        throw error
      },
    )
    this.#reading.set(userId, reading)
    this.#byHash?.set(userHash(userId), userId)
    return reading
  }

  #decode(rows: readonly StoredRow[]): UserValues {
    const { sharedValues, codec } = this.#init
    const values = new Map<string, JsonValue | Error>()
    const pastSecrets = new Set<string>()
    for (const row of rows) {
      const setting = sharedValues.find(row.key)?.setting
      // The contract stores users' values of any setting; only User settings are resolved with them.
      if (setting?.definition.scope !== SettingScope.User) continue
      const layer = codec.layerOf(setting, row)
      if (row.encrypted && !setting.definition.sensitive) pastSecrets.add(row.key)
      if (layer.state === 'valid') values.set(row.key, layer.value)
      else if (layer.state === 'unreadable') values.set(row.key, layer.error)
    }
    if (pastSecrets.size > 0) return Object.assign(values, { pastSecrets })
    return values.size === 0 ? noValues : values
  }

  #keep(userId: string, values: UserValues): void {
    this.#users.delete(userId)
    this.#users.set(userId, values)
    if (this.#users.size <= this.#init.capacity) return
    for (const oldest of this.#users.keys()) {
      this.#drop(oldest)
      return
    }
  }
}
