/** Synchronous reads, for everybody or as one user (S 3.2). */
import type { DynamicKey, SettingKeyMap, SettingToken } from '../definitions/tokens.ts'
import type { JsonValue } from '../setting-definition.ts'
import type { Resolution } from '../resolve.ts'
import type { SettingState, SharedValues } from '../memory/shared-values.ts'
import type { UserValues } from '../memory/user-values.ts'
import type { SettingReference } from '../definitions/tokens.ts'
import { keyOf } from '../definitions/tokens.ts'

/** Reads values by token or key. What it returns is deep-frozen. */
export interface SettingsReader {
  /**
   * The value that holds: locked, then (for a user's reader) the user's own, then the application's or the system's,
   * then the default; null if there is none.
   * @throws {FMOD_SETTINGS_UNKNOWN_KEY} no module defines the key
   * @throws {FMOD_SETTINGS_UNREADABLE} the value is sealed with a key that is not configured
   */
  get<T>(token: SettingToken<T>): T
  get<K extends keyof SettingKeyMap & string>(key: K): SettingKeyMap[K]
  get<K extends string>(key: DynamicKey<K>): JsonValue
}

/** The values of one user over the shared ones. */
export interface UserReader extends SettingsReader {
  /** Null for somebody who is not signed in: the shared values. */
  readonly userId: string | null
}

/** The function that reads values without a user: one look-up, nothing allocated. */
export function createSharedGet({
  states,
  require,
}: SharedValues): (reference: SettingReference) => JsonValue {
  return function get(reference) {
    const key = typeof reference === 'string' ? reference : reference.key
    const { shared } = states.get(key) ?? require(key)
    if (shared.error !== undefined) throw shared.error
    return shared.value
  }
}

/** The value for a user, and the layer it comes from. */
export function resolveFor(state: SettingState, values: UserValues): Resolution {
  const own = ownValue(state, values)
  if (own === undefined) return state.shared
  return own instanceof Error ? { source: 'user', value: null, error: own } : { source: 'user', value: own }
}

/** A reader of one user's values as they are now; shared values stay live. */
export function createUserReader(
  sharedValues: SharedValues,
  userId: string | null,
  values: UserValues,
): UserReader {
  function get(reference: SettingReference): unknown {
    const key = keyOf(reference)
    const state = sharedValues.states.get(key) ?? sharedValues.require(key)
    const own = ownValue(state, values)
    if (own === undefined) return unwrap(state.shared)
    if (own instanceof Error) throw own
    return own
  }
  return { userId, get } as UserReader // the token's phantom type says what its definition made sure of
}

/** What the user has stored, undefined where that does not count. */
function ownValue({ place, locked }: SettingState, values: UserValues): JsonValue | Error | undefined {
  return place === undefined || locked !== undefined || place.index >= values.length
    ? undefined
    : values[place.index]
}

/** The value of a resolution. @throws {FMOD_SETTINGS_UNREADABLE} its layer cannot be unsealed */
export function unwrap(resolution: Resolution): JsonValue {
  if (resolution.error !== undefined) throw resolution.error
  return resolution.value
}
