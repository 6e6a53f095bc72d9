/** Checks values against a JSON Schema with Ajv as Fastify sets it up, formats included; no value is changed. */
import AjvCompiler from '@fastify/ajv-compiler'
import { Kind } from '@sinclair/typebox'

/** A rule that a value breaks, as Ajv describes it. */
export interface SchemaError {
  readonly keyword: string
  /** The JSON Pointer of the part. */
  readonly instancePath: string
  readonly schemaPath: string
  readonly params: Readonly<Record<string, unknown>>
  /** What the schema has for the keyword. */
  readonly schema?: unknown
  readonly message?: string
}

type Compile = ReturnType<ReturnType<typeof AjvCompiler>>

/** Without and with a check of the schema itself, which takes half of the time that `ready` of a small application takes. */
const compilers: { typeBox?: Compile; any?: Compile } = {}

/**
 * Returns the function that finds all rules that a value breaks.
 * @throws {Error} a keyword, type or format that JSON Schema (draft 7) and ajv-formats do not have
 */
export function compileSchemaErrors(schema: object): (value: unknown) => readonly SchemaError[] {
  // What TypeBox builds has the form of a schema; names of formats are checked all the same.
  const kind = Kind in schema ? 'typeBox' : 'any'
  const compile = (compilers[kind] ??= AjvCompiler()(
    {},
    {
      customOptions: {
        validateSchema: kind === 'any',
        allErrors: true,
        verbose: true,
        coerceTypes: false,
        useDefaults: false,
        removeAdditional: false,
        ownProperties: true, // every object inherits a member `constructor`
        logger: false,
      },
    },
  ))
  const check = compile({ schema }) // described as Fastify describes the schema of a route
  return (value) => (check(value) === true ? [] : (check.errors ?? []))
}
