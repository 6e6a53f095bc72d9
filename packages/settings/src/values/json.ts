/** Values as JSON: their text, their raw form, and the checks that keep them storable. */
import { isStorable, type JsonValue, SettingType } from '../setting-definition.ts'

/** `Number('')` is 0 and `Number('0x10')` is 16: only JSON's own grammar counts (RFC 8259, 6). */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Decodes a raw default by type; not yet validated, not frozen. @throws {SyntaxError} saying what to write */
export function decodeDefault(type: SettingType, raw: string): JsonValue {
  switch (type) {
    case SettingType.Number:
      if (jsonNumber.test(raw)) return Number(raw)
      throw new SyntaxError('Write a number as in JSON, like 587.')
    case SettingType.Bool:
      if (raw === 'true' || raw === 'false') return raw === 'true'
      throw new SyntaxError('Write true or false.')
    case SettingType.Json:
      try {
        return JSON.parse(raw) as JsonValue
      } catch {
        throw new SyntaxError('Write valid JSON.')
      }
    default:
      return raw
  }
}

/** The value of a stored text whatever its definition; null where another program wrote something that is not JSON. */
export function readText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return null
  }
}

/** The text that stores keep; equal values have equal text. */
export function encodeValue(value: JsonValue): string {
  return JSON.stringify(value)
}

/** The raw form of a value: text as it is, all else as JSON text; null stays null. */
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

/** Deeper JSON is refused. */
const maxJsonDepth = 32

/** The problems of a Json value, of at most `maxBytes` bytes of JSON text. */
export function checkJson(value: unknown, maxBytes: number): string[] {
  const problem = findProblem(value, maxBytes)
  if (problem) return [problem]
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) return [notJson] // its toJSON returns undefined
  return Buffer.byteLength(text) > maxBytes ? [tooLong(maxBytes)] : []
}

/** Each value takes at least two bytes, one for its separator; this bound ends the walk through a circular value. */
function findProblem(root: unknown, maxBytes: number): string | undefined {
  let bytes = 0
  return problemOf(root, 1)

  function problemOf(value: unknown, depth: number): string | undefined {
    if (bytes > maxBytes) return tooLong(maxBytes)
    bytes += 2
    switch (typeof value) {
      case 'boolean':
        return undefined
      case 'number':
        return problemOfNumber(value)
      case 'string':
        return isStorable(value) ? undefined : notStorable
      case 'object':
        return value === null ? undefined : problemOfNested(value, depth)
      default:
        return notJson
    }
  }

  function problemOfNested(value: object, depth: number): string | undefined {
    if (depth > maxJsonDepth) return `Enter JSON nested at most ${maxJsonDepth} levels deep.`
    if (Array.isArray(value)) {
      for (const item of value) {
        const problem = problemOf(item, depth + 1)
        if (problem) return problem
      }
      return undefined
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return notJson
    for (const [name, member] of Object.entries(value)) {
      const problem = problemOfName(name, member) ?? problemOf(member, depth + 1)
      if (problem) return problem
    }
    return undefined
  }
}

/** JSON.parse rounds identifiers of 18 digits, so that the sent number is lost; floats such as 1e21 are kept. */
function problemOfNumber(value: number): string | undefined {
  if (!Number.isFinite(value)) return notJson
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21
  return isRounded ? 'Enter whole numbers beyond 9007199254740991 as text: they would be rounded.' : undefined
}

/** With these names, code that merges objects would change the prototype of all of them. */
function problemOfName(name: string, member: unknown): string | undefined {
  if (!isStorable(name)) return notStorable
  const poisons =
    name === '__proto__' || (name === 'constructor' && Object.hasOwn(Object(member), 'prototype'))
  return poisons ? 'Enter JSON without members named __proto__ or constructor.prototype.' : undefined
}

const notJson = 'Enter a JSON value.'
const notStorable = 'Enter JSON without NUL characters and unpaired surrogates.'

function tooLong(maxBytes: number): string {
  return `Enter at most ${maxBytes} bytes of JSON.`
}
