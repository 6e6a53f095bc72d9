/** Which layer supplies a value, and what the layers beneath hold. */
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import { isSecret } from '../values/registered-setting.ts'
import type { StoredRow } from '../store/store.ts'
import { type Layer, resolve, type SettingSource } from '../resolve.ts'
import type { LockedBy } from '../overrides.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import type { SettingState } from '../memory/shared-values.ts'

/** One place that may hold a value. */
export interface InspectedLayer {
  readonly source: SettingSource
  /** Null where nothing is set, and for secrets. */
  readonly value: JsonValue
  readonly isSet: boolean
  /** A stored value that no longer fits its definition, or cannot be unsealed: it counts as unset. */
  readonly invalid: boolean
}

/** What `inspect` answers. */
export interface SettingInspection {
  readonly key: string
  readonly scope: SettingScope
  readonly module: string
  /** The value that holds; null for secrets. */
  readonly value: JsonValue
  readonly source: SettingSource
  /** What fixes a locked value: the option `overrides`, or `SM_SETTINGS_OVERRIDES`; null if it is not locked. */
  readonly lockedBy: LockedBy | null
  /** Whether any stored layer is invalid. */
  readonly invalid: boolean
  /** Strongest first. */
  readonly layers: readonly InspectedLayer[]
}

/** @param row the stored value of the user for whom to inspect, if any */
export function inspectState(
  state: SettingState,
  lockedBy: LockedBy | null,
  row: StoredRow | undefined,
  codec: RowCodec,
): SettingInspection {
  const { definition, module, defaultValue } = state.setting
  const isSystem = definition.scope === SettingScope.System
  // Code in process may store a user's value of any setting; only User settings are resolved with it.
  const user = row && definition.scope === SettingScope.User ? codec.layerOf(state.setting, row) : undefined
  const shared = isSystem ? { system: state.system } : { application: state.application }
  const supplied = resolve({ locked: state.locked, user, ...shared, default: defaultValue })
  const show = (value: JsonValue, from?: StoredRow): JsonValue =>
    isSecret(state.setting, from) ? null : value
  const ofLayer = (source: SettingSource, layer: Layer | undefined): InspectedLayer => ({
    source,
    value: layer?.state === 'valid' ? show(layer.value, layer.row) : null,
    isSet: layer !== undefined,
    invalid: layer !== undefined && layer.state !== 'valid',
  })
  const ofValue = (source: SettingSource, value: JsonValue | undefined): InspectedLayer => ({
    source,
    value: show(value ?? null),
    isSet: value !== undefined,
    invalid: false,
  })
  const layers: InspectedLayer[] = [
    ofValue('locked', state.locked),
    ...(definition.scope === SettingScope.User ? [ofLayer('user', user)] : []),
    isSystem ? ofLayer('system', state.system) : ofLayer('application', state.application),
    ofValue('default', definition.defaultValue === null ? undefined : defaultValue),
  ]
  return {
    key: definition.key,
    scope: definition.scope,
    module,
    value: show(supplied.value, supplied.row),
    source: supplied.source,
    lockedBy,
    invalid: layers.some(({ invalid }) => invalid),
    layers,
  }
}
