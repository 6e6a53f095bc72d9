/** Between the values of the API and what controls hold: parsing, hints while typing, and the place of an error in JSON. */
import { SettingType } from '@fastify-modular/settings/client'
import { format, type Messages } from '../../texts/messages.ts'
import { type Definition, displayRange, type Input, type JsonValue } from './setting.ts'
import { type DateTimeZone, fromLocal, hasOffset, toLocal } from './times.ts'

/** What an input means: a value to send, or why it means nothing. */
export type Parsed = { readonly value: JsonValue } | { readonly problem: Problem }

/** A problem as the key of a message, with what it mentions. */
interface Problem {
  readonly message:
    | 'notANumber'
    | 'decimalComma'
    | 'invalidJson'
    | 'missingComma'
    | 'spareComma'
    | 'invalidDateTime'
    | 'emptyRequired'
  readonly params?: Readonly<Record<string, string | number>>
}

/** What the control of a value shows; for secrets nothing, whatever they are. */
export function toInput({ type, sensitive }: Definition, value: JsonValue): Input {
  if (sensitive) return ''
  if (type === SettingType.Bool) return value === true
  if (value === null) return ''
  if (type === SettingType.Json) return JSON.stringify(value, null, 2)
  if (type === SettingType.DateTime) return toLocal(String(value))
  return String(value)
}

/** What to send for an input; `before` is the value that it replaces. */
export function parseInput(definition: Definition, input: Input, before: JsonValue): Parsed {
  const { type, sensitive } = definition
  if (typeof input === 'boolean') return { value: input }
  if (type === SettingType.Bool) return { value: input === '' ? null : input === 'true' }
  const text = isVerbatim(type) ? input : input.trim()
  if (text === '') return parseEmpty(definition)
  if (type === SettingType.Number) return parseNumber(text)
  if (type === SettingType.Json) return parseJson(text)
  if (type !== SettingType.DateTime) return { value: text }
  const value = fromLocal(text, zoneOf(before, sensitive))
  return value === null ? { problem: { message: 'invalidDateTime' } } : { value }
}

/** Free text: space counts, and a pattern may say what it has to look like. */
function isVerbatim(type: number): boolean {
  return type === SettingType.Text || type === SettingType.Password || type === SettingType.MultilineText
}

/** Nothing entered: an empty text where there is something to be empty instead of, else no value at all. */
function parseEmpty({ type, required, defaultValue }: Definition): Parsed {
  if (required) return { problem: { message: 'emptyRequired' } }
  const takesEmpty =
    type !== SettingType.Number && type !== SettingType.Json && type !== SettingType.Select && defaultValue
  return { value: takesEmpty ? '' : null }
}

function parseNumber(text: string): Parsed {
  const value = toNumber(text)
  if (value !== undefined) return { value }
  return { problem: { message: text.includes(',') ? 'decimalComma' : 'notANumber' } }
}

/** The number that a text stands for: no hexadecimals, no "Infinity". */
export function toNumber(text: string): number | undefined {
  const number = /^\s*[-+.\de]+\s*$/i.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

function parseJson(text: string): Parsed {
  const place = findJsonError(text)
  if (!place) return { value: JSON.parse(text) as JsonValue } // parsed JSON
  const { line, column, offset } = place
  return { problem: { message: jsonProblem(text, offset), params: { line, column } } }
}

/** What is wrong at the first character that is not JSON, where people often go wrong. */
function jsonProblem(text: string, offset: number): 'invalidJson' | 'missingComma' | 'spareComma' {
  const before = text.slice(0, offset)
  const last = before.trimEnd().at(-1) ?? ''
  if (last === ',' && /[\]}]/.test(text[offset] ?? '')) return 'spareComma'
  const isEnd = offset === text.length
  // A whole item stands above.
  return !isEnd && /\n\s*$/.test(before) && /["\]}\de]/.test(last) ? 'missingComma' : 'invalidJson'
}

/** A value that was stored without an offset keeps having none; a new one says which instant it means. */
function zoneOf(before: JsonValue, sensitive: boolean): DateTimeZone {
  return !sensitive && typeof before === 'string' && !hasOffset(before) ? 'floating' : 'local'
}

/** What seems to be wrong with an input; undefined if nothing. The API decides: this hint only saves a round trip. */
export function checkInput(
  definition: Definition,
  input: Input,
  before: JsonValue,
  messages: Messages,
): string | undefined {
  const parsed = parseInput(definition, input, before)
  if ('problem' in parsed) return format(messages[parsed.problem.message], parsed.problem.params)
  const { value } = parsed
  if (value === null || value === '') return undefined
  if (typeof value === 'number') return checkRange(definition, value, messages)
  return typeof value === 'string' ? checkText(definition, value, messages) : undefined
}

function checkRange(definition: Definition, value: number, messages: Messages): string | undefined {
  const { min, max } = definition
  if ((min === null || value >= min) && (max === null || value <= max)) return undefined
  return format(messages.outOfRange, { range: displayRange(definition, messages) ?? '' })
}

function checkText(definition: Definition, text: string, messages: Messages): string | undefined {
  const { type, pattern, patternHint } = definition
  if (type === SettingType.Color) return /^#[0-9a-f]{6}$/i.test(text) ? undefined : messages.invalidColor
  if (type === SettingType.Url) return isWebUrl(text) ? undefined : messages.invalidUrl
  if (type === SettingType.Email) return /^[^\s@]+@[^\s@]+$/.test(text) ? undefined : messages.invalidEmail
  if (!isVerbatim(type) || pattern === null || matches(pattern, text)) return undefined
  return patternHint ?? describeFormat(definition, pattern, messages)
}

/** What can be done about a text that a pattern refuses: expressions are not for people. */
function describeFormat(
  { placeholder, defaultValue }: Definition,
  pattern: string,
  messages: Messages,
): string {
  const example = [placeholder, defaultValue].find((each) => each && matches(pattern, each))
  return example ? format(messages.formatLike, { example }) : messages.formatUnknown
}

/** Whether the text is an absolute http or https URL. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^/?#\s]+\S*$/i.test(text) && URL.canParse(text)
}

/** The API uses another engine: a pattern that this one cannot compile is left to the API. */
function matches(pattern: string, text: string): boolean {
  if (text.length > 1000) return true // a slow pattern must not freeze the page
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return true
  }
}

const space = /[ \t\n\r]*/y
// oxlint-disable-next-line no-control-regex -- JSON forbids them within strings
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const other = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y

/** Nesting after which the search gives up; the API takes 32. */
const deepest = 500

/** Line and column, from 1, and the characters before it. */
interface Place {
  readonly line: number
  readonly column: number
  readonly offset: number
}

/** The first character that is not JSON, null if all is: engines report it in different words, or not at all. */
export function findJsonError(text: string): Place | null {
  try {
    JSON.parse(text)
    return null
  } catch {
    const offset = errorOffset(text)
    const before = text.slice(0, offset).split('\n')
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, offset }
  }
}

function errorOffset(text: string): number {
  let at = 0

  function take(pattern: RegExp): boolean {
    pattern.lastIndex = at
    const isFound = pattern.test(text)
    if (isFound) at = pattern.lastIndex
    return isFound
  }
  function sign(wanted: string): boolean {
    take(space)
    if (text[at] !== wanted) return false
    at++
    return true
  }
  function list(end: string, item: () => boolean): boolean {
    if (sign(end)) return true
    do if (!item()) return false
    while (sign(','))
    return sign(end)
  }
  function value(depth: number): boolean {
    const inner = (): boolean => value(depth + 1)
    if (depth > deepest) return false
    if (sign('[')) return list(']', inner)
    if (sign('{')) return list('}', () => take(space) && take(string) && sign(':') && inner())
    return take(string) || take(other)
  }

  value(0)
  take(space)
  return at
}
