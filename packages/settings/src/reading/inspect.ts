/** Which layer supplies a value, and what the layers beneath hold. */
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import type { StoredRow } from '../store/store.ts'
import { type Layer, resolve, type SettingSource } from '../resolve.ts'
import type { LockedBy } from '../overrides.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import type { SettingState } from '../memory/shared-values.ts'

/** One place that may hold a value. */
export interface InspectedLayer {
  readonly source: SettingSource
  /** Null where nothing is set, and for sensitive settings. */
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
  /** The value that holds; null for sensitive settings. */
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
  const { source, value } = resolve({ locked: state.locked, user, ...shared, default: defaultValue })
  const show = (shown: JsonValue): JsonValue => (definition.sensitive ? null : shown)
  const layers: InspectedLayer[] = [
    inspectValue('locked', state.locked),
    ...(definition.scope === SettingScope.User ? [inspectLayer('user', user)] : []),
    isSystem ? inspectLayer('system', state.system) : inspectLayer('application', state.application),
    inspectValue('default', definition.defaultValue === null ? undefined : defaultValue),
  ].map((layer) => ({ ...layer, value: show(layer.value) }))
  return {
    key: definition.key,
    scope: definition.scope,
    module,
    value: show(value),
    source,
    lockedBy,
    invalid: layers.some(({ invalid }) => invalid),
    layers,
  }
}

function inspectValue(source: SettingSource, value: JsonValue | undefined): InspectedLayer {
  return { source, value: value ?? null, isSet: value !== undefined, invalid: false }
}

function inspectLayer(source: SettingSource, layer: Layer | undefined): InspectedLayer {
  if (layer?.state === 'valid') return { source, value: layer.value, isSet: true, invalid: false }
  return { source, value: null, isSet: layer !== undefined, invalid: layer !== undefined }
}
