/** Which value holds: the layers of one setting, strongest first (S 3.2, decision 18). Pure. */
import type { JsonValue } from './setting-definition.ts'
import type { StoredRow } from './store/store.ts'

/**
 * A stored value as memory keeps it. `invalid`: it no longer fits its definition and counts as unset;
 * `unreadable`: it is sealed with a key that is not at hand, and reading it must fail rather than pass for unset.
 */
export type Layer =
  | { readonly state: 'valid'; readonly value: JsonValue; readonly row: StoredRow }
  | { readonly state: 'invalid'; readonly row: StoredRow }
  | { readonly state: 'unreadable'; readonly row: StoredRow; readonly error: Error }

/** The layers that may supply one value. */
export interface Layers {
  readonly locked?: JsonValue | undefined
  readonly user?: Layer | undefined
  readonly application?: Layer | undefined
  readonly system?: Layer | undefined
  readonly default: JsonValue
}

/** A value and the layer that supplies it; `error` instead of the value when that layer is unreadable. */
export interface Resolution {
  readonly source: SettingSource
  readonly value: JsonValue
  readonly error?: Error
  /** Where the value is stored; undefined for defaults, locked values and what users' memory supplies. */
  readonly row?: StoredRow
}

/** Locked, user, application, system, default: the first layer that has a value. Callers pass the layers that apply. */
export function resolve(layers: Layers): Resolution {
  if (layers.locked !== undefined) return { source: 'locked', value: layers.locked }
  return (
    supply('user', layers.user) ??
    supply('application', layers.application) ??
    supply('system', layers.system) ?? { source: 'default', value: layers.default }
  )
}

function supply(source: SettingSource, layer: Layer | undefined): Resolution | undefined {
  if (layer === undefined || layer.state === 'invalid') return undefined
  return layer.state === 'valid'
    ? { source, value: layer.value, row: layer.row }
    : { source, value: null, error: layer.error, row: layer.row }
}

/** Where a value comes from. */
export type SettingSource = 'locked' | 'user' | 'application' | 'system' | 'default'
