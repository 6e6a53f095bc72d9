/** The settings contract for other modules, in process (S 4.2; names in camelCase, without Async). */
import type { JsonValue, SettingScope } from '../setting-definition.ts'
import type { DefinitionFilter } from './read/select.ts'

export type { SettingDefinitions } from '../definitions/registry.ts'

/** One entry of a bulk write (S 2.5). */
export interface BulkSettingUpdate {
  readonly key: string
  readonly scope: SettingScope
  /** `null` clears the stored value. */
  readonly value: JsonValue
  /** The row's version that the caller saw; a different one fails with `ConflictException`. 0 means unset. */
  readonly version?: number
}

/** Where a value comes from. */
export type SettingSource = 'locked' | 'user' | 'application' | 'system' | 'default'

/** A value as responses show it (S 2.4, decision 15). */
export interface SettingValueDto {
  readonly key: string
  readonly scope: SettingScope
  /** Always null for sensitive settings. */
  readonly value: JsonValue
  readonly isOverridden: boolean
  readonly source: SettingSource
  readonly locked: boolean
  /** Revision of the stored row; 0 when unset. */
  readonly version: number
  readonly userId: string | null
  /** ISO 8601, UTC. */
  readonly updatedAt: string | null
  readonly updatedBy: string | null
}

/** Selects values; members are combined with AND (S 2.6). */
export interface SettingsFilter extends DefinitionFilter {
  readonly scope?: SettingScope
  /** Required when `scope` is User. */
  readonly userId?: string
}

/** Who writes, and why: recorded in history and events. */
export interface WriteOptions {
  readonly actor?: string | null
  readonly origin?: string
  readonly requestId?: string | null
  readonly note?: string | null
}

/**
 * The ten operations of the contract. Calls are trusted: no permission is asked, any scope may be written.
 * Unknown keys: reads give null, writes throw `NotFoundException`. User scope without `userId` throws `ArgumentException`.
 */
export interface SettingsContract {
  /** The stored value in raw form (decision 4), or null when none is stored. Sensitive values are real. */
  getSetting(key: string, scope: SettingScope, userId?: string): Promise<string | null>
  /** The stored value decoded, or null when none is stored. */
  getSettingAs<T extends JsonValue = JsonValue>(
    key: string,
    scope: SettingScope,
    userId?: string,
  ): Promise<T | null>
  /** User → application → default, in raw form (S 3.2). */
  resolveUserSetting(key: string, userId: string): Promise<string | null>
  /** User → application → default, decoded, also for sensitive settings (S 2.7). */
  resolveUserSettingElement(key: string, userId: string): Promise<JsonValue>
  /** @throws {SettingValidationException} the value breaks the definition */
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
  /** The same as `deleteSetting` (S 3.1). */
  resetToDefault(key: string, scope: SettingScope, userId?: string, options?: WriteOptions): Promise<void>
  /** Values as responses show them; sensitive ones masked. */
  getSettingValues(filter?: SettingsFilter): Promise<readonly SettingValueDto[]>
  /** One value as responses show it, or null for an unknown key. */
  getSettingValue(key: string, scope: SettingScope, userId?: string): Promise<SettingValueDto | null>
}
