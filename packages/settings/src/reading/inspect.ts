/** Which layer supplies a value, what the layers beneath hold, and which stored values no definition reads. */
import type { Registry } from '../definitions/registry.ts'
import { resolve, type SettingSource, type SettingState, type SharedValues } from '../memory/shared-values.ts'
import type { LockedBy } from '../overrides.ts'
import type { Layer, RowCodec } from '../secrets/row-codec.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import type { KeyCount, SettingsStore, StoredRow } from '../store/store.ts'
import { isSecret } from '../values/validate.ts'
import { requireUser } from '../memory/user-values.ts'

/** One place that may hold a value. */
export interface InspectedLayer {
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
  /** What fixes a locked value: the option `overrides`, or `SM_SETTINGS_OVERRIDES`; null if it is not locked. */
  readonly lockedBy: LockedBy | null
  /** Whether any stored layer is invalid. */
  readonly invalid: boolean
  /** Strongest first. */
  readonly layers: readonly InspectedLayer[]
}

/** What is stored of a setting that no module defines any more; `rows`: for User scope, how many users have a value. */
export type OrphanedSetting = KeyCount

interface InspectInit {
  readonly store: Pick<SettingsStore, 'users'>
  readonly sharedValues: Pick<SharedValues, 'find'>
  readonly codec: RowCodec
}

/** Makes `settings.inspect`. */
export function createInspect({ store, sharedValues, codec }: InspectInit) {
  return async function inspect(key: string, userId?: string): Promise<SettingInspection | null> {
    const state = sharedValues.find(key)
    if (!state) return null
    const [row] = userId === undefined ? [] : await store.users.read(requireUser(userId), key)
    return inspectState({ state, row, codec })
  }
}

interface Inspected {
  readonly state: SettingState
  /** The stored value of the user in question, if any. */
  readonly row: StoredRow | undefined
  readonly codec: RowCodec
}

function inspectState({ state, row, codec }: Inspected): SettingInspection {
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
    lockedBy: state.lockedBy,
    invalid: layers.some(({ invalid }) => invalid),
    layers,
  }
}

/** Counts the rows without a definition, by key and scope. */
export async function findOrphans(
  store: Pick<SettingsStore, 'survey'>,
  registry: Pick<Registry, 'all'>,
): Promise<readonly OrphanedSetting[]> {
  return (await store.survey({ known: registry.all().map(({ definition }) => definition.key) })).orphans
}
