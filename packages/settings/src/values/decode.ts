/** Between values, their raw form (decision 4) and the JSON text that stores keep. Always by type: never by trying. */
import { SettingType, type JsonValue } from '../setting-definition.ts'
import { createPatternBudget } from './pattern.ts'
import { type RegisteredSetting, validateValue } from './validate.ts'

/** A value read from text, or what is wrong with it. */
export type Decoded =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly errors: readonly string[] }

/** `Number('')` is 0 and `Number('0x10')` is 16: only JSON's own grammar counts (RFC 8259, 6). */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Milliseconds, more than a write has: a stored value was checked when it was written, and a slow machine must not turn it into the default. */
const storedPatternLimit = 1000

/** Decodes a raw default by type (decision 4); not yet validated, not frozen. */
export function decodeDefault(type: SettingType, raw: string): Decoded {
  switch (type) {
    case SettingType.Number:
      return jsonNumber.test(raw)
        ? { ok: true, value: Number(raw) }
        : refused('Write a number as in JSON, like 587.')
    case SettingType.Bool:
      return raw === 'true' || raw === 'false'
        ? { ok: true, value: raw === 'true' }
        : refused('Write true or false.')
    case SettingType.Json:
      return parse(raw)
    default:
      return { ok: true, value: raw }
  }
}

/**
 * Decodes what a store keeps, deep-frozen; not ok when it is not JSON or no longer fits the definition: the setting then
 * has its default. The errors never repeat the value.
 */
export function decodeStored(setting: RegisteredSetting, text: string): Decoded {
  const decoded = decodeValidated(text)
  if (!decoded.ok) return decoded
  const errors = validateValue(setting, decoded.value, createPatternBudget(storedPatternLimit))
  return errors.length > 0 ? { ok: false, errors } : decoded
}

/** The same for a text whose value was validated when it was written. */
export function decodeValidated(text: string): Decoded {
  const parsed = parse(text)
  if (!parsed.ok) return parsed
  return parsed.value === null
    ? refused('A stored value is never null.')
    : { ok: true, value: deepFreeze(parsed.value) }
}

/** The value of a stored text whatever its definition; null where another program wrote something that is not JSON. */
export function readText(text: string): JsonValue {
  const parsed = parse(text)
  return parsed.ok ? parsed.value : null
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  return parse(text).ok
}

/** The text that stores keep; equal values have equal text. */
export function encodeValue(value: JsonValue): string {
  return JSON.stringify(value)
}

/** The raw form of a value (decision 4): text as it is, all else as JSON text; null stays null. */
export function toRaw(type: SettingType, value: JsonValue): string | null {
  if (value === null) return null
  return typeof value === 'string' && type !== SettingType.Json ? value : JSON.stringify(value)
}

/** Freezes a JSON value with all its members, so that no reader can change what others read. */
export function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}

function parse(text: string): Decoded {
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue }
  } catch {
    return refused('Write valid JSON.')
  }
}

function refused(error: string): Decoded {
  return { ok: false, errors: [error] }
}
