/** The schemas of Json settings: which ones there may be, and what is wrong with a value. */
import { Kind, KindGuard, type TSchema } from '@sinclair/typebox'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { Value } from '@sinclair/typebox/value'

/** Keywords by kind. No `pattern` and no `format`: a request could keep their expressions busy without a limit. */
const keywords: Readonly<Record<string, readonly string[]>> = {
  Array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  Boolean: [],
  Integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  Literal: ['const'],
  Null: [],
  Number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  Object: ['properties', 'required', 'additionalProperties'],
  String: ['minLength', 'maxLength'],
  Union: ['anyOf'],
  Unknown: [],
}
const annotations: ReadonlySet<string> = new Set(['type', 'title', 'description', 'default', 'examples'])

/** What keeps a schema from being used, for the boot error. */
export function schemaProblems(schema: unknown, path = 'schema'): string[] {
  if (typeof schema !== 'object' || schema === null || !(Kind in schema))
    return [`${path} must be a schema of TypeBox, like Type.Array(Type.String())`]
  const kind = String(schema[Kind])
  const known = keywords[kind]
  if (!known)
    return [`${path} is of the kind ${kind}, which is not supported: use ${Object.keys(keywords).join(', ')}`]
  const unknown = Object.keys(schema).filter((name) => !known.includes(name) && !annotations.has(name))
  return [
    ...unknown.map((name) => `${path} has the keyword ${name}, which is not supported: check it in validate`),
    ...nestedOf(schema as TSchema).flatMap(([name, nested]) => schemaProblems(nested, `${path}.${name}`)), // it has a kind
  ]
}

function nestedOf(schema: TSchema): (readonly [string, unknown])[] {
  if (KindGuard.IsArray(schema)) return [['items', schema.items]]
  if (KindGuard.IsUnion(schema)) return schema.anyOf.map((each, index) => [`anyOf.${index}`, each])
  if (!KindGuard.IsObject(schema)) return []
  const { properties, additionalProperties: others } = schema
  return [
    ...Object.entries(properties).map(([name, each]) => [`properties.${name}`, each] as const),
    ...(typeof others === 'object' ? [['additionalProperties', others] as const] : []),
  ]
}

/** So many problems of one value are listed. */
const most = 20

/** The problems of a value that is JSON; those of its parts begin with a JSON Pointer: `/1/port: Enter a number.` */
export function checkSchema(schema: TSchema, value: unknown): string[] {
  const byPath = new Map<string, string>()
  for (const error of Value.Errors(schema, value)) {
    // The first error of a part: the others follow from it.
    if (!byPath.has(error.path)) byPath.set(error.path, messageOf(error))
    if (byPath.size === most) break
  }
  return Array.from(byPath, ([path, message]) => (path === '' ? message : `${path}: ${message}`))
}

function messageOf({ type, schema }: ValueError): string {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return 'A value is required.'
    case ValueErrorType.ObjectAdditionalProperties:
      return 'Remove this member: it has no meaning.'
    case ValueErrorType.StringMinLength:
      return schema['minLength'] === 1
        ? 'A value is required.'
        : `Enter at least ${schema['minLength']} characters.`
    case ValueErrorType.StringMaxLength:
      return `Enter at most ${schema['maxLength']} characters.`
    case ValueErrorType.ArrayMinItems:
      return `Enter at least ${schema['minItems']} items.`
    case ValueErrorType.ArrayMaxItems:
      return `Enter at most ${schema['maxItems']} items.`
    case ValueErrorType.ArrayUniqueItems:
      return 'Enter each item once.'
    case ValueErrorType.NumberMinimum:
    case ValueErrorType.IntegerMinimum:
      return `Enter a number of at least ${schema['minimum']}.`
    case ValueErrorType.NumberMaximum:
    case ValueErrorType.IntegerMaximum:
      return `Enter a number of at most ${schema['maximum']}.`
    case ValueErrorType.NumberExclusiveMinimum:
    case ValueErrorType.IntegerExclusiveMinimum:
      return `Enter a number greater than ${schema['exclusiveMinimum']}.`
    case ValueErrorType.NumberExclusiveMaximum:
    case ValueErrorType.IntegerExclusiveMaximum:
      return `Enter a number less than ${schema['exclusiveMaximum']}.`
    case ValueErrorType.NumberMultipleOf:
    case ValueErrorType.IntegerMultipleOf:
      return `Enter a multiple of ${schema['multipleOf']}.`
    default:
      return wanted(schema)
  }
}

const byKind: Readonly<Record<string, string>> = {
  Array: 'Enter a list.',
  Boolean: 'Enter a boolean: true or false.',
  Integer: 'Enter a whole number.',
  Number: 'Enter a number.',
  Object: 'Enter an object.',
  String: 'Enter text.',
}

/** What a value of the schema is. */
function wanted(schema: TSchema): string {
  const choices = KindGuard.IsUnion(schema) ? schema.anyOf : [schema]
  const literals = choices.filter((each) => KindGuard.IsLiteral(each))
  if (literals.length === choices.length)
    return `Enter one of: ${literals.map((each) => each.const).join(', ')}.`
  return byKind[String(schema[Kind])] ?? 'Enter a value of one of the types that are allowed here.'
}
