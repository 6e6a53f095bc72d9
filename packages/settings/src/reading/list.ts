/** Lists of values in their order: group, order, key. */
import type { Registry } from '../definitions/registry.ts'
import {
  type Resolution,
  type SettingState,
  sharedScope,
  type SharedValues,
} from '../memory/shared-values.ts'
import type { Parts } from '../parts.ts'
import { isPlaceOf } from '../places.ts'
import type { Owner, RowId, StoredRow } from '../store/store.ts'
import type { Layer } from '../secrets/row-codec.ts'
import { isOwned, type JsonValue, SettingScope } from '../setting-definition.ts'
import { isSecret } from '../values/validate.ts'
import { compareText } from '../store/plan-write.ts'
import { visibleTo } from '../visibility.ts'
import type { EntryOutcome } from '../write/write.ts'
import { type SettingValueDto, toOwnedDto, toSharedDto } from './dto.ts'
import { resolveWithin, type Whose } from './reader.ts'

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
export function publicValues(
  states: readonly SettingState[],
  resolutionOf: (state: SettingState) => Resolution = ({ shared }) => shared,
): Readonly<Record<string, JsonValue>> {
  const stranger = visibleTo(null)
  const shown = states.flatMap((state) => {
    const { definition } = state.setting
    const found = resolutionOf(state)
    return stranger.value(definition) && !isSecret(state.setting, found) ? { key: definition.key, found } : []
  })
  return Object.fromEntries(shown.map(({ key, found }) => [key, found.error ? null : found.value]))
}

/** The same as they hold for a user, or in a tenant. */
export async function publicValuesFor(parts: Parts, whose: Whose) {
  const states = parts.states().filter(({ setting }) => setting.definition.public)
  const found = states.map(async (state) => [state, await resolveWithin(parts, state, whose)] as const)
  const resolutions = new Map(await Promise.all(found))
  return publicValues(states, (state) => resolutions.get(state) ?? state.shared)
}

/** The stored values of one user, or of a tenant. */
export interface OwnValues {
  /** The stored value; undefined where there is none. */
  layerOf(state: SettingState): Layer | undefined
  /** The value as responses show it; its `isOverridden` says whether the owner has one. */
  of(state: SettingState): SettingValueDto
  /** What holds where the owner has no value. */
  inherited(state: SettingState): SettingValueDto
  /** The values that the owner has stored, of all settings or of one group. */
  list(group?: string): SettingValueDto[]
}

/**
 * Reads the values of a tenant, or of a user with those of the tenant that the user inherits from.
 * @throws {ServiceUnavailableException} the database does not answer
 */
export async function readOwnValues(parts: Parts, owner: Owner, tenant?: string): Promise<OwnValues> {
  const isOfUser = owner.scope === SettingScope.User
  const [rows, above] = await Promise.all([
    isOfUser ? parts.store.owned.read(owner) : rowsOfTenant(parts, owner.id),
    isOfUser && tenant !== undefined ? readOwnValues(parts, ofTenant(tenant)) : undefined,
  ])
  const byKey = new Map(rows.map((row) => [row.key, row]))
  const layerOf = ({ setting }: SettingState): Layer | undefined => {
    const row = isPlaceOf(setting, owner.scope) ? byKey.get(setting.definition.key) : undefined
    return row && parts.codec.layerOf(setting, row)
  }
  const of = (state: SettingState) => toOwnedDto(state, owner, layerOf(state), above?.layerOf(state))
  return {
    layerOf,
    of,
    inherited: above?.of ?? toSharedDto,
    list: (group) =>
      selectStates(parts.states(), group)
        .map(of)
        .filter(({ isOverridden }) => isOverridden),
  }
}

/** From memory: all members of a tenant need its rows at once when one has changed. */
async function rowsOfTenant({ tenants }: Parts, id: string): Promise<readonly StoredRow[]> {
  return (await tenants.load(id)).rows ?? []
}

/** The tenant as an owner of values. */
export function ofTenant(id: string): Owner {
  return { scope: SettingScope.Tenant, id }
}

/** The user as an owner of values. */
export function ofUser(id: string): Owner {
  return { scope: SettingScope.User, id }
}

/**
 * One value as responses show it; null in a scope that the setting does not have.
 * @param tenant what a user inherits from
 */
export async function readValue(
  parts: Parts,
  state: SettingState,
  { scope, owner }: Pick<RowId, 'scope' | 'owner'>,
  tenant?: string,
): Promise<SettingValueDto | null> {
  if (!isPlaceOf(state.setting, scope)) return null
  if (!isOwned(scope)) return toSharedDto(state)
  return (await readOwnValues(parts, { scope, id: owner }, tenant)).of(state)
}

/** What a user inherits from a tenant after a write that removed the user's own value. */
export async function inheritedBy(
  parts: Parts,
  written: EntryOutcome | undefined,
  tenant: string | undefined,
): Promise<Layer | undefined> {
  if (tenant === undefined || written?.entry.scope !== SettingScope.User || written.after) return undefined
  return (await readOwnValues(parts, ofTenant(tenant))).layerOf(written.entry.state)
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
  /** Selects what this tenant has stored; with `userId` what the user inherits from. Required with Tenant scope. */
  readonly tenant?: string
}
