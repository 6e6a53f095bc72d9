/** The settings contract for other modules, in process (names in camelCase, without Async). */
import {
  isUserSetting,
  requireSetting,
  type SettingState,
  type SharedValues,
} from './memory/shared-values.ts'
import { namedScope, requireUser, rowUser, type UserCache } from './memory/user-values.ts'
import { type SettingValueDto, toSharedDto, toUserDto } from './reading/dto.ts'
import { listShared, readOwnValues, selectStates, type SettingsFilter } from './reading/list.ts'
import { resolveFor, unwrap } from './reading/reader.ts'
import type { Layer, RowCodec } from './secrets/row-codec.ts'
import { type JsonValue, SettingScope } from './setting-definition.ts'
import type { SettingsStore } from './store/store.ts'
import { toRaw } from './values/json.ts'
import {
  type BulkSettingUpdate,
  toBulkEntries,
  toConflict,
  type Write,
  type WriteOptions,
} from './write/write.ts'

export type { SettingDefinitions } from './definitions/registry.ts'

/**
 * The ten operations of the contract. Calls are trusted: no permission is checked, any scope may be written.
 * Unknown keys: reads give null, writes throw `NotFoundException`. User scope without `userId` throws `ArgumentException`.
 */
export interface SettingsContract {
  /** The stored value in raw form, or null when none is stored. Sensitive values are real. */
  getSetting(key: string, scope: SettingScope, userId?: string): Promise<string | null>
  /** The stored value decoded, or null when none is stored. */
  getSettingAs<T extends JsonValue = JsonValue>(
    key: string,
    scope: SettingScope,
    userId?: string,
  ): Promise<T | null>
  /** User → application → default, in raw form. */
  resolveUserSetting(key: string, userId: string): Promise<string | null>
  /** User → application → default, decoded, also for sensitive settings. */
  resolveUserSettingElement(key: string, userId: string): Promise<JsonValue>
  /**
   * Stores a value in any scope, also in one that the definition does not have: there it waits for a definition that has it.
   * @throws {SettingValidationException} the value breaks the definition
   * @throws {ArgumentException} User scope without a user, a user with another scope
   */
  setSetting(
    key: string,
    value: JsonValue,
    scope: SettingScope,
    userId?: string,
    options?: WriteOptions,
  ): Promise<void>
  /** All or nothing, System and Application only. @throws {SettingValidationException} with all errors by key */
  setMany(updates: readonly BulkSettingUpdate[], options?: WriteOptions): Promise<void>
  /** Removes the stored value; removing nothing is fine. */
  deleteSetting(key: string, scope: SettingScope, userId?: string, options?: WriteOptions): Promise<void>
  /** The same as `deleteSetting`. */
  resetToDefault(key: string, scope: SettingScope, userId?: string, options?: WriteOptions): Promise<void>
  /** Values as responses show them; sensitive ones masked. */
  getSettingValues(filter?: SettingsFilter): Promise<readonly SettingValueDto[]>
  /** One value as responses show it, or null for an unknown key. */
  getSettingValue(key: string, scope: SettingScope, userId?: string): Promise<SettingValueDto | null>
}

/** What the operations use. */
export interface ContractParts {
  readonly store: SettingsStore
  readonly sharedValues: SharedValues
  readonly users: UserCache
  readonly codec: RowCodec
  readonly write: Write
  /** All settings in the order of lists: group, order, key. */
  states(): readonly SettingState[]
}

export function createContract(parts: ContractParts): SettingsContract {
  return { ...createReads(parts), ...createWrites(parts) }
}

type Writes = 'setSetting' | 'setMany' | 'deleteSetting' | 'resetToDefault'

function createReads({
  store,
  sharedValues,
  users,
  codec,
  states,
}: ContractParts): Omit<SettingsContract, Writes> {
  /** The stored value; null where none is, or what is stored no longer fits. */
  async function stored(state: SettingState, scope: SettingScope, userId: string): Promise<JsonValue> {
    if (scope === SettingScope.System) return valueOf(state.system)
    if (scope === SettingScope.Application) return valueOf(state.application)
    const { key } = state.setting.definition
    if (!isUserSetting(state)) {
      const [row] = await store.users.read(userId, key)
      return valueOf(row && codec.layerOf(state.setting, row))
    }
    const own = (await users.load(userId)).get(key)
    if (own instanceof Error) throw own
    return own ?? null
  }

  async function getSettingAs<T extends JsonValue>(
    key: string,
    scope: SettingScope,
    userId?: string,
  ): Promise<T | null> {
    const user = rowUser(scope, userId)
    const state = sharedValues.find(key)
    return state ? ((await stored(state, scope, user)) as T | null) : null // the caller vouches for T (S 4.2)
  }

  async function resolveUserSettingElement(key: string, userId: string): Promise<JsonValue> {
    const user = requireUser(userId)
    const state = sharedValues.find(key)
    if (!state) return null
    return unwrap(isUserSetting(state) ? resolveFor(state, await users.load(user)) : state.shared)
  }

  /** Only rows of this user. */
  async function userValues(userId: string, group: string | undefined): Promise<SettingValueDto[]> {
    const own = await readOwnValues({ store, codec }, userId)
    return selectStates(states(), group)
      .map(own.of)
      .filter(({ isOverridden }) => isOverridden)
  }

  return {
    getSettingAs,
    resolveUserSettingElement,
    async getSetting(key, scope, userId) {
      return raw(sharedValues.find(key), await getSettingAs(key, scope, userId))
    },
    async resolveUserSetting(key, userId) {
      return raw(sharedValues.find(key), await resolveUserSettingElement(key, userId))
    },
    async getSettingValues(filter: SettingsFilter = {}) {
      if (namedScope(filter) === SettingScope.User)
        return userValues(requireUser(filter.userId), filter.group)
      return listShared(states(), filter)
    },
    async getSettingValue(key, scope, userId) {
      const user = rowUser(scope, userId)
      const state = sharedValues.find(key)
      if (!state) return null
      if (scope !== SettingScope.User) return toSharedDto(state, scope)
      const [row] = await store.users.read(user, key)
      return toUserDto(state, { userId: user, row, codec })
    },
  }
}

function createWrites({ sharedValues, write }: ContractParts): Pick<SettingsContract, Writes> {
  async function setSetting(
    key: string,
    value: JsonValue,
    scope: SettingScope,
    userId?: string,
    options: WriteOptions = {},
  ): Promise<void> {
    const entry = { ...placeOf(scope, userId), state: requireSetting(sharedValues, key) }
    await write([{ ...entry, change: { kind: 'set', value } }], options, { onStale: toConflict })
  }

  async function deleteSetting(
    key: string,
    scope: SettingScope,
    userId?: string,
    options: WriteOptions = {},
  ): Promise<void> {
    const entry = { ...placeOf(scope, userId), state: requireSetting(sharedValues, key) }
    await write([{ ...entry, change: { kind: 'clear' } }], options, { onStale: toConflict })
  }

  return {
    setSetting,
    deleteSetting,
    resetToDefault: deleteSetting,
    async setMany(updates, options = {}) {
      const { entries, errors } = toBulkEntries(sharedValues, updates)
      await write(entries, options, { onStale: toConflict, errors })
    },
  }
}

function raw(state: SettingState | undefined, value: JsonValue): string | null {
  return state ? toRaw(state.setting.definition.type, value) : null
}

function valueOf(layer: Layer | undefined): JsonValue {
  if (layer?.state === 'unreadable') throw layer.error
  return layer?.state === 'valid' ? layer.value : null
}

/** @throws {ArgumentException} User scope without a user, a user with another scope */
function placeOf(scope: SettingScope, userId: string | undefined) {
  if (userId !== undefined) namedScope({ scope, userId })
  return { scope, userId: rowUser(scope, userId) }
}
