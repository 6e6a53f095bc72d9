/** Between the values of the API and what controls hold. */
import { type DateTimeZone, fromLocal, hasOffset, toLocal } from './date-time.ts'
import { SettingType } from '@fastify-modular/settings/client'
import { findJsonError } from './json-error.ts'
import type { Definition, Input, JsonValue } from './setting.ts'

/** What an input means: a value to send, or why it means nothing. */
export type Parsed = { readonly value: JsonValue } | { readonly problem: Problem }

/** A problem as the key of a message, with what it mentions. */
export interface Problem {
  readonly message: 'notANumber' | 'decimalComma' | 'invalidJson' | 'invalidDateTime' | 'emptyRequired'
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
  if (type === SettingType.DateTime) return parseDateTime(text, zoneOf(before, sensitive))
  return { value: text }
}

/** Free text: space counts, and a pattern may say what it has to look like. */
export function isVerbatim(type: number): boolean {
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
  const number = /^[-+.\de]+$/i.test(text) ? Number(text) : Number.NaN // no hexadecimals, no "Infinity"
  if (Number.isFinite(number)) return { value: number }
  return { problem: { message: text.includes(',') ? 'decimalComma' : 'notANumber' } }
}

function parseJson(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as JsonValue } // parsed JSON
  } catch {
    return { problem: { message: 'invalidJson', params: { ...findJsonError(text) } } }
  }
}

function parseDateTime(text: string, zone: DateTimeZone): Parsed {
  const value = fromLocal(text, zone)
  return value === null ? { problem: { message: 'invalidDateTime' } } : { value }
}

/** A value that was stored without an offset keeps having none; a new one says which instant it means. */
function zoneOf(before: JsonValue, sensitive: boolean): DateTimeZone {
  return !sensitive && typeof before === 'string' && !hasOffset(before) ? 'floating' : 'local'
}
