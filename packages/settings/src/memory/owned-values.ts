/** The values of users or of tenants, loaded when first needed and kept for those seen last. */
import { ArgumentException } from '@fastify-modular/core'
import { isPlaceOf } from '../places.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import { type JsonValue, type OwnedScope, SettingScope } from '../setting-definition.ts'
import { type Owner, ownerHash, type StorePort, type StoredRow } from '../store/store.ts'
import type { SharedValues } from './shared-values.ts'

/**
 * What one owner has stored, by key; an `Error` stands for a value that is unreadable. Never changed in place: a reader keeps
 * what it began with. Values alone, because there are many of them.
 */
export interface OwnedValues extends ReadonlyMap<string, JsonValue | Error> {
  /** Keys of values that were encrypted before their settings stopped being sensitive: they stay secrets. */
  readonly pastSecrets?: ReadonlySet<string>
  /** Of a tenant alone: what is stored. There are fewer of them, and many read what one has. */
  readonly rows?: readonly StoredRow[]
}

const noValues: OwnedValues = new Map()

/**
 * The owner of a row: empty for System and Application, whatever was passed.
 * @throws {ArgumentException} User scope without a user, Tenant scope without a tenant, an identifier that is too long, an
 * unknown scope
 */
export function rowOwner(scope: SettingScope, id: string | null | undefined): string {
  if (scope === SettingScope.System || scope === SettingScope.Application) return ''
  if (scope === SettingScope.User) return requireUser(id)
  if (scope === SettingScope.Tenant) return requireTenantId(id)
  throw new ArgumentException('The scope must be 0 (System), 1 (Application) or 2 (User).', 'scope')
}

/**
 * The scope that options name: a user, also one who is missing, means User scope; a tenant alone Tenant scope.
 * @throws {ArgumentException} a user or a tenant together with another scope
 */
export function namedScope(place: {
  readonly scope?: SettingScope | undefined
  readonly userId?: string
  readonly tenant?: string
}): SettingScope | undefined {
  const { scope } = place
  const isOfUser = Object.hasOwn(place, 'userId')
  if (!isOfUser && !Object.hasOwn(place, 'tenant')) return scope
  if (isOfUser && scope !== undefined && scope !== SettingScope.User)
    throw new ArgumentException('Only values of User scope belong to a user.', 'userId')
  if (!isOfUser && scope !== undefined && scope !== SettingScope.Tenant)
    throw new ArgumentException('Only values of Tenant scope belong to a tenant.', 'tenant')
  return isOfUser ? SettingScope.User : SettingScope.Tenant
}

/** @throws {ArgumentException} no tenant, or an identifier of more than 255 characters */
export function requireTenantId(id: string | null | undefined): string {
  if (typeof id === 'string' && id !== '' && id.length <= 255) return id
  throw new ArgumentException('Tenant scope needs the id of a tenant of 1 to 255 characters.', 'tenant')
}

/** @throws {ArgumentException} no user, or an identifier of more than 255 characters */
export function requireUser(userId: string | null | undefined): string {
  if (typeof userId === 'string' && userId !== '' && userId.length <= 255) return userId
  throw new ArgumentException('User scope needs a user id of 1 to 255 characters.', 'userId')
}

/** Owners whose values have changed, by name or by the names that notifications give them; without either, all may have. */
export interface ChangedOwners {
  readonly owners?: readonly Owner[] | undefined
  readonly hashes?: readonly string[] | undefined
}

interface OwnedCacheInit {
  /** Whose values it keeps. */
  readonly scope: OwnedScope
  readonly store: Pick<StorePort, 'owned'>
  readonly sharedValues: Pick<SharedValues, 'find'>
  readonly codec: RowCodec
  /** How many owners are kept; the least recently used one leaves first. */
  readonly capacity: number
}

/** How often an owner is read again whose values change during each read. */
const attempts = 3

/** Emptied, owner by owner, by each write of the owner's values, here or in another process: it follows the changes. */
export class OwnedCache {
  readonly #init: OwnedCacheInit
  /** By id, least recently used first. */
  readonly #values = new Map<string, OwnedValues>()
  readonly #reading = new Map<string, Promise<OwnedValues>>()
  /** Ids in memory by the names that notifications give them, from the first one on. */
  #byHash: Map<string, string> | undefined

  constructor(init: OwnedCacheInit) {
    this.#init = init
  }

  /** One query on first need, shared by all callers meanwhile. @throws {ServiceUnavailableException} the database is down */
  load(id: string): OwnedValues | Promise<OwnedValues> {
    const known = this.#values.get(id)
    if (known === undefined) return this.#reading.get(id) ?? this.#read(id, attempts)
    // Below half of the capacity nobody is about to leave.
    if (this.#values.size * 2 > this.#init.capacity) this.#keep(id, known)
    return known
  }

  /** Forgets owners whose values have changed. The next `load` reads them again. Next to nothing for those not in memory. */
  forget({ owners, hashes }: ChangedOwners): void {
    if (owners === undefined && hashes === undefined) {
      this.#values.clear()
      this.#reading.clear()
      this.#byHash?.clear()
    }
    const named = owners?.filter(({ scope }) => scope === this.#init.scope).map(({ id }) => id)
    for (const id of named ?? this.#idsOf(hashes ?? [])) {
      this.#reading.delete(id)
      this.#drop(id)
    }
  }

  /** The owners in memory who have these names in notifications. */
  #idsOf(hashes: readonly string[]): readonly string[] {
    this.#byHash ??= new Map(
      [...this.#values.keys(), ...this.#reading.keys()].map((id) => [this.#hashOf(id), id]),
    )
    const byHash = this.#byHash
    return hashes.flatMap((hash) => byHash.get(hash) ?? [])
  }

  #hashOf(id: string): string {
    return ownerHash({ scope: this.#init.scope, id })
  }

  #drop(id: string): void {
    this.#values.delete(id)
    this.#byHash?.delete(this.#hashOf(id))
  }

  #read(id: string, left: number): Promise<OwnedValues> {
    const { store, scope } = this.#init
    const reading = store.owned.read({ scope, id }).then(
      (rows) => {
        const values = this.#decode(rows)
        if (this.#reading.get(id) === reading) {
          this.#reading.delete(id)
          this.#keep(id, values)
          return values
        }
        // Forgotten meanwhile: the query may have been too early.
        const newer = this.#values.get(id) ?? this.#reading.get(id)
        return newer ?? (left > 1 ? this.#read(id, left - 1) : values)
      },
      (error: unknown) => {
        if (this.#reading.get(id) === reading) {
          this.#reading.delete(id)
          this.#drop(id)
        }
        throw error
      },
    )
    this.#reading.set(id, reading)
    this.#byHash?.set(this.#hashOf(id), id)
    return reading
  }

  #decode(rows: readonly StoredRow[]): OwnedValues {
    const { sharedValues, codec, scope } = this.#init
    const values = new Map<string, JsonValue | Error>()
    const pastSecrets = new Set<string>()
    for (const row of rows) {
      const setting = sharedValues.find(row.key)?.setting
      if (!setting || !isPlaceOf(setting, scope)) continue // older than the definition
      const layer = codec.layerOf(setting, row)
      if (row.encrypted && !setting.definition.sensitive) pastSecrets.add(row.key)
      if (layer.state === 'valid') values.set(row.key, layer.value)
      else if (layer.state === 'unreadable') values.set(row.key, layer.error)
    }
    if (scope === SettingScope.Tenant) return Object.assign(values, { pastSecrets, rows })
    if (pastSecrets.size > 0) return Object.assign(values, { pastSecrets })
    return values.size === 0 ? noValues : values
  }

  #keep(id: string, values: OwnedValues): void {
    this.#values.delete(id)
    this.#values.set(id, values)
    if (this.#values.size <= this.#init.capacity) return
    for (const oldest of this.#values.keys()) {
      this.#drop(oldest)
      return
    }
  }
}
