/** Colours, web addresses and mail addresses (S 2.3, decision 8). */
import { type CompleteDefinition, isStorable } from '../setting-definition.ts'

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
  const url = webAddress.test(text) && !unsafeInUrl.test(text) ? parseUrl(text) : null
  if (!url) return ['Enter an absolute http or https URL, like https://example.com.']
  const authority = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0]
  if (authority?.includes('@')) return ['Enter the URL without a user name and password.']
  return []
}

/** Whether the text is one address `local@domain`: ASCII before the @, no quotes, no display name, at most 254 characters. */
export function isEmail(text: string): boolean {
  if (text.length > 254) return false
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  return (
    local.length <= 64 &&
    localPart.test(local) &&
    text
      .slice(at + 1)
      .split('.')
      .every(isLabel)
  )
}

function isLabel(label: string): boolean {
  return domainLabel.test(label)
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** Whether the text takes at most so many bytes in UTF-8. */
function fits(text: string, maxBytes: number): boolean {
  return text.length <= maxBytes && (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes)
}

/** The problems of any string value (decision 11). */
export function checkText(text: string, maxBytes: number): string[] {
  if (!fits(text, maxBytes)) return [`Enter at most ${maxBytes} bytes of text.`]
  return isStorable(text) ? [] : ['Enter text without NUL characters and unpaired surrogates.']
}

/** The problems of a Number: JSON numbers within the bounds, integers only where doubles are exact. */
export function checkNumber(value: unknown, { min, max }: Pick<CompleteDefinition, 'min' | 'max'>): string[] {
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
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/

/** The grammar without the calendar, for JSON Schema. */
export const dateTimePattern = grammar.source

/** Whether the text is `YYYY-MM-DDTHH:mm[:ss[.f]]`, with or without an offset, of a day that exists. */
export function isDateTime(text: string): boolean {
  const match = grammar.exec(text)
  if (!match) return false
  const [year, month, day] = match.slice(1, 4).map(Number)
  if (year === undefined || month === undefined || day === undefined) return false
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
