/** Registered settings, and the checks of their values. Nothing is coerced, no message repeats a value. */
import { ignoreRejection, isThenable } from '@fastify-modular/core/internal'
import {
  type CompleteDefinition,
  isStorable,
  type JsonValue,
  type SettingDefinition,
  SettingType,
} from '../setting-definition.ts'
import { errorCodes } from '../misuse-errors.ts'
import { checkJson } from './json.ts'
import type { Places } from '../places.ts'
import type { ParseSchema } from './json-schema.ts'
import type { CompiledPattern, PatternBudget } from './pattern.ts'

/** One registered setting; frozen. */
export interface RegisteredSetting {
  readonly definition: CompleteDefinition
  /** The module that declared it; the host's own definitions name the host. */
  readonly module: string
  /** The scopes in which it has values. */
  readonly places: Places
  /** The default decoded and deep-frozen; null if there is none. */
  readonly defaultValue: JsonValue
  /** The value that its environment variable fixes, deep-frozen. */
  readonly environment: JsonValue | undefined
  /** Null where there is none, or the type ignores patterns. */
  readonly pattern: TextPattern | null
  /** The longest text, in UTF-16 units; null where its bytes alone decide. */
  readonly maxLength: number | null
  /** Of the values of a Json; null where anything goes. */
  readonly parseSchema: ParseSchema | null
  readonly validate: NonNullable<SettingDefinition['validate']> | null
  /** The longest value, in UTF-8 bytes of its text. */
  readonly maxBytes: number
}

interface TextPattern extends CompiledPattern {
  /** Of a text that it refuses. */
  readonly message: string
}

/**
 * Whether responses hide a stored value: the definition is sensitive, or was when the value was encrypted.
 * @param stored undefined for defaults and locked values
 */
export function isSecret(
  { definition }: RegisteredSetting,
  stored: { readonly encrypted?: boolean } | undefined,
): boolean {
  return definition.sensitive || stored?.encrypted === true
}

/** Limits of values, in UTF-8 bytes of their text. */
export interface ValueLimits {
  /** MultilineText and Json. @default 65536 */
  readonly longBytes: number
  /** All other types. @default 16384 */
  readonly textBytes: number
}

export const defaultLimits: ValueLimits = { longBytes: 64 * 1024, textBytes: 16 * 1024 }

/** The limit of a setting's values, by type. */
export function maxBytesOf(type: SettingType, limits: ValueLimits): number {
  return type === SettingType.MultilineText || type === SettingType.Json ? limits.longBytes : limits.textBytes
}

/**
 * Whether the value counts as none: null, the empty string, and white space where a Text or
 * MultilineText is required. A required setting refuses these; elsewhere null clears, and `""` is a value of text.
 */
export function isEmptyValue({ definition }: RegisteredSetting, value: unknown): boolean {
  if (value === null || value === '') return true
  const trimmed = definition.type === SettingType.Text || definition.type === SettingType.MultilineText
  return definition.required && trimmed && typeof value === 'string' && value.trim() === ''
}

/** A value as it is stored, unless there are messages that say what to enter. */
interface ParsedValue {
  readonly value: JsonValue
  readonly errors: readonly string[]
}

/**
 * Returns everything that is wrong with a value, or the value to store: another one where a validator made it.
 * Null is fine unless the setting is required: it clears.
 * @param budget shared by all values of one write; without it the pattern is searched whatever was before
 * @throws {FMOD_SETTINGS_INVALID_RULE_RESULT} the definition's rule or validator throws, or returns something other than what is wrong
 */
export function parseValue(setting: RegisteredSetting, given: unknown, budget?: PatternBudget): ParsedValue {
  const value = given as JsonValue // what is no JSON gets messages
  if (isEmptyValue(setting, value)) {
    if (setting.definition.required) return { value, errors: ['A value is required.'] }
    if (value === null || isTextLike(setting.definition.type)) return { value, errors: [] }
  }
  const errors = checkType(setting, value, budget)
  if (errors.length > 0) return { value, errors }
  const parsed = setting.parseSchema?.(value) ?? { value, errors }
  return parsed.errors.length > 0 ? parsed : { ...parsed, errors: checkRule(setting, parsed.value) }
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

/** What a rule of the developer's own is about: the keys, for its error, and whether one of the values is a secret. */
interface RuleSubject {
  readonly keys: string
  readonly isSecret: boolean
}

/**
 * The messages of a rule of the developer's own.
 * @throws {FMOD_SETTINGS_INVALID_RULE_RESULT} it returned something other than messages, or it threw at a secret
 */
export function askRule(rule: () => unknown, { keys, isSecret }: RuleSubject): string[] {
  let result: unknown
  try {
    result = rule()
  } catch (error) {
    // What is thrown may quote the value: a TypeError of `new URL` has it as a member.
    throw isSecret ? new errorCodes.FMOD_SETTINGS_INVALID_RULE_RESULT(keys, 'its rule throws') : error
  }
  if (isThenable(result)) ignoreRejection(result)
  if (result === undefined || result === null) return []
  const messages: readonly unknown[] = Array.isArray(result) ? result : [result]
  if (!messages.every((message) => typeof message === 'string'))
    throw new errorCodes.FMOD_SETTINGS_INVALID_RULE_RESULT(
      keys,
      'its rule returns something other than messages',
    )
  return [...messages]
}

function checkType(setting: RegisteredSetting, value: unknown, budget?: PatternBudget): string[] {
  const { definition } = setting
  switch (definition.type) {
    case SettingType.Number:
      return checkNumber(value, definition)
    case SettingType.Bool:
      return typeof value === 'boolean' ? [] : ['Enter a boolean: true or false.']
    case SettingType.Json:
      return value === '' ? ['Enter JSON other than an empty string.'] : checkJson(value, setting.maxBytes)
    case SettingType.Select:
      return checkMember(value, definition.allowedValues ?? [])
    default:
      if (typeof value !== 'string') return ['Enter text.']
      return [...checkText(setting, value), ...checkFormat(setting, value, budget)]
  }
}

function checkMember(value: unknown, allowed: readonly string[]): string[] {
  return typeof value === 'string' && allowed.includes(value) ? [] : [`Enter one of: ${allowed.join(', ')}.`]
}

function checkFormat(setting: RegisteredSetting, text: string, budget?: PatternBudget): string[] {
  switch (setting.definition.type) {
    case SettingType.Color:
      return isColor(text) ? [] : ['Enter a colour like #3b82f6.']
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

function checkPattern(setting: RegisteredSetting, text: string, budget: PatternBudget | undefined): string[] {
  const { pattern } = setting
  if (!pattern || isTooLong(setting, text)) return []
  const found = budget ? budget.search(pattern, text) : pattern.search(text)
  if (found === undefined)
    return ['Save this value alone: checking all values of this request takes too much work.']
  return found ? [] : [pattern.message]
}

/** The message for a text that the pattern refuses: a hint or an example, since people do not read expressions. */
export function describeFormat(
  { defaultValue, patternHint, placeholder, sensitive }: CompleteDefinition,
  pattern: CompiledPattern,
): string {
  if (patternHint !== null) return patternHint
  const example = [placeholder, sensitive ? null : defaultValue].find(
    (each) => each && each.length <= pattern.maxLength && pattern.search(each),
  )
  return example
    ? `Enter text in the same format as ${example}.`
    : 'Enter text in the format that this setting expects. Its description may say which.'
}

function checkRule({ definition, validate }: RegisteredSetting, value: JsonValue): string[] {
  if (!validate) return []
  return askRule(() => validate(value), { keys: definition.key, isSecret: definition.sensitive })
}

const color = /^#[0-9a-fA-F]{6}$/
/** `new URL` would repair backslashes, missing slashes and surrounding spaces; a setting is used as it was written. */
const webAddress = /^https?:\/\/[^/?#]+/i
// oxlint-disable-next-line no-control-regex -- control characters are what this finds
const unsafeInUrl = /[\s\\\u0000-\u001f\u007f-\u009f]/
const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** Whether the text is `#RRGGBB`. */
export function isColor(text: string): boolean {
  return color.test(text)
}

/** The problems of a Url: absolute, http or https, without credentials, which would be shown to every reader. */
export function checkUrl(text: string): string[] {
  if (!webAddress.test(text) || unsafeInUrl.test(text) || !URL.canParse(text))
    return ['Enter a full address, like https://example.com.']
  const authority = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0]
  if (authority?.includes('@')) return ['Enter the URL without a user name and password.']
  return []
}

/** Whether the text is one address `local@domain`: ASCII before the @, no quotes, no display name, at most 254 characters. */
export function isEmail(text: string): boolean {
  if (text.length > 254) return false
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  const labels = text.slice(at + 1).split('.')
  return local.length <= 64 && localPart.test(local) && labels.every((label) => domainLabel.test(label))
}

/** The problems of any string value. */
function checkText(setting: RegisteredSetting, text: string): string[] {
  const { maxBytes, maxLength } = setting
  if (Buffer.byteLength(text) > maxBytes) return [`Enter at most ${maxBytes} bytes of text.`]
  if (isTooLong(setting, text)) return [`Enter at most ${maxLength} characters.`]
  return isStorable(text) ? [] : ['Enter text without NUL characters and unpaired surrogates.']
}

function isTooLong({ maxBytes, maxLength }: RegisteredSetting, text: string): boolean {
  return text.length > Math.min(maxBytes, maxLength ?? maxBytes)
}

/** The problems of a Number: JSON numbers within the bounds, integers only where doubles are exact. */
function checkNumber(value: unknown, { min, max }: Pick<CompleteDefinition, 'min' | 'max'>): string[] {
  if (typeof value !== 'number' || !Number.isFinite(value)) return ['Enter a number.']
  // 12345678901234567890 arrives as ...7000 already: storing it would change it in silence.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return [`Enter an integer between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}.`]
  }
  if (min !== null && value < min) return [`Enter a number of at least ${min}.`]
  if (max !== null && value > max) return [`Enter a number of at most ${max}.`]
  return []
}

const grammar =
  /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/

/** The grammar without the calendar, for JSON Schema. */
export const dateTimePattern = grammar.source

/** Whether the text is `YYYY-MM-DDTHH:mm[:ss[.f]]`, with or without an offset, of a day that exists. */
export function isDateTime(text: string): boolean {
  const day = text.slice(0, 10)
  const time = Date.parse(`${day}T00:00Z`)
  // Of a day that does not exist it is that of another one, or not a number.
  return grammar.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}
