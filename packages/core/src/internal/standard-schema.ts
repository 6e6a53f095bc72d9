/** Validators of any library that implements Standard Schema 1 (https://standardschema.dev): Zod, Valibot, ArkType and others. */
import { ignoreRejection, isThenable, safeRead } from './safe.ts'

/** A validator that makes an `Output` of what it is given, or says what is wrong with that. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly jsonSchema?: { input(options: { readonly target: 'draft-2020-12' }): unknown } | undefined
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
  return typeof safeRead(safeRead(schema, '~standard'), 'validate') === 'function'
}

/** What is wrong with a part of a value; the message may quote it. */
export interface StandardIssue {
  /** A JSON Pointer, empty for the whole. */
  readonly pointer: string
  readonly message: string
}

/** What a validator makes of a value, what is wrong with that, or why the validator cannot be used. */
type Verdict<T> =
  | { readonly value: T }
  | { readonly issues: readonly StandardIssue[] }
  | { readonly failure: string }

/** So many are read of a value, of which few are shown. */
const mostIssues = 1000

/** Asks a validator about a value, and reads what it makes of it. Never throws: what a validator throws may quote the value. */
export function validateStandard<T>(
  schema: StandardSchema,
  value: unknown,
  read: (output: unknown) => T,
): Verdict<T> {
  try {
    const result: unknown = schema['~standard'].validate(value)
    if (isThenable(result)) {
      ignoreRejection(result)
      return { failure: 'its schema is asynchronous' }
    }
    const issues = safeRead(result, 'issues')
    if (!issues) return { value: read(safeRead(result, 'value')) }
    if (!Array.isArray(issues)) return { issues: [] }
    // ArkType's are of a class whose slice() and map() make others of their kind.
    return {
      issues: Array.from({ length: Math.min(issues.length, mostIssues) }, (_, at) => toIssue(issues[at])),
    }
  } catch {
    return { failure: 'its schema throws' }
  }
}

function toIssue(issue: unknown): StandardIssue {
  const path = safeRead(issue, 'path')
  const message = safeRead(issue, 'message')
  return {
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
  try {
    return schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' })
  } catch {
    return undefined // a part has no form in JSON Schema
  }
}
