/** The ten operations of the contract (S 4.2) over the snapshot, the user cache and the write algorithm. */
import { ArgumentException, ConflictException } from '@fastify-modular/core'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import type { SettingsStore } from '../store/store.ts'
import { toRaw } from '../values/decode.ts'
import type {
  BulkSettingUpdate,
  SettingsContract,
  SettingsFilter,
  SettingValueDto,
  WriteOptions,
} from './contract.ts'
import { toSharedDto, toUserDto } from './read/dto.ts'
import { listShared, selectCells } from './read/list.ts'
import { resolveFor, unwrap } from './read/reader.ts'
import type { Layer } from './read/resolve.ts'
import type { DefinitionFilter } from './read/select.ts'
import type { Cell, Snapshot } from './read/snapshot.ts'
import type { UserCache } from './read/user-cache.ts'
import type { RowCodec } from './row-codec.ts'
import { requireSetting, requireUser, rowUser } from './write/entries.ts'
import type { StaleRow, Write, WriteEntry } from './write/write.ts'

/** What the operations stand on. */
export interface ContractParts {
  readonly store: SettingsStore
  readonly snapshot: Snapshot
  readonly users: UserCache
  readonly codec: RowCodec
  readonly write: Write
  /** All settings in the order of lists: group, order, key (decision 16). */
  cells(): readonly Cell[]
}

export function createContract(parts: ContractParts): SettingsContract {
  return { ...createReads(parts), ...createWrites(parts) }
}

type Writes = 'setSetting' | 'setMany' | 'deleteSetting' | 'resetToDefault'

function createReads({
  store,
  snapshot,
  users,
  codec,
  cells,
}: ContractParts): Omit<SettingsContract, Writes> {
  /** The stored value; null where none is, or what is stored no longer fits. */
  async function stored(cell: Cell, scope: SettingScope, userId: string): Promise<JsonValue> {
    if (scope === SettingScope.System) return valueOf(cell.system)
    if (scope === SettingScope.Application) return valueOf(cell.application)
    if (!cell.place) {
      const row = await store.readRow({ scope, userId, key: cell.setting.definition.key })
      return valueOf(row && codec.layerOf(cell.setting, row))
    }
    const own = (await users.load(userId))[cell.place.index]
    if (own instanceof Error) throw own
    return own ?? null
  }

  async function getSettingAs<T extends JsonValue>(
    key: string,
    scope: SettingScope,
    userId?: string,
  ): Promise<T | null> {
    const user = rowUser(scope, userId)
    const cell = snapshot.find(key)
    return cell ? ((await stored(cell, scope, user)) as T | null) : null // the caller vouches for T (S 4.2)
  }

  async function resolveUserSettingElement(key: string, userId: string): Promise<JsonValue> {
    const user = requireUser(userId)
    const cell = snapshot.find(key)
    if (!cell) return null
    return unwrap(cell.place ? resolveFor(cell, await users.load(user)) : cell.shared)
  }

  /** A user's own rows only; never anybody else's (decision 16). */
  async function userValues(userId: string, filter: DefinitionFilter): Promise<SettingValueDto[]> {
    const rows = new Map((await store.readUser(userId)).map((row) => [row.key, row]))
    return selectCells(cells(), filter).flatMap((cell) => {
      const row = rows.get(cell.setting.definition.key)
      return row ? [toUserDto(cell, userId, row, codec)] : []
    })
  }

  return {
    getSettingAs,
    resolveUserSettingElement,
    async getSetting(key, scope, userId) {
      return raw(snapshot.find(key), await getSettingAs(key, scope, userId))
    },
    async resolveUserSetting(key, userId) {
      return raw(snapshot.find(key), await resolveUserSettingElement(key, userId))
    },
    async getSettingValues(filter: SettingsFilter = {}) {
      if (filter.scope === SettingScope.User) return userValues(requireUser(filter.userId), filter)
      return listShared(cells(), filter)
    },
    async getSettingValue(key, scope, userId) {
      const user = rowUser(scope, userId)
      const cell = snapshot.find(key)
      if (!cell) return null
      if (scope !== SettingScope.User) return toSharedDto(cell, scope)
      return toUserDto(cell, user, await store.readRow({ scope, userId: user, key }), codec)
    },
  }
}

function createWrites({ snapshot, write }: ContractParts): Pick<SettingsContract, Writes> {
  async function setSetting(
    key: string,
    value: JsonValue,
    scope: SettingScope,
    userId?: string,
    options: WriteOptions = {},
  ): Promise<void> {
    const entry = { scope, userId: rowUser(scope, userId), cell: requireSetting(snapshot, key) }
    await write([{ ...entry, change: { kind: 'set', value } }], options, { onStale: toConflict })
  }

  async function deleteSetting(
    key: string,
    scope: SettingScope,
    userId?: string,
    options: WriteOptions = {},
  ): Promise<void> {
    const entry = { scope, userId: rowUser(scope, userId), cell: requireSetting(snapshot, key) }
    await write([{ ...entry, change: { kind: 'clear' } }], options, { onStale: toConflict })
  }

  return {
    setSetting,
    deleteSetting,
    resetToDefault: deleteSetting,
    async setMany(updates, options = {}) {
      const { entries, errors } = toBulkEntries(snapshot, updates)
      await write(entries, options, { onStale: toConflict, errors })
    },
  }
}

/** The entries of a bulk write, and the errors of unknown settings: one report covers everything (decision 22). */
export interface BulkEntries {
  readonly entries: readonly WriteEntry[]
  readonly errors: ReadonlyMap<string, readonly string[]>
}

/** @throws {ArgumentException} a User-scoped entry (S 4.1.2), or one row twice */
export function toBulkEntries(snapshot: Snapshot, updates: readonly BulkSettingUpdate[]): BulkEntries {
  const rows = new Set<string>()
  const errors = new Map<string, readonly string[]>()
  const entries = updates.flatMap(({ key, scope, value, version }): WriteEntry[] => {
    if (scope === SettingScope.User)
      throw new ArgumentException('A bulk write takes System and Application entries only.', 'scope')
    if (rows.size === rows.add(`${scope} ${key}`).size)
      throw new ArgumentException(`The setting "${key}" is in the list twice.`, 'key')
    const userId = rowUser(scope, undefined)
    const cell = snapshot.find(key)
    if (!cell) errors.set(key, ['Unknown setting.'])
    const expects = version === undefined ? undefined : (revision: number) => revision === version
    return cell ? [{ cell, scope, userId, change: { kind: 'set', value }, expects }] : []
  })
  return { entries, errors }
}

/** 409 with the rows that changed since they were read (decision 24). */
export function toConflict(conflicts: readonly StaleRow[]): Error {
  return new ConflictException('Settings have changed since you read them. Read them again, then decide.', {
    conflicts,
  })
}

function raw(cell: Cell | undefined, value: JsonValue): string | null {
  return cell ? toRaw(cell.setting.definition.type, value) : null
}

function valueOf(layer: Layer | undefined): JsonValue {
  if (layer?.state === 'unreadable') throw layer.error
  return layer?.state === 'valid' ? layer.value : null
}
