/** Hints while the user fills in a control. The API decides; these only spare a round trip. */
import type { Messages } from '../messages/messages.ts'
import { format } from '../messages/format.ts'
import { displayRange } from './display-value.ts'
import { isVerbatim, parseInput, type Problem } from './input.ts'
import { SettingType } from '@fastify-modular/settings/client'
import type { Definition, Input, JsonValue } from './setting.ts'

/** What seems to be wrong with an input; undefined if nothing. */
export function checkInput(
  definition: Definition,
  input: Input,
  before: JsonValue,
  messages: Messages,
): string | undefined {
  const parsed = parseInput(definition, input, before)
  if ('problem' in parsed) return describe(parsed.problem, messages)
  const { value } = parsed
  if (value === null || value === '') return undefined
  if (typeof value === 'number') return checkRange(definition, value, messages)
  return typeof value === 'string' ? checkText(definition, value, messages) : undefined
}

/** A problem as a sentence. */
export function describe({ message, params }: Problem, messages: Messages): string {
  return format(messages[message], params)
}

function checkRange(definition: Definition, value: number, messages: Messages): string | undefined {
  const { min, max } = definition
  if ((min === null || value >= min) && (max === null || value <= max)) return undefined
  return format(messages.outOfRange, { range: displayRange(definition, messages) ?? '' })
}

function checkText({ type, pattern }: Definition, text: string, messages: Messages): string | undefined {
  if (type === SettingType.Color) return /^#[0-9a-f]{6}$/i.test(text) ? undefined : messages.invalidColor
  if (type === SettingType.Url) return isWebUrl(text) ? undefined : messages.invalidUrl
  if (type === SettingType.Email) return /^[^\s@]+@[^\s@]+$/.test(text) ? undefined : messages.invalidEmail
  if (!isVerbatim(type) || pattern === null || matches(pattern, text)) return undefined
  return format(messages.patternMismatch, { pattern })
}

/** Whether the text is an absolute http or https URL. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^/?#\s]+\S*$/i.test(text) && URL.canParse(text)
}

/** The API's engine is another one; what this one cannot compile, that one shall judge. */
function matches(pattern: string, text: string): boolean {
  if (text.length > 1000) return true // a slow pattern must not freeze the page
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return true
  }
}
