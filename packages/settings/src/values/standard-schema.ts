/** Json settings whose schema is a validator of Standard Schema: it makes the value that is stored. */
import {
  notFitting,
  type StandardIssue,
  type StandardSchema,
  validateStandard,
} from '@fastify-modular/core/internal'
import { FMOD_SETTINGS_INVALID_SCHEMA_RESULT } from '../misuse-errors.ts'
import type { JsonValue } from '../setting-definition.ts'
import { checkJson, encodeValue, readText } from './json.ts'
import { mostProblems, type ParseSchema } from './json-schema.ts'

/** Of a validator that makes something of a value which JSON cannot carry, or which it would change again. */
export const notAsChecked = 'This value cannot be stored as it is checked.'

interface StandardInit {
  readonly key: string
  /** Whether no message may come from the validator. */
  readonly isSecret: boolean
  readonly maxBytes: number
}

/**
 * Returns the function that makes the value to store. It runs the validator twice: what is stored is checked again later, and
 * must stay what it is.
 */
export function compileStandardSchema(
  schema: StandardSchema,
  { key, isSecret, maxBytes }: StandardInit,
): ParseSchema {
  function run(value: JsonValue): ReturnType<ParseSchema> {
    // A copy: validators may change what they are given.
    const result = validate(readText(encodeValue(value)))
    if ('issues' in result)
      return { value, errors: isSecret ? [notFitting] : messagesOf(result.issues, value) }
    const isJson =
      result.value !== '' && result.value !== null && checkJson(result.value, maxBytes).length === 0
    // A copy of this, too: it may be the validator's own default.
    return isJson
      ? { value: readText(encodeValue(result.value as JsonValue)), errors: [] }
      : { value, errors: [notAsChecked] }
  }

  function validate(value: JsonValue): ReturnType<typeof validateStandard> {
    try {
      return validateStandard(schema, value)
    } catch (error) {
      throw new FMOD_SETTINGS_INVALID_SCHEMA_RESULT(key, error instanceof Error ? error.message : '')
    }
  }

  return (given) => {
    const made = run(given)
    if (made.errors.length > 0) return made
    const again = run(made.value)
    const isSettled = again.errors.length === 0 && encodeValue(again.value) === encodeValue(made.value)
    return isSettled ? made : { value: given, errors: [notAsChecked] }
  }
}

/** The first message of each part. */
function messagesOf(issues: readonly StandardIssue[], value: JsonValue): string[] {
  const leaves = leavesOf(value)
  const byPointer = new Map<string, string>()
  for (const { pointer, message } of issues) {
    const shown = message === '' || quotes(message, leaves) ? notFitting : message
    if (!byPointer.has(pointer)) byPointer.set(pointer, pointer === '' ? shown : `${pointer}: ${shown}`)
    if (byPointer.size === mostProblems) break
  }
  return byPointer.size === 0 ? [notFitting] : [...byPointer.values()]
}

/** Shorter ones stand in any sentence. */
const shortestLeaf = 3

/** The parts of a value that are not made of parts, as they are and as JSON escapes them. */
function leavesOf(value: JsonValue): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf)
  return [String(value), JSON.stringify(value)].filter(({ length }) => length >= shortestLeaf)
}

/** Whether a message repeats a part of the value, as it is or trimmed, in other letter case, escaped or grouped. */
function quotes(message: string, leaves: readonly string[]): boolean {
  const said = lettersOf(message)
  return leaves.some((leaf) => {
    const letters = lettersOf(leaf)
    return message.includes(leaf) || (letters.length >= shortestLeaf && said.includes(letters))
  })
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')
}
