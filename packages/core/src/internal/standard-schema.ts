/** Validators of any library that implements Standard Schema 1 (https://standardschema.dev): Zod, Valibot, ArkType and others. */
import { isThenable, safeRead } from './safe.ts'

/** A validator that makes an `Output` of what it is given, or says what is wrong with that. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    /** For the compiler only. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] }

/** The type of the values that a validator makes. */
export type StandardOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

/** Whether a schema is a validator; ArkType's are functions. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return (
    ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema
  )
}

/** What is wrong with a part of a value; the message may quote it. */
export interface StandardIssue {
  /** A JSON Pointer, empty for the whole. */
  readonly pointer: string
  readonly message: string
}

/**
 * What a validator makes of a value, or what is wrong with it.
 * @throws {TypeError} it throws, or it is asynchronous; the error has nothing of its own, which may quote the value
 */
export function validateStandard(
  schema: StandardSchema,
  value: unknown,
): { readonly value: unknown } | { readonly issues: readonly StandardIssue[] } {
  let result: unknown
  try {
    result = schema['~standard'].validate(value)
  } catch {
    throw new TypeError('its schema throws')
  }
  if (isThenable(result)) {
    result.then(undefined, () => undefined) // nobody else would handle the rejection
    throw new TypeError('its schema is asynchronous')
  }
  const issues = safeRead(result, 'issues')
  if (!issues) return { value: safeRead(result, 'value') }
  return { issues: Array.isArray(issues) ? Array.from(issues, toIssue) : [] }
}

function toIssue(issue: unknown): StandardIssue {
  const path = safeRead(issue, 'path')
  const message = safeRead(issue, 'message')
  return {
    // ArkType's is of a class whose map() makes another one of its kind.
    pointer: Array.isArray(path) ? Array.from(path, toSegment).join('') : '',
    message: typeof message === 'string' ? message : '',
  }
}

/** A segment is a key, or an object that has it; a key is a text, a number or a symbol. */
function toSegment(segment: unknown): string {
  const key = typeof segment === 'object' ? safeRead(segment, 'key') : segment
  const name = typeof key === 'object' || typeof key === 'function' ? '?' : String(key)
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The JSON Schema (draft 2020-12) of what a validator takes; undefined where it cannot say. */
export function jsonSchemaOf(schema: StandardSchema): unknown {
  const converter = safeRead(schema['~standard'], 'jsonSchema')
  const describe = safeRead(converter, 'input')
  try {
    return typeof describe === 'function'
      ? Reflect.apply(describe, converter, [{ target: 'draft-2020-12' }])
      : undefined
  } catch {
    return undefined // a part has no form in JSON Schema
  }
}

/** In place of a message that quotes a value, or might. */
export const notFitting = 'This value does not fit.'
