/** Which layer supplies a value, what the layers beneath hold, and which stored values no definition reads. */
import {
  isTenantSetting,
  isUserSetting,
  resolve,
  type SettingSource,
  sharedSource,
} from '../memory/shared-values.ts'
import type { LockedBy } from '../overrides.ts'
import type { Parts } from '../parts.ts'
import type { Layer } from '../secrets/row-codec.ts'
import type { JsonValue, SettingScope } from '../setting-definition.ts'
import type { KeyCount } from '../store/store.ts'
import { isSecret, type RegisteredSetting } from '../values/validate.ts'
import { requireTenantId, requireUser } from '../memory/owned-values.ts'
import { ofTenant, ofUser, readOwnValues } from './list.ts'
import type { Whose } from './reader.ts'

/** One place that may hold a value. */
interface InspectedLayer {
  readonly source: SettingSource
  /** Null where nothing is set, and for secrets. */
  readonly value: JsonValue
  readonly isSet: boolean
  /** A stored value that no longer fits its definition, or cannot be decrypted: it counts as unset. */
  readonly invalid: boolean
}

/** The answer of `inspect`. */
export interface SettingInspection {
  readonly key: string
  readonly scope: SettingScope
  readonly module: string
  /** The effective value; null for secrets. */
  readonly value: JsonValue
  readonly source: SettingSource
  /** What fixes a locked value: the option `overrides`, `SM_SETTINGS_OVERRIDES`, or the variable of its definition; null if it is not locked. */
  readonly lockedBy: LockedBy | null
  /** Whether any stored layer is invalid. */
  readonly invalid: boolean
  /** Strongest first. */
  readonly layers: readonly InspectedLayer[]
}

/** Makes the answer of `settings.inspect`; null for an unknown key. */
export async function inspect(
  parts: Parts,
  key: string,
  { userId, tenant }: Whose = {},
): Promise<SettingInspection | null> {
  const state = parts.sharedValues.find(key)
  if (!state) return null
  const { setting, locked, lockedBy } = state
  const { definition, module, defaultValue } = setting
  const isOfUsers = isUserSetting(state)
  const own = userId === undefined ? undefined : ofUser(requireUser(userId))
  const above = tenant === undefined ? undefined : ofTenant(requireTenantId(tenant))
  const user = own && (await readOwnValues(parts, own)).layerOf(state)
  const inherited = above && (await readOwnValues(parts, above)).layerOf(state)
  const supplied = resolve(state, user, inherited)
  const layers = [
    fixed(setting, 'locked', locked),
    ...(isOfUsers ? [stored(setting, 'user', user)] : []),
    ...(above && isTenantSetting(state) ? [stored(setting, 'tenant', inherited)] : []),
    stored(setting, sharedSource(state), state.stored),
    fixed(setting, 'default', definition.defaultValue === null ? undefined : defaultValue),
  ]
  return {
    key,
    scope: definition.scope,
    module,
    value: isSecret(setting, supplied) ? null : supplied.value,
    source: supplied.source,
    lockedBy,
    invalid: layers.some(({ invalid }) => invalid),
    layers,
  }
}

/** A value that the host or the definition names. */
function fixed(setting: RegisteredSetting, source: SettingSource, value: JsonValue = null): InspectedLayer {
  const shown = isSecret(setting, undefined) ? null : value
  return { source, value: shown, isSet: value !== null, invalid: false }
}

function stored(setting: RegisteredSetting, source: SettingSource, layer?: Layer): InspectedLayer {
  const isValid = layer?.state === 'valid'
  const value = isValid && !isSecret(setting, layer.row) ? layer.value : null
  return { source, value, isSet: layer !== undefined, invalid: layer !== undefined && !isValid }
}

/** Counts the rows that no definition reads, by key and scope. */
export async function findOrphans({ store, registry }: Parts): Promise<readonly KeyCount[]> {
  const known = registry
    .all()
    .flatMap(({ definition, places }) => places.map((scope) => ({ scope, key: definition.key })))
  return store.orphans(known)
}
