/** Values as responses show them: the one place where sensitive values are masked. */
import { type Resolution, resolve, type SettingSource, type SettingState } from '../memory/shared-values.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import type { LockedBy } from '../overrides.ts'
import { type JsonValue, SettingScope, type SharedScope } from '../setting-definition.ts'
import type { StoredRow } from '../store/store.ts'
import { isSecret } from '../values/validate.ts'

/** A System or Application value. */
export function toSharedDto(state: SettingState, scope: SharedScope): SettingValueDto {
  const layer = scope === SettingScope.System ? state.system : state.application
  const own = scope === SettingScope.System ? { system: layer } : { application: layer }
  const resolution = resolve({ locked: state.locked, ...own, default: state.setting.defaultValue })
  return toDto(state, { scope, userId: null, row: layer?.row, resolution })
}

interface OwnValue {
  readonly userId: string
  /** The stored value of the user, if any. */
  readonly row: StoredRow | undefined
  readonly codec: RowCodec
}

/** A user's value, with what is inherited where the user has none of their own. */
export function toUserDto(state: SettingState, { userId, row, codec }: OwnValue): SettingValueDto {
  const layers = {
    locked: state.locked,
    user: row && codec.layerOf(state.setting, row),
    application: state.application,
    default: state.setting.defaultValue,
  }
  return toDto(state, { scope: SettingScope.User, userId, row, resolution: resolve(layers) })
}

interface Shown {
  readonly scope: SettingScope
  readonly userId: string | null
  readonly row: StoredRow | undefined
  readonly resolution: Resolution
}

function toDto(
  { setting, locked, lockedBy }: SettingState,
  { scope, userId, row, resolution }: Shown,
): SettingValueDto {
  return {
    key: setting.definition.key,
    scope,
    value: isSecret(setting, resolution.row) ? null : resolution.value,
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

/** A value as responses show it. */
export interface SettingValueDto {
  readonly key: string
  readonly scope: SettingScope
  /** Null for sensitive settings, and for what was encrypted before a definition stopped being sensitive. */
  readonly value: JsonValue
  readonly isOverridden: boolean
  readonly source: SettingSource
  readonly locked: boolean
  /** What fixes a locked value: the option `overrides`, or `SM_SETTINGS_OVERRIDES`; null if it is not locked. */
  readonly lockedBy: LockedBy | null
  /** Version of the stored row; 0 when unset. */
  readonly version: number
  readonly userId: string | null
  /** ISO 8601, UTC. */
  readonly updatedAt: string | null
  readonly updatedBy: string | null
}
