/** Lists of values in their order: group, order, key. */
import type { Registry } from '../definitions/registry.ts'
import { isUserSetting, type SettingState, sharedScope, type SharedValues } from '../memory/shared-values.ts'
import type { Parts } from '../parts.ts'
import type { Layer } from '../secrets/row-codec.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import { isSecret } from '../values/validate.ts'
import { compareText } from '../store/plan-write.ts'
import { visibleTo } from '../visibility.ts'
import { type SettingValueDto, toSharedDto, toUserDto } from './dto.ts'

/** Returns the function that lists all settings. Its order is kept once the definitions are frozen; until then they grow. */
export function createStates(
  registry: Registry,
  sharedValues: Pick<SharedValues, 'find'>,
): () => readonly SettingState[] {
  let keys: readonly string[] = []
  return function states() {
    const all = registry.all()
    if (keys.length !== all.length) {
      keys = all
        .map(({ definition }) => definition)
        .toSorted(byGroupOrderKey)
        .map(({ key }) => key)
    }
    return keys.flatMap((key) => sharedValues.find(key) ?? [])
  }
}

type Sortable = { readonly group: string | null; readonly order: number; readonly key: string }

function byGroupOrderKey(a: Sortable, b: Sortable): number {
  return compareText(a.group ?? '', b.group ?? '') || a.order - b.order || compareText(a.key, b.key)
}

/** The values of definitions with `public: true`: unreadable ones are null, secrets are left out. */
export function publicValues(states: readonly SettingState[]): Readonly<Record<string, JsonValue>> {
  const stranger = visibleTo(null)
  const shown = states.filter(
    ({ setting, shared }) => stranger.value(setting.definition) && !isSecret(setting, shared),
  )
  return Object.fromEntries(
    shown.map(({ setting, shared }) => [setting.definition.key, shared.error ? null : shared.value]),
  )
}

/** The stored values of one user. */
export interface OwnValues {
  /** Changes with each of them. */
  readonly versions: string
  /** The stored value; undefined where there is none. */
  layerOf(state: SettingState): Layer | undefined
  /** The value as responses show it; its `isOverridden` says whether the user has one. */
  of(state: SettingState): SettingValueDto
  /** The values that the user has stored, of all settings or of one group. */
  list(group?: string): SettingValueDto[]
}

/** Reads the values of a user. @throws {ServiceUnavailableException} the database does not answer */
export async function readOwnValues({ store, codec, states }: Parts, userId: string): Promise<OwnValues> {
  const rows = await store.owned.read({ scope: SettingScope.User, id: userId })
  const byKey = new Map(rows.map((row) => [row.key, row]))
  function layerOf(state: SettingState): Layer | undefined {
    const row = isUserSetting(state) ? byKey.get(state.setting.definition.key) : undefined
    return row && codec.layerOf(state.setting, row)
  }
  const of = (state: SettingState): SettingValueDto => toUserDto(state, userId, layerOf(state))
  return {
    versions: JSON.stringify(rows.map(({ key, revision, updatedBy }) => [key, revision, updatedBy])),
    layerOf,
    of,
    list: (group) =>
      selectStates(states(), group)
        .map(of)
        .filter(({ isOverridden }) => isOverridden),
  }
}

/** The settings of a group, those without one where it is empty, or all of them. */
export function selectStates(
  states: readonly SettingState[],
  group: string | undefined,
): readonly SettingState[] {
  if (group === undefined) return states
  return states.filter(({ setting }) => (setting.definition.group ?? '') === group)
}

/** System and Application values, and the application's default of User settings, stored or not. */
export function listShared(
  states: readonly SettingState[],
  { group, scope }: Pick<SettingsFilter, 'group' | 'scope'>,
): SettingValueDto[] {
  return selectStates(states, group).flatMap((state) => {
    const own = sharedScope(state)
    return scope === undefined || scope === own ? toSharedDto(state) : []
  })
}

/** Selects values; members are combined with AND. */
export interface SettingsFilter {
  /** Empty for settings without one. */
  readonly group?: string | undefined
  readonly scope?: SettingScope | undefined
  /** Selects what this user has stored. Required with User scope. @throws {ArgumentException} another scope, no user */
  readonly userId?: string
}
