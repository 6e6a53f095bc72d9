/** Writes of code in process, with options by name: the scope is the definition's, unless it is named. */
import { keyOf, type SettingReference } from '../definitions/tokens.ts'
import { requireSetting, type SettingState, sharedScope, type SharedValues } from '../memory/shared-values.ts'
import { namedScope, rowOwner } from '../memory/owned-values.ts'
import { SettingScope } from '../setting-definition.ts'
import { type BulkSettingUpdate, toBulkEntries } from './bulk.ts'
import { isVersion, type Write, type WriteEntry, type WriteOptions } from './write.ts'

/** Which value of a setting: a user's own, or the shared one. */
export interface ValuePlace {
  /** @default User with a `userId`; else that of the definition, and for a User setting Application: what users inherit */
  readonly scope?: SettingScope
  readonly userId?: string
  /** Whose value; with `userId` the tenant in which rules across settings see the user's value. */
  readonly tenant?: string
}

/** How many values are written. */
export interface SetManyOptions extends WriteOptions {
  /** Writes values of this tenant, whose scope is Tenant; without it System and Application ones. */
  readonly tenant?: string
}

/** How one value is written. Calls are trusted: no permission is checked. */
export interface SetOptions extends ValuePlace, WriteOptions {
  /** Writes only if the row is still at this version; 0 is unset. @throws {PreconditionFailedException} */
  readonly version?: number
}

/**
 * The row that options name.
 * @throws {ArgumentException} User scope without a user, a user with another scope
 */
export function placeOf(state: SettingState, place: ValuePlace) {
  const scope = namedScope(place) ?? sharedScope(state)
  return { scope, owner: rowOwner(scope, scope === SettingScope.Tenant ? place.tenant : place.userId) }
}

interface SetInit {
  readonly sharedValues: SharedValues
  readonly write: Write
}

/** Writes one value, or removes it. */
export async function set(
  { sharedValues, write }: SetInit,
  reference: SettingReference,
  wanted: Pick<WriteEntry, 'value' | 'isReset'>,
  { version, ...options }: SetOptions = {},
): Promise<void> {
  const key = keyOf(reference)
  const state = requireSetting(sharedValues, key)
  const entry = { state, key, ...placeOf(state, options), ...wanted, expects: isVersion(version) }
  await write([entry], options, { tenant: options.tenant })
}

/** Writes many values, all or nothing. */
export async function setMany(
  { sharedValues, write }: SetInit,
  updates: readonly BulkSettingUpdate[],
  options: WriteOptions = {},
  tenant?: string,
): Promise<void> {
  const { entries, unknown } = toBulkEntries(sharedValues, updates, tenant)
  await write(entries, options, { isBulk: true, unknown })
}
