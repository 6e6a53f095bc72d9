/** Values as sentences mention them. */
import { format } from '../messages/format.ts'
import type { Messages } from '../messages/messages.ts'
import type { Definition, JsonValue } from './setting.ts'

/** Characters after which a value is cut off. */
const longest = 80

/** A value within a sentence, as its control shows it; of a secret, only that there is one. */
export function displayValue(definition: Definition, value: JsonValue, messages: Messages): string {
  const { sensitive, options, unit } = definition
  if (sensitive) return messages.newSecret
  if (value === null || value === '') return messages.noValue
  if (typeof value === 'boolean') return value ? messages.on : messages.off
  const label = options?.find((option) => option.value === value)?.label
  const text = label ?? (typeof value === 'string' ? value : JSON.stringify(value))
  return (text.length > longest ? `${text.slice(0, longest)}…` : text) + (unit ? ` ${unit}` : '')
}

/** `31 Dec 2030, 12:00` in the language of the page. */
export function displayTime(iso: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso))
}

/** `from 1 to 65535`; undefined without bounds. */
export function displayRange({ min, max }: Definition, messages: Messages): string | undefined {
  if (min === null && max === null) return undefined
  const text = max === null ? messages.rangeFrom : min === null ? messages.rangeTo : messages.range
  return format(text, { min: String(min), max: String(max) })
}
