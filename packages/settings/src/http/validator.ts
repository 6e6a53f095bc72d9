/** Checks requests without coercion and without dropping what is unknown (decision 12). */
import { ValidationException } from '@fastify-modular/core'
import { Kind, type TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError } from '@sinclair/typebox/compiler'
import type { FastifySchemaCompiler } from 'fastify'

/** The validator compiler of the settings routes: 400 with `errors` by field path, such as `0.scope`. */
export const validatorCompiler: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  if (!isTypeBox(schema)) throw new TypeError('The schemas of the settings routes are TypeBox schemas.')
  let check: TypeCheck<TSchema> | undefined
  return (value: unknown) => {
    check ??= compile(schema)
    if (check.Check(value)) return { value }
    return { error: new ValidationException(toFieldErrors(check.Errors(value), httpPart ?? 'request')) }
  }
}

const checks = new WeakMap<TSchema, TypeCheck<TSchema>>()

/** Once for each schema, when the first request needs it: most applications never ask all routes. */
function compile(schema: TSchema): TypeCheck<TSchema> {
  const check = checks.get(schema) ?? TypeCompiler.Compile(schema)
  checks.set(schema, check)
  return check
}

/** A body may have an error in every other byte: more than anybody reads. */
const maxFields = 100

/** The first error of each field: the others follow from it. */
function toFieldErrors(errors: Iterable<ValueError>, part: string): Record<string, readonly string[]> {
  const byField = new Map<string, readonly string[]>()
  for (const { path, message, schema } of errors) {
    // JSON Pointer (RFC 6901) to the dotted paths that forms use.
    const field = path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~') || part
    if (byField.has(field)) continue
    const expected =
      schema.description === undefined || message.includes('property')
        ? message
        : `Expected ${schema.description}`
    byField.set(field, [`${expected}.`])
    if (byField.size === maxFields) break
  }
  return Object.fromEntries(byField)
}

function isTypeBox(schema: unknown): schema is TSchema {
  return typeof schema === 'object' && schema !== null && Kind in schema
}
