/** Fills and copies the members that only user interfaces look at. What is wrong stays as it is, for the check to report. */
import type {
  CompleteDefinition,
  JsonValue,
  SettingHints,
  SettingOption,
  ShowWhen,
} from '../setting-definition.ts'
import { deepFreeze, encodeValue, readText } from '../values/decode.ts'
import { checkJson } from '../values/json.ts'
import { defaultLimits } from '../values/limits.ts'

/** The members of `SettingHints`, all present. */
export type CompleteHints = Pick<CompleteDefinition, keyof SettingHints>

/** Fills the members that were left out and copies the rest, frozen. */
export function completeHints(declared: SettingHints): CompleteHints {
  return {
    options: copyOptions(declared.options),
    unit: declared.unit ?? null,
    tags: Array.isArray(declared.tags) ? Object.freeze([...declared.tags]) : (declared.tags ?? []),
    hidden: declared.hidden ?? false,
    advanced: declared.advanced ?? false,
    showWhen: copyCondition(declared.showWhen),
    confirm: declared.confirm ?? null,
    restart: declared.restart ?? false,
    docsUrl: declared.docsUrl ?? null,
  }
}

/** Whether a value can be told over HTTP as it is. */
export function isJson(value: unknown): value is JsonValue {
  return checkJson(value, defaultLimits.longBytes).length === 0
}

function copyOptions(options: readonly SettingOption[] | null | undefined): CompleteHints['options'] {
  if (options === null || options === undefined) return null
  if (!Array.isArray(options)) return [] // refused like an empty list
  return Object.freeze(options.map((option: SettingOption | null) => copyOption(option)))
}

function copyOption(option: SettingOption | null): Required<SettingOption> {
  const { value = '', label = '', description = null } = option ?? {}
  return Object.freeze({ value, label, description })
}

function copyCondition(condition: ShowWhen | null | undefined): ShowWhen | null {
  if (typeof condition !== 'object' || condition === null) return condition ?? null
  const { key, equals } = condition
  return Object.freeze({ key, equals: isJson(equals) ? deepFreeze(readText(encodeValue(equals))) : equals })
}
