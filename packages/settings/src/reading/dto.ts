/** Values as responses show them: the one place where sensitive values are masked. */
import {
  resolve,
  type Resolution,
  type SettingSource,
  type SettingState,
  sharedScope,
} from '../memory/shared-values.ts'
import type { Layer, RowCodec } from '../secrets/row-codec.ts'
import type { LockedBy } from '../overrides.ts'
import type { Parts } from '../parts.ts'
import { isOwned, type JsonValue, SettingScope } from '../setting-definition.ts'
import type { Owner } from '../store/store.ts'
import { isSecret } from '../values/validate.ts'
import type { ChangeKind, EntryOutcome } from '../write/write.ts'

/** The value of everybody. */
export function toSharedDto(state: SettingState): SettingValueDto {
  return toDto(state, { scope: sharedScope(state), userId: null }, state.shared, state.stored)
}

/** The value of a user or a tenant, or the one that is inherited: by a user that of a tenant, where there is one. */
export function toOwnedDto(
  state: SettingState,
  { scope, id }: Owner,
  own: Layer | undefined,
  ofTenant?: Layer,
): SettingValueDto {
  if (scope === SettingScope.User)
    return toDto(state, { scope, userId: id }, resolve(state, own, ofTenant), own)
  return { ...toDto(state, { scope, userId: null }, resolve(state, undefined, own), own), tenant: id }
}

/**
 * The value after a write: the state from before it has the old one.
 * @param ofTenant what a user inherits from a tenant
 */
export function toStoredDto(
  { sharedValues, codec }: Parts,
  { entry, after }: EntryOutcome,
  ofTenant?: Layer,
): SettingValueDto {
  const { key, scope, owner } = entry
  const state = sharedValues.require(key)
  if (!isOwned(scope)) return toSharedDto(state)
  const layer = after && codec.layerOf(state.setting, after)
  return toOwnedDto(state, { scope, id: owner }, layer, ofTenant)
}

function toDto(
  { setting, locked, lockedBy }: SettingState,
  { scope, userId }: { readonly scope: SettingScope; readonly userId: string | null },
  resolution: Resolution,
  stored: Layer | undefined,
): SettingValueDto {
  const row = stored?.row
  return {
    key: setting.definition.key,
    scope,
    value: isSecret(setting, resolution) ? null : resolution.value,
    isOverridden: row !== undefined,
    source: resolution.source,
    locked: locked !== undefined,
    lockedBy,
    version: row?.revision ?? 0,
    userId,
    updatedAt: row ? new Date(row.updatedAt).toISOString() : null,
    updatedBy: row?.updatedBy ?? null,
  }
}

/** How a write changes, or would change, one value; secrets as null. */
export interface ValueChange {
  readonly key: string
  readonly scope: SettingScope
  readonly change: ChangeKind
  /** The value before the write. */
  readonly oldValue: JsonValue
  readonly newValue: JsonValue
}

export function toValueChange({ entry, kind, before }: EntryOutcome, codec: RowCodec): ValueChange {
  const { key, scope, state, value } = entry
  // From the database: memory may not have what another process wrote.
  const layer = before && codec.layerOf(state.setting, before)
  const isShown = layer?.state === 'valid' && !isSecret(state.setting, before)
  return {
    key,
    scope,
    change: kind,
    oldValue: isShown ? layer.value : null,
    newValue: isSecret(state.setting, undefined) ? null : value,
  }
}

/** A value as responses show it. */
export interface SettingValueDto {
  readonly key: string
  readonly scope: SettingScope
  /** Null for sensitive settings, and for values encrypted before their definition stopped being sensitive. */
  readonly value: JsonValue
  readonly isOverridden: boolean
  readonly source: SettingSource
  readonly locked: boolean
  /** What fixes a locked value: the option `overrides`, `SM_SETTINGS_OVERRIDES`, or the variable of its definition; null if it is not locked. */
  readonly lockedBy: LockedBy | null
  /** Version of the stored row; 0 when unset. */
  readonly version: number
  readonly userId: string | null
  /** Of Tenant scope alone: whose value it is. */
  readonly tenant?: string
  /** ISO 8601, UTC. */
  readonly updatedAt: string | null
  readonly updatedBy: string | null
}
