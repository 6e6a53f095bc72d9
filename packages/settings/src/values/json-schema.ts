/** Compiles the schemas of Json settings, refuses costly ones, and describes the errors of values. */
import { compileSchemaErrors, type SchemaError } from '@fastify-modular/core/internal'
import type { JsonValue, ValueSchema } from '../setting-definition.ts'

/** The problems of a value that is JSON; those of its parts begin with a JSON Pointer: `/1/port: Enter a number.` */
type CheckSchema = (value: JsonValue) => string[]

/** The same, and what to store of the value where it has none. */
export type ParseSchema = (value: JsonValue) => {
  readonly value: JsonValue
  readonly errors: readonly string[]
}

/**
 * Compiles the schema of a setting.
 * @throws {Error} Ajv cannot read it, or a value could take unlimited time; the message has all its problems
 */
export function compileJsonSchema(schema: ValueSchema): CheckSchema {
  const problems = costlyKeywords(schema, 'schema')
  if (problems.length > 0) throw new Error(problems.join('; '))
  const errorsOf = compileSchemaErrors(schema)
  return (value) => toProblems(errorsOf(value))
}

/** Keywords whose values have schemas by name. */
const schemasByName: ReadonlySet<string> = new Set(['properties', 'definitions', '$defs', 'dependentSchemas'])
/** Keywords whose values are JSON, whatever stands in them. */
const data: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples', 'required'])

/** Items that are compared with each other: their number squared is what it costs. */
const mostUnique = 1000

/** Expressions and comparisons whose time grows faster than the value that a request brings. */
function costlyKeywords(schema: unknown, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((each, index) => costlyKeywords(each, `${path}.${index}`))
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]): string[] => {
    const place = `${path}.${name}`
    if (name === 'pattern' || name === 'patternProperties')
      return [`${path} has the keyword ${name}, which takes too long on some values: check it in validate`]
    if (
      name === 'uniqueItems' &&
      value === true &&
      !(((schema as ValueSchema)['maxItems'] as number) <= mostUnique)
    )
      return [`${path} has the keyword uniqueItems: add a maxItems of at most ${mostUnique}`]
    if (data.has(name)) return []
    if (!schemasByName.has(name)) return costlyKeywords(value, place)
    return Object.entries(Object(value)).flatMap(([key, each]) => costlyKeywords(each, `${place}.${key}`))
  })
}

/** So many problems of one value are listed. */
export const mostProblems = 20

function toProblems(errors: readonly SchemaError[]): string[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  const byPath = new Map<string, string>()
  for (const error of errors) {
    // What each choice of a union lacks is of no use: none of them may be meant.
    if (unions.some(({ schemaPath }) => error.schemaPath.startsWith(`${schemaPath}/`))) continue
    const path = pathOf(error)
    // The first error of a part: the others follow from it.
    if (!byPath.has(path)) byPath.set(path, messageOf(error))
    if (byPath.size === mostProblems) break
  }
  return Array.from(byPath, ([path, message]) => (path === '' ? message : `${path}: ${message}`))
}

/** Of the part that is missing, or that there should not be. */
function pathOf({ instancePath, params }: SchemaError): string {
  const name: unknown =
    params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty']
  if (typeof name !== 'string') return instancePath
  return `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function messageOf(error: SchemaError): string {
  const toMessage = messages[error.keyword]
  return toMessage ? toMessage(error) : `Enter another value: this one ${error.message ?? 'is not allowed'}.`
}

const unexpected = 'Remove this property; it is not allowed here.'
const anyType = 'Enter a value of one of the types that are allowed here.'

/** What to enter, by the keyword that a value breaks. */
const messages: Readonly<Record<string, (error: SchemaError) => string>> = {
  required: () => 'A value is required.',
  additionalProperties: () => unexpected,
  unevaluatedProperties: () => unexpected,
  minLength: ({ params }) =>
    params['limit'] === 1 ? 'A value is required.' : `Enter at least ${String(params['limit'])} characters.`,
  maxLength: ({ params }) => `Enter at most ${String(params['limit'])} characters.`,
  minItems: ({ params }) => `Enter at least ${String(params['limit'])} items.`,
  maxItems: ({ params }) => `Enter at most ${String(params['limit'])} items.`,
  uniqueItems: () => 'Enter each item once.',
  minimum: ({ params }) => `Enter a number of at least ${String(params['limit'])}.`,
  maximum: ({ params }) => `Enter a number of at most ${String(params['limit'])}.`,
  exclusiveMinimum: ({ params }) => `Enter a number greater than ${String(params['limit'])}.`,
  exclusiveMaximum: ({ params }) => `Enter a number less than ${String(params['limit'])}.`,
  multipleOf: ({ params }) => `Enter a multiple of ${String(params['multipleOf'])}.`,
  format: ({ params }) => `Enter text in the format ${String(params['format'])}.`,
  type: ({ params }) => byType[String(params['type'])] ?? anyType,
  const: ({ params }) => `Enter one of: ${String(params['allowedValue'])}.`,
  enum: ({ schema }) => `Enter one of: ${(schema as readonly unknown[]).join(', ')}.`,
  anyOf: ({ schema }) => choicesOf(schema),
  oneOf: ({ schema }) => choicesOf(schema),
}

const byType: Readonly<Record<string, string>> = {
  array: 'Enter a list.',
  boolean: 'Enter a boolean: true or false.',
  integer: 'Enter a whole number.',
  number: 'Enter a number.',
  object: 'Enter an object.',
  string: 'Enter text.',
}

/** The constants that a union admits. */
function choicesOf(schema: unknown): string {
  const choices = (schema as readonly object[]).map((each): unknown => Reflect.get(each, 'const'))
  return choices.includes(undefined) ? anyType : `Enter one of: ${choices.join(', ')}.`
}
