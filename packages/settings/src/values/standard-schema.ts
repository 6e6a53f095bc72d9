/** Json settings whose schema is a validator of Standard Schema: it makes the value that is stored. */
import { type StandardIssue, type StandardSchema, validateStandard } from '@fastify-modular/core/internal'
import { errorCodes } from '../misuse-errors.ts'
import type { JsonValue } from '../setting-definition.ts'
import { checkJson, deepFreeze, encodeValue, readText } from './json.ts'
import { mostProblems, type ParseSchema } from './json-schema.ts'

/** In place of a message that quotes a value, or might. */
export const notFitting = 'This value does not fit.'

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
  /** A copy: it may be the validator's own default. */
  function toStored(output: unknown): JsonValue | undefined {
    const isJson = output !== '' && output !== null && checkJson(output, maxBytes).length === 0
    return isJson ? deepFreeze(copyOf(output as JsonValue)) : undefined // which was checked
  }

  function run(value: JsonValue): ReturnType<ParseSchema> {
    const made = validateStandard(schema, copyOf(value), toStored) // validators may change what they are given
    if ('failure' in made) throw new errorCodes.FMOD_SETTINGS_INVALID_RULE_RESULT(key, made.failure)
    if ('issues' in made) return { value, errors: isSecret ? [notFitting] : messagesOf(made.issues, value) }
    return made.value === undefined ? { value, errors: [notAsChecked] } : { value: made.value, errors: [] }
  }

  return (given) => {
    const made = run(given)
    if (made.errors.length > 0) return made
    const again = run(made.value)
    const isSettled = again.errors.length === 0 && encodeValue(again.value) === encodeValue(made.value)
    return isSettled ? made : { value: given, errors: [notAsChecked] }
  }
}

function copyOf(value: JsonValue): JsonValue {
  return readText(encodeValue(value))
}

/** The first message of each part. */
function messagesOf(issues: readonly StandardIssue[], value: JsonValue): string[] {
  const isQuoting = createFindQuote(value)
  const byPointer = new Map<string, string>()
  for (const { pointer, message } of issues) {
    if (byPointer.has(pointer)) continue
    const shown = message === '' || isQuoting(message) ? notFitting : message
    byPointer.set(pointer, pointer === '' ? shown : `${pointer}: ${shown}`)
    if (byPointer.size === mostProblems) break
  }
  return byPointer.size === 0 ? [notFitting] : [...byPointer.values()]
}

/** Shorter parts of a value stand in any sentence. */
const shortestLeaf = 3

/** Returns the function that finds parts of a value in a message: as they are or trimmed, in other letter case, escaped or grouped. */
function createFindQuote(value: JsonValue): (message: string) => boolean {
  const leaves = leavesOf(value)
  const isLong = ({ length }: string) => length >= shortestLeaf
  const letters = new Set(leaves.map(lettersOf).filter(isLong))
  const texts = new Set(leaves.filter(isLong))
  return (message) => {
    const said = lettersOf(message)
    return (
      [...texts].some((text) => message.includes(text)) || [...letters].some((text) => said.includes(text))
    )
  }
}

/** The parts of a value that are not made of parts, as they are and as JSON escapes them. */
function leavesOf(value: JsonValue): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf)
  return [String(value), JSON.stringify(value)]
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')
}
