/** What a flag evaluates to: one answer for the protocol and for the provider in process. */
import { ArgumentException } from '@fastify-modular/core'
import { FMOD_CORE_INVALID_OPTION } from '@fastify-modular/core/internal'
import { isUserSetting, type Resolution } from '../memory/shared-values.ts'
import { requireUser } from '../memory/owned-values.ts'
import { errorCodes } from '../misuse-errors.ts'
import { resolveWithin } from '../reading/reader.ts'
import { isStorable } from '../setting-definition.ts'
import type { Parts } from '../parts.ts'
import { partsOf, type Settings } from '../settings.ts'
import { isSecret } from '../values/validate.ts'

/** Why a flag has its value, in the words of OpenFeature, by the layer that supplies it. */
export const reasons = {
  locked: 'STATIC',
  user: 'TARGETING_MATCH',
  tenant: 'TARGETING_MATCH',
  application: 'STATIC',
  system: 'STATIC',
  default: 'DEFAULT',
} as const

/** What evaluates flags. @throws {FMOD_CORE_INVALID_OPTION} the settings are a stand-in */
export function flagParts(settings: Settings): Parts {
  const parts = partsOf(settings)
  if (!parts) throw new FMOD_CORE_INVALID_OPTION('flags', 'they need the settings of this package')
  return parts
}

/**
 * The user whom a `targetingKey` names; undefined where it is absent, or empty, as SDKs send it for anonymous callers.
 * @throws {ArgumentException} no user has this id
 */
export function targetOf(targetingKey: string | null | undefined): string | undefined {
  if (targetingKey === undefined || targetingKey === null || targetingKey === '') return undefined
  if (isStorable(requireUser(targetingKey))) return targetingKey
  throw new ArgumentException('No user has this id.', 'targetingKey')
}

/**
 * The value of a flag for the user whom a `targetingKey` names, else the shared one; undefined where there is no such flag.
 * Memory answers; a user who is not in it costs one query.
 * @throws {ArgumentException} no user has this id
 * @throws {ServiceUnavailableException} the database does not answer
 */
export async function evaluate(
  parts: Parts,
  key: string,
  targetingKey: string | undefined,
  tenant?: string,
): Promise<Resolution | undefined> {
  const state = parts.sharedValues.find(key)
  if (!state?.setting.definition.flag) return undefined
  const userId = isUserSetting(state) ? targetOf(targetingKey) : undefined
  const found = await resolveWithin(parts, state, { userId, tenant })
  if (!isSecret(state.setting, found)) return found
  const error = new errorCodes.FMOD_SETTINGS_UNREADABLE(key, 'it was stored as a secret. Write it again')
  return { source: found.source, value: null, error }
}
