/** How requests are checked, decoded and typed: by the TypeBox schemas of their routes. */
import { ValidationException } from '@fastify-modular/core'
import { Kind, type StaticDecode, type TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifySchemaCompiler,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'

/** A Fastify instance whose handlers get requests with the types of their schemas. */
export type SettingsApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  SchemaTypes
>

/** The types of what `validatorCompiler` returns. */
interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema | undefined
    ? StaticDecode<NonNullable<this['schema']>>
    : unknown
}

/**
 * The validator compiler of the settings routes: 400 with `errors` by field path, such as `0.scope`. It neither coerces
 * nor drops unknown members (decision 12); what a schema decodes reaches the handler decoded.
 */
export const validatorCompiler: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  if (!isTypeBox(schema)) throw new TypeError('The schemas of the settings routes are TypeBox schemas.')
  let check: TypeCheck<TSchema> | undefined
  return (value: unknown) => {
    check ??= compile(schema)
    if (check.Check(value)) return { value: check.Decode(value) }
    return { error: new ValidationException(toFieldErrors(check.Errors(value), httpPart ?? 'request')) }
  }
}

const checks = new WeakMap<TSchema, TypeCheck<TSchema>>()

/** Once for each schema, when the first request needs it: most applications never use all routes. */
function compile(schema: TSchema): TypeCheck<TSchema> {
  const check = checks.get(schema) ?? TypeCompiler.Compile(schema)
  checks.set(schema, check)
  return check
}

/** A body may have an error in every other byte: so many are of no use. */
const maxFields = 100

/** The first error of each field: the others follow from it. */
function toFieldErrors(errors: Iterable<ValueError>, part: string): Record<string, readonly string[]> {
  const byField = new Map<string, readonly string[]>()
  for (const error of errors) {
    // JSON Pointer (RFC 6901) to the dotted paths that forms use.
    const field = error.path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~') || part
    if (!byField.has(field)) byField.set(field, [`${expectationOf(error)}.`])
    if (byField.size === maxFields) break
  }
  return Object.fromEntries(byField)
}

/** What a field should have been; a description of its values is no help where the field itself is missing or unknown. */
function expectationOf({ type, message, schema: { description } }: ValueError): string {
  const isAboutPresence =
    type === ValueErrorType.ObjectRequiredProperty || type === ValueErrorType.ObjectAdditionalProperties
  return description === undefined || isAboutPresence ? message : `Expected ${description}`
}

function isTypeBox(schema: unknown): schema is TSchema {
  return typeof schema === 'object' && schema !== null && Kind in schema
}
