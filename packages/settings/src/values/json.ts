/** JSON values (S 2.3, decision 7): what comes back from the database is what went in. */
import { maxJsonDepth } from './registered-setting.ts'
import { isStorable } from '../setting-definition.ts'

/** The problems of a Json value, of at most `maxBytes` bytes of JSON text. */
export function checkJson(value: unknown, maxBytes: number): string[] {
  // A value takes two bytes with its separator, so a longer walk means too long a text, or a circle.
  const problem = new JsonWalk(maxBytes / 2 + 1).problemOf(value, 1)
  if (problem) return [problem]
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) return [notJson] // a toJSON of its own says so
  return Buffer.byteLength(text) > maxBytes ? [tooLong(maxBytes)] : []
}

class JsonWalk {
  #left: number
  readonly #maxBytes: number

  constructor(values: number) {
    this.#left = values
    this.#maxBytes = (values - 1) * 2
  }

  problemOf(value: unknown, depth: number): string | undefined {
    if (--this.#left < 0) return tooLong(this.#maxBytes)
    switch (typeof value) {
      case 'boolean':
        return undefined
      case 'number':
        return problemOfNumber(value)
      case 'string':
        return isStorable(value) ? undefined : notStorable
      case 'object':
        return value === null ? undefined : this.#problemOfNested(value, depth)
      default:
        return notJson
    }
  }

  #problemOfNested(value: object, depth: number): string | undefined {
    if (depth > maxJsonDepth) return `Enter JSON nested at most ${maxJsonDepth} levels deep.`
    if (Array.isArray(value)) {
      for (const item of value) {
        const problem = this.problemOf(item, depth + 1)
        if (problem) return problem
      }
      return undefined
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return notJson
    for (const [name, member] of Object.entries(value)) {
      const problem = problemOfName(name, member) ?? this.problemOf(member, depth + 1)
      if (problem) return problem
    }
    return undefined
  }
}

/** Identifiers of 18 digits are rounded when JSON is parsed, so what came in is lost; a float of that size is none. */
function problemOfNumber(value: number): string | undefined {
  if (!Number.isFinite(value)) return notJson
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21
  return isRounded ? 'Enter whole numbers beyond 9007199254740991 as text: they would be rounded.' : undefined
}

/** Names with which merging code would change the prototype of all objects. */
function problemOfName(name: string, member: unknown): string | undefined {
  if (!isStorable(name)) return notStorable
  const poisons =
    name === '__proto__' ||
    (name === 'constructor' &&
      typeof member === 'object' &&
      member !== null &&
      Object.hasOwn(member, 'prototype'))
  return poisons ? 'Enter JSON without members named __proto__ or constructor.prototype.' : undefined
}

const notJson = 'Enter a JSON value.'
const notStorable = 'Enter JSON without NUL characters and unpaired surrogates.'

function tooLong(maxBytes: number): string {
  return `Enter at most ${maxBytes} bytes of JSON.`
}
