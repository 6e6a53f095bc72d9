/** Values as sentences mention them. */
import { format } from '../messages/format.ts'
import type { Messages } from '../messages/messages.ts'
import type { Definition, Input, JsonValue } from './setting.ts'

/** Characters after which a value is cut off. */
const longest = 80

/** A value within a sentence; secrets are never passed here. */
export function displayValue(value: JsonValue, messages: Messages): string {
  if (value === null || value === '') return messages.noValue
  if (typeof value === 'boolean') return value ? messages.on : messages.off
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

/** What the user has entered, within a sentence. */
export function displayInput({ sensitive }: Definition, input: Input, messages: Messages): string {
  return sensitive ? messages.newSecret : displayValue(input, messages)
}

/** `31 Dec 2030, 12:00` in the language of the page. */
export function displayTime(iso: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso))
}

/** `1 to 65535`; undefined without bounds. */
export function displayRange({ min, max }: Definition, messages: Messages): string | undefined {
  if (min !== null && max !== null) return format(messages.numberRange, { min, max })
  if (min !== null) return format(messages.numberFrom, { min })
  return max === null ? undefined : format(messages.numberTo, { max })
}
