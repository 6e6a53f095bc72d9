/** The layer above all others: values that the host's configuration fixes; never persisted (`locked`). */
import { FMOD_CORE_INVALID_OPTION } from '@fastify-modular/core/internal'
import type { Registry } from './definitions/registry.ts'
import { errorCodes, toLines } from './misuse-errors.ts'
import type { JsonValue } from './setting-definition.ts'
import { checkJson, deepFreeze, encodeValue, readText } from './values/json.ts'
import { parseValue, type RegisteredSetting } from './values/validate.ts'

/** Values by key. Those of the environment win over those of the option, being closer to the machine. */
export type Overrides = Readonly<Record<string, JsonValue>>

const environment = 'SM_SETTINGS_OVERRIDES'

/** Where the host fixed a value; `variable`: in the one that the definition names. */
export type LockedBy = 'option' | 'environment' | 'variable'

/** A value that the host fixed. */
export interface LockedValue {
  readonly value: JsonValue
  readonly by: LockedBy
}

/** The locked values by key. */
export type Locked = ReadonlyMap<string, LockedValue>

/** The locked values of the option and of `SM_SETTINGS_OVERRIDES` (one JSON object). */
export function readOverrides(option: Overrides = {}): Locked {
  const locked = new Map<string, LockedValue>()
  const add = (overrides: Overrides, by: LockedBy): void => {
    for (const [key, given] of Object.entries(overrides)) {
      // What is not JSON, or too deep to be walked through, stays as it is until `checkOverrides` refuses it.
      const isJson = checkJson(given, Infinity).length === 0
      locked.set(key, { value: isJson ? deepFreeze(readText(encodeValue(given))) : given, by })
    }
  }
  add(option, 'option')
  add(overridesFromEnvironment(), 'environment')
  return locked
}

/** What fixes the value of a setting, as a write would store it; undefined where nothing does. */
export function lockedValueOf(setting: RegisteredSetting, locked: Locked): LockedValue | undefined {
  const { definition, environment, parseSchema } = setting
  const fixed = locked.get(definition.key)
  if (fixed) return parseSchema ? { ...fixed, value: parseValue(setting, fixed.value).value } : fixed
  return environment === undefined ? undefined : { value: environment, by: 'variable' }
}

/** Checks the locked values once all definitions are known. @throws {FMOD_SETTINGS_INVALID_OVERRIDES} with every problem, no value */
export function checkOverrides(locked: Locked, registry: Registry): void {
  const problems = [...locked].flatMap(([key, { value }]) =>
    value === null && registry.find(key)
      ? `"${key}" is null, which cannot be locked`
      : problemsOf(key, value, registry),
  )
  if (problems.length > 0) throw new errorCodes.FMOD_SETTINGS_INVALID_OVERRIDES(toLines(problems))
}

/** Why a setting cannot have a value; no problem repeats the value. */
export function problemsOf(key: string, value: unknown, registry: Registry): string[] {
  const setting = registry.find(key)
  if (!setting) return [`no module defines "${key}"`]
  return parseValue(setting, value).errors.map((message) => `"${key}": ${message}`)
}

function overridesFromEnvironment(): Overrides {
  const text = process.env[environment]
  if (!text) return {}
  const mustBe = `${environment} must be one JSON object of values by key`
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Overrides // parsed JSON
  } catch (error) {
    // The position alone, where the engine names one: the text may hold secrets, and its message quotes the text.
    const [position] = / at position \d+/.exec(String(error)) ?? ['']
    throw new FMOD_CORE_INVALID_OPTION('the settings plugin', `${mustBe}; it is not valid JSON${position}`)
  }
  throw new FMOD_CORE_INVALID_OPTION('the settings plugin', mustBe)
}
