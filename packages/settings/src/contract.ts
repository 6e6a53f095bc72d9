/** The settings contract for other modules, in process (names in camelCase, without Async). */
import { namedScope, requireUser, rowOwner } from './memory/owned-values.ts'
import type { Parts } from './parts.ts'
import { isPlaceOf } from './places.ts'
import type { SettingValueDto } from './reading/dto.ts'
import { listShared, readOwnValues, readValue, type SettingsFilter } from './reading/list.ts'
import { resolveWithin, unwrap } from './reading/reader.ts'
import type { Layer } from './secrets/row-codec.ts'
import { isOwned, type JsonValue, SettingScope } from './setting-definition.ts'
import { toRaw } from './values/json.ts'
import { set, setMany, type SetOptions } from './write/set.ts'
import type { BulkSettingUpdate } from './write/bulk.ts'
import { reset, type WriteOptions } from './write/write.ts'

/**
 * The ten operations of the contract. Calls are trusted: no permission is checked. In a scope that the definition does not
 * have, reads give null, writes throw `ArgumentException`, and deleting removes what an older definition has left.
 * Unknown keys: reads give null, writes throw `NotFoundException`. User scope without `userId` throws `ArgumentException`. In
 * Tenant scope `userId` is the id of the tenant.
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
  /** User → tenant, where one is named → application → default, in raw form. */
  resolveUserSetting(key: string, userId: string, tenant?: string): Promise<string | null>
  /** User → tenant, where one is named → application → default, decoded, also for sensitive settings. */
  resolveUserSettingElement(key: string, userId: string, tenant?: string): Promise<JsonValue>
  /**
   * Stores a value. That of everybody of a User setting has Application scope.
   * @throws {SettingValidationException} the value breaks the definition
   * @throws {ArgumentException} User scope without a user, a user with another scope, a scope that the definition does not have
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

export function createContract(parts: Parts): SettingsContract {
  const { sharedValues, users, tenants, states } = parts

  function raw(key: string, value: JsonValue): string | null {
    const state = sharedValues.find(key)
    return state ? toRaw(state.setting.definition.type, value) : null
  }

  /** The stored value; null if there is none, or it no longer fits the definition. */
  async function stored(key: string, scope: SettingScope, userId?: string): Promise<JsonValue> {
    const id = rowOwner(scope, userId)
    const state = sharedValues.find(key)
    if (!state || !isPlaceOf(state.setting, scope)) return null
    const cache = scope === SettingScope.User ? users : scope === SettingScope.Tenant ? tenants : undefined
    const own = cache ? (await cache.load(id)).get(key) : valueOf(state.stored)
    if (own instanceof Error) throw own
    return own ?? null
  }

  async function resolved(key: string, userId: string, tenant?: string): Promise<JsonValue> {
    const user = requireUser(userId)
    const state = sharedValues.find(key)
    return state ? unwrap(await resolveWithin(parts, state, { userId: user, tenant })) : null
  }

  return {
    getSettingAs: async <T extends JsonValue>(...place: Parameters<typeof stored>) =>
      (await stored(...place)) as T | null, // the caller vouches for T
    getSetting: async (key, scope, userId) => raw(key, await stored(key, scope, userId)),
    resolveUserSettingElement: resolved,
    resolveUserSetting: async (key, ...whose) => raw(key, await resolved(key, ...whose)),
    setSetting: (key, value, ...place) => set(parts, key, { value }, toOptions(...place)),
    setMany: (updates, options) => setMany(parts, updates, options),
    deleteSetting: (key, ...place) => set(parts, key, reset, toOptions(...place)),
    resetToDefault: (key, ...place) => set(parts, key, reset, toOptions(...place)),
    async getSettingValues(filter = {}) {
      const scope = namedScope(filter)
      if (scope === undefined || !isOwned(scope)) return listShared(states(), filter)
      const id = rowOwner(scope, scope === SettingScope.Tenant ? filter.tenant : filter.userId)
      return (await readOwnValues(parts, { scope, id }, filter.tenant)).list(filter.group)
    },
    async getSettingValue(key, scope, userId) {
      const owner = rowOwner(scope, userId)
      const state = sharedValues.find(key)
      return state ? readValue(parts, state, { scope, owner }) : null
    },
  }
}

function valueOf(layer: Layer | undefined): JsonValue | Error {
  if (layer?.state === 'unreadable') return layer.error
  return layer?.state === 'valid' ? layer.value : null
}

function toOptions(scope: SettingScope, id?: string, options: WriteOptions = {}): SetOptions {
  const whose = scope === SettingScope.Tenant ? 'tenant' : 'userId'
  return { ...options, scope, ...(id !== undefined && { [whose]: id }) }
}
