/** Checks values against their definitions (S 2.3, decisions 7–12). Nothing is coerced, no message repeats a value. */
import { SettingType, type JsonValue } from '../setting-definition.ts'
import { FMOD_SETTINGS_INVALID_RULE_RESULT } from '../misuse-errors.ts'
import { checkNumber, checkText, checkUrl, isColor, isDateTime, isEmail } from './formats.ts'
import { checkJson } from './json.ts'
import { checkSchema } from './json-schema.ts'
import type { PatternBudget } from './pattern.ts'
import type { RegisteredSetting } from './registered-setting.ts'

/**
 * Whether the value counts as none (decision 10): null, the empty string, and white space where a Text or
 * MultilineText is required. A required setting refuses these; elsewhere null clears, and `""` is a value of text.
 */
export function isEmptyValue({ definition }: RegisteredSetting, value: unknown): boolean {
  if (value === null || value === '') return true
  const trimmed = definition.type === SettingType.Text || definition.type === SettingType.MultilineText
  return definition.required && trimmed && typeof value === 'string' && value.trim() === ''
}

/**
 * Returns everything that is wrong with a value, as messages that say what to enter; none if it may be written.
 * Null is fine unless the setting is required: it clears.
 * @param budget the work that patterns may do, shared by all values of one request
 * @throws {FMOD_SETTINGS_INVALID_RULE_RESULT} the definition's own rule returned something other than messages
 */
export function validateValue(setting: RegisteredSetting, value: unknown, budget: PatternBudget): string[] {
  if (isEmptyValue(setting, value)) {
    if (setting.definition.required) return ['A value is required.']
    if (value === null || isTextLike(setting.definition.type)) return []
  }
  const problems = checkType(setting, value, budget)
  return problems.length > 0 ? problems : checkRule(setting, value)
}

/** Whether values of the type are any text that fits its format, so that their raw form is the text itself. */
export function isTextLike(type: SettingType): boolean {
  return (
    type !== SettingType.Number &&
    type !== SettingType.Bool &&
    type !== SettingType.Json &&
    type !== SettingType.Select
  )
}

/**
 * The messages of a rule of the developer's own.
 * @param subject what the rule is about, for the error
 * @throws {FMOD_SETTINGS_INVALID_RULE_RESULT} the rule returned something other than messages
 */
export function messagesOf(result: unknown, subject: string): string[] {
  if (result === undefined || result === null) return []
  const messages: readonly unknown[] = Array.isArray(result) ? result : [result]
  if (!messages.every((message) => typeof message === 'string'))
    throw new FMOD_SETTINGS_INVALID_RULE_RESULT(subject)
  return [...messages]
}

function checkType(setting: RegisteredSetting, value: unknown, budget: PatternBudget): string[] {
  const { definition, maxBytes } = setting
  switch (definition.type) {
    case SettingType.Number:
      return checkNumber(value, definition)
    case SettingType.Bool:
      return typeof value === 'boolean' ? [] : ['Enter a boolean: true or false.']
    case SettingType.Json:
      return value === '' ? ['Enter JSON other than an empty string.'] : checkJsonValue(setting, value)
    case SettingType.Select:
      return checkMember(value, definition.allowedValues ?? [])
    default:
      if (typeof value !== 'string') return ['Enter text.']
      return [...checkText(value, maxBytes), ...checkFormat(setting, value, budget)]
  }
}

function checkJsonValue({ schema, maxBytes }: RegisteredSetting, value: unknown): string[] {
  const problems = checkJson(value, maxBytes)
  return problems.length === 0 && schema ? checkSchema(schema, value) : problems
}

function checkMember(value: unknown, allowed: readonly string[]): string[] {
  return typeof value === 'string' && allowed.includes(value) ? [] : [`Enter one of: ${allowed.join(', ')}.`]
}

function checkFormat(setting: RegisteredSetting, text: string, budget: PatternBudget): string[] {
  switch (setting.definition.type) {
    case SettingType.Color:
      return isColor(text) ? [] : ['Enter a hex color like #3b82f6.']
    case SettingType.Url:
      return checkUrl(text)
    case SettingType.Email:
      return isEmail(text) ? [] : ['Enter one email address, like name@example.com.']
    case SettingType.DateTime:
      return isDateTime(text) ? [] : ['Enter an ISO 8601 date-time, like 2025-01-31T14:30:00Z.']
    default:
      return checkPattern(setting, text, budget)
  }
}

function checkPattern(
  { definition, pattern, maxBytes }: RegisteredSetting,
  text: string,
  budget: PatternBudget,
): string[] {
  if (!pattern || text.length > maxBytes) return []
  const found = budget.search(pattern, text)
  if (found === undefined)
    return ['Enter shorter text: checking it against the pattern of this setting takes too much work.']
  return found ? [] : [definition.patternHint ?? `Enter text that matches the pattern ${pattern.source}`]
}

function checkRule({ definition, validate }: RegisteredSetting, value: unknown): string[] {
  return validate ? messagesOf(validate(value as JsonValue), definition.key) : [] // checkType has parsed it
}
