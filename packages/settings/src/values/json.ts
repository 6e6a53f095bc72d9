/** JSON values (S 2.3, decision 7): what comes back from the database is what went in. */
import { isStorable } from '../setting-definition.ts'

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

/** Parsing JSON rounds identifiers of 18 digits, and what was sent is lost; floats like 1e21 are meant as they are. */
function problemOfNumber(value: number): string | undefined {
  if (!Number.isFinite(value)) return notJson
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21
  return isRounded ? 'Enter whole numbers beyond 9007199254740991 as text: they would be rounded.' : undefined
}

/** With these names, code that merges objects would change the prototype of all of them. */
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
