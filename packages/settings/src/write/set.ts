/** Writes of code in process, with options by name: the scope is the definition's, unless it is named. */
import { keyOf, type SettingReference } from '../definitions/tokens.ts'
import {
  isUserSetting,
  requireFit,
  requireSetting,
  type SettingState,
  sharedScope,
  type SharedValues,
} from '../memory/shared-values.ts'
import { namedScope, rowUser } from '../memory/user-values.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import {
  type BulkSettingUpdate,
  toBulkEntries,
  toConflict,
  toPreconditionFailed,
  type Write,
  type WriteEntry,
  type WriteOptions,
} from './write.ts'

/** Which value of a setting: that of a user, or the one that belongs to nobody. */
export interface ValuePlace {
  /** @default User with a `userId`; else that of the definition, and for a User setting Application: what users inherit */
  readonly scope?: SettingScope
  readonly userId?: string
}

/** How one value is written. Calls are trusted: no permission is checked. */
export interface SetOptions extends ValuePlace, WriteOptions {
  /** Writes only if the row is still at this version; 0 is unset. @throws {PreconditionFailedException} */
  readonly version?: number
}

/**
 * The row that options name.
 * @throws {ArgumentException} User scope without a user, a user with another scope, a scope that the setting does not have
 */
export function placeOf(state: SettingState, place: ValuePlace) {
  const scope = namedScope(place) ?? sharedScope(state)
  if (scope !== SettingScope.User || !isUserSetting(state)) requireFit(state, scope)
  return { scope, userId: rowUser(scope, place.userId) }
}

interface SetInit {
  readonly sharedValues: SharedValues
  readonly write: Write
}

/** Makes `set`, `reset` and `setMany`. */
export function createSet({ sharedValues, write }: SetInit) {
  async function change(
    reference: SettingReference,
    wanted: WriteEntry['change'],
    { version, ...options }: SetOptions = {},
  ): Promise<void> {
    const state = requireSetting(sharedValues, keyOf(reference))
    const expects = version === undefined ? undefined : (found: number) => found === version
    await write([{ state, ...placeOf(state, options), change: wanted, expects }], options, {
      onStale: toPreconditionFailed,
    })
  }

  return {
    set: (reference: SettingReference, value: JsonValue, options?: SetOptions): Promise<void> =>
      change(reference, { kind: 'set', value }, options),
    reset: (reference: SettingReference, options?: SetOptions): Promise<void> =>
      change(reference, { kind: 'clear' }, options),
    async setMany(updates: readonly BulkSettingUpdate[], options: WriteOptions = {}): Promise<void> {
      const { entries, errors } = toBulkEntries(sharedValues, updates)
      for (const { state, scope } of entries) requireFit(state, scope)
      await write(entries, options, { onStale: toConflict, errors })
    },
  }
}
