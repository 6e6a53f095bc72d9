/** Synchronous reads of shared values, and of one user's. */
import {
  type DynamicKey,
  type SettingKeyMap,
  type SettingReference,
  type SettingToken,
} from '../definitions/tokens.ts'
import type { JsonValue } from '../setting-definition.ts'
import type { Resolution, SettingState, SharedValues } from '../memory/shared-values.ts'
import { requireUser, type OwnedValues } from '../memory/owned-values.ts'
import type { Parts } from '../parts.ts'

/** Reads values by token or key. What it returns is deep-frozen. */
export interface SettingsReader {
  /**
   * The effective value: locked, then (for a user's reader) the user's own, then the application's or the system's,
   * then the default; null if there is none.
   * @throws {FMOD_SETTINGS_UNKNOWN_KEY} no module defines the key
   * @throws {FMOD_SETTINGS_UNREADABLE} the value is encrypted with a key that is not configured
   */
  get<T>(token: SettingToken<T>): T
  get<K extends keyof SettingKeyMap & string>(key: K): SettingKeyMap[K]
  get<K extends string>(key: DynamicKey<K>): JsonValue
}

/** The values of one user over the shared ones. */
export interface UserReader extends SettingsReader {
  /** Null for the shared values: the caller is not signed in. */
  readonly userId: string | null
}

/** The function that reads values without a user. Written out, as its sister for users is: helpers would double the time. */
export function createSharedGet(sharedValues: SharedValues): (reference: SettingReference) => JsonValue {
  const { states } = sharedValues
  return function get(reference) {
    const key = typeof reference === 'string' ? reference : reference.key
    const { shared } = states.get(key) ?? sharedValues.require(key)
    if (shared.error !== undefined) throw shared.error
    return shared.value
  }
}

/** The value for a user, and the layer it comes from. */
export function resolveFor(state: SettingState, values: OwnedValues): Resolution {
  const { key } = state.setting.definition
  const own = state.locked === undefined ? values.get(key) : undefined
  if (own === undefined) return state.shared
  if (own instanceof Error) return { source: 'user', value: null, error: own }
  return { source: 'user', value: own, encrypted: values.pastSecrets?.has(key) ?? false }
}

/** A reader of one user's values as they are now, or without a user of the shared ones; those stay live. */
export async function readUser({ sharedValues, users }: Parts, userId: string | null): Promise<UserReader> {
  const { states } = sharedValues
  const values: OwnedValues = userId === null ? new Map() : await users.load(requireUser(userId))
  function get(reference: SettingReference): unknown {
    const key = typeof reference === 'string' ? reference : reference.key
    const { shared, locked } = states.get(key) ?? sharedValues.require(key)
    const own = locked === undefined ? values.get(key) : undefined
    if (own === undefined) return unwrap(shared)
    if (typeof own === 'object' && own instanceof Error) throw own
    return own
  }
  return { userId, get } as UserReader // the token's phantom type says what its definition made sure of
}

/** The value of a resolution. @throws {FMOD_SETTINGS_UNREADABLE} its layer cannot be decrypted */
export function unwrap(resolution: Resolution): JsonValue {
  if (resolution.error !== undefined) throw resolution.error
  return resolution.value
}
