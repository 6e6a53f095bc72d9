/** Synchronous reads of shared values, and of one user's. */
import {
  type DynamicKey,
  type SettingKeyMap,
  type SettingReference,
  type SettingToken,
} from '../definitions/tokens.ts'
import type { JsonValue } from '../setting-definition.ts'
import {
  isTenantSetting,
  isUserSetting,
  type Resolution,
  type SettingState,
  type SharedValues,
} from '../memory/shared-values.ts'
import { type OwnedCache, type OwnedValues, requireTenantId, requireUser } from '../memory/owned-values.ts'
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
  /** The tenant whose values are between the user's own and the shared ones; null without one. */
  readonly tenant: string | null
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

/** Whose values are read. */
export interface Whose {
  readonly userId?: string | undefined
  readonly tenant?: string | undefined
}

/**
 * The value for a user, in a tenant, and the layer it comes from: at once where memory has both, or after a query for
 * each that it has not.
 */
export function resolveWithin(
  { users, tenants }: Readonly<Record<'users' | 'tenants', Pick<OwnedCache, 'load'>>>,
  state: SettingState,
  { userId, tenant }: Whose,
): Resolution | Promise<Resolution> {
  const own = userId !== undefined && isUserSetting(state) ? users.load(userId) : undefined
  const shared = tenant !== undefined && isTenantSetting(state) ? tenants.load(tenant) : undefined
  if (own instanceof Promise || shared instanceof Promise)
    return Promise.all([own, shared]).then((loaded) => resolveOver(state, ...loaded))
  return resolveOver(state, own, shared)
}

function resolveOver(state: SettingState, own?: OwnedValues, shared?: OwnedValues): Resolution {
  if (state.locked !== undefined) return state.shared
  const found = (own && supplied('user', state, own)) ?? (shared && supplied('tenant', state, shared))
  return found ?? state.shared
}

function supplied(
  source: 'user' | 'tenant',
  { setting: { definition } }: SettingState,
  values: OwnedValues,
): Resolution | undefined {
  const { key } = definition
  const own = values.get(key)
  if (own === undefined) return undefined
  if (own instanceof Error) return { source, value: null, error: own }
  return { source, value: own, encrypted: values.pastSecrets?.has(key) ?? false }
}

/** Whose reader it is; null for the shared values, and without a tenant. */
type Reading = Pick<UserReader, 'userId' | 'tenant'>

/**
 * A reader of one user's values as they are now, then of a tenant's, then of the shared ones, which stay live. A stranger gets
 * public values of the tenant only.
 */
export async function readUser(
  { sharedValues, users, tenants }: Parts,
  { userId, tenant }: Reading,
  isStranger = false,
): Promise<UserReader> {
  const { states } = sharedValues
  const own: OwnedValues = userId === null ? new Map() : await users.load(requireUser(userId))
  const inherited = tenant === null ? undefined : await tenants.load(requireTenantId(tenant))
  function get(reference: SettingReference): unknown {
    const key = typeof reference === 'string' ? reference : reference.key
    const { shared, locked, setting } = states.get(key) ?? sharedValues.require(key)
    const found = locked === undefined ? (own.get(key) ?? inherited?.get(key)) : undefined
    if (found === undefined || (isStranger && !setting.definition.public)) return unwrap(shared)
    if (typeof found === 'object' && found instanceof Error) throw found
    return found
  }
  return { userId, tenant, get } as UserReader // the token's phantom type says what its definition made sure of
}

/** The value of a resolution. @throws {FMOD_SETTINGS_UNREADABLE} its layer cannot be decrypted */
export function unwrap(resolution: Resolution): JsonValue {
  if (resolution.error !== undefined) throw resolution.error
  return resolution.value
}
