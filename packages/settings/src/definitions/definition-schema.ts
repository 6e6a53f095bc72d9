/**
 * The members of a definition, each declared once: its type, its default, and in its `description` the end of the
 * sentence "<member> must be …" that stops the boot. `GET /definitions` describes its response by the same schema.
 */
import {
  closestName,
  isStandardSchema,
  jsonSchemaOf,
  type StandardSchema,
} from '@fastify-modular/core/internal'
import { KindGuard, type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import {
  type CompleteDefinition,
  type JsonValue,
  type SettingDefinition,
  SettingScope,
  SettingType,
  type ValueSchema,
} from '../setting-definition.ts'
import { checkJson, deepFreeze, encodeValue, readText } from '../values/json.ts'
import { checkUrl, defaultLimits } from '../values/validate.ts'

/** With a character that is not white space. */
const filled = { pattern: '\\S' }
const json = Type.Unsafe<JsonValue>(Type.Unknown({ description: 'any JSON value' }))
const jsonSchema = Type.Unsafe<ValueSchema>(Type.Unknown({ description: 'a JSON Schema' }))
/** Copied as JSON. */
const opaque: ReadonlySet<TSchema> = new Set([json, jsonSchema])

/** All members of a complete definition, in the order in which clients see them. */
export const definitionSchema = Type.Object({
  key: Type.String({
    maxLength: 100, // Fastify's router answers 414 above
    pattern: '^[A-Za-z][A-Za-z0-9_-]*(?:\\.[A-Za-z0-9_-]+)*$',
    description:
      'like module.category.name, of at most 100 characters: a letter, then letters, digits, _ and -, in segments separated by dots',
  }),
  displayName: Type.String({ ...filled, description: 'a string that is not empty' }),
  description: nullable(Type.String(), 'a string'),
  group: nullable(Type.String(), 'a string'),
  scope: memberOf(SettingScope, 'SettingScope'), // documents of applications without tenants show three
  defaultValue: nullable(Type.String(), 'its raw text, like "587" or "true"'),
  type: memberOf(SettingType, 'SettingType'),
  // The empty string counts as no value (decision 10).
  allowedValues: nullable(
    Type.Array(Type.String({ minLength: 1 })),
    'an array of strings that are not empty',
  ),
  min: nullable(Type.Number(), 'a finite number'),
  max: nullable(Type.Number(), 'a finite number'),
  pattern: nullable(Type.String(), 'the text of a regular expression'),
  maxLength: nullable(Type.Integer({ minimum: 1 }), 'a positive integer'),
  required: flag(),
  sensitive: flag(),
  order: Type.Number({ default: 0, description: 'a finite number' }),
  placeholder: nullable(Type.String(), 'a string'),
  public: flag(),
  env: nullable(
    Type.String({ maxLength: 100, pattern: '^[A-Z_][A-Z0-9_]*$' }),
    'the name of an environment variable in capitals, like SMTP_HOST',
  ),
  writePermission: nullable(Type.String(filled), 'the name of a permission, like Mail.Configure'),
  options: nullable(
    Type.Array(
      Type.Object({
        value: Type.String(filled),
        label: Type.String(filled),
        description: nullable(Type.String(filled), 'a string that is not empty'),
      }),
      { minItems: 1 },
    ),
    'an array of { value, label, description? } whose members are strings that are not empty',
  ),
  unit: nullable(Type.String({ ...filled, maxLength: 30 }), 'a string of 1 to 30 characters'),
  keywords: Type.Array(Type.String({ ...filled, maxLength: 50 }), {
    default: Object.freeze([]),
    maxItems: 20,
    description: 'an array of at most 20 strings of 1 to 50 characters',
  }),
  hidden: flag(),
  advanced: flag(),
  showWhen: nullable(
    Type.Object({ key: Type.String(filled), equals: json }),
    '{ key, equals } with the key of another setting and a JSON value',
  ),
  confirm: nullable(Type.String(filled), 'a string that is not empty'),
  restart: flag(),
  docsUrl: nullable(Type.String({ pattern: '^https://' }), 'an absolute https URL'),
  patternHint: nullable(Type.String(filled), 'a string that is not empty'),
  schema: nullable(
    jsonSchema,
    'a JSON Schema, of TypeBox for example: Type.Array(Type.String()), or a validator of Standard Schema',
  ),
  flag: flag(),
})

/** What JSON Schema cannot say about members that satisfy it. */
const furtherChecks: Partial<Record<string, (definition: CompleteDefinition) => boolean>> = {
  showWhen: ({ showWhen }) => showWhen === null || isJson(showWhen.equals),
  schema: ({ schema }) =>
    schema === null || (typeof schema === 'object' && !Array.isArray(schema) && isJson(schema)),
  docsUrl: ({ docsUrl }) => docsUrl === null || checkUrl(docsUrl).length === 0,
}

/** A declaration with its defaults, and its members that no definition has. */
interface CompletedDefinition {
  readonly definition: CompleteDefinition
  /** Clauses for the boot error: ignored, a misspelt `sensitive` would show a secret. */
  readonly unknown: readonly string[]
  /** Its schema, where that is one; the definition has the JSON Schema of it. */
  readonly validator: StandardSchema | null
}

/**
 * Copies every member of a declaration, so that later changes have no effect; members that were left out get their
 * defaults. The options of a Select are its allowed values unless it lists those itself.
 * JavaScript modules may declare anything: `memberProblems` reports what cannot be used.
 */
export function completeDefinition(declared: SettingDefinition): CompletedDefinition {
  const unknown: string[] = []
  const copy = copyMembers(definitionSchema.properties, declared, {
    unknown,
    path: '',
    further: ['validate'],
  })
  const definition = copy as CompleteDefinition
  const { schema } = declared
  const validator = isStandardSchema(schema) ? schema : null
  // That of a secret may have a secret as its default.
  if (validator) Object.assign(copy, { schema: definition.sensitive ? null : describe(validator) })
  const { options, allowedValues } = Object.freeze(definition)
  if (allowedValues !== null || !options || !isValid('options', definition))
    return { definition, unknown, validator }
  const allowed = Object.freeze(options.map(({ value }) => value))
  return { definition: Object.freeze({ ...definition, allowedValues: allowed }), unknown, validator }
}

/** Of a validator; null where what it says is no JSON. */
function describe(schema: StandardSchema): ValueSchema | null {
  const described = jsonSchemaOf(schema)
  return typeof described === 'object' && isJson(described) ? (described as ValueSchema | null) : null
}

const members = Object.entries<TSchema>(definitionSchema.properties)

/** The members that have another type or form, each with what it must be. */
export function memberProblems(definition: CompleteDefinition): string[] {
  const problems: string[] = []
  for (const [name, schema] of members) {
    const member = name as keyof CompleteDefinition
    // Most members are left out, and most of a boot's checks would be of their defaults (bench/boot.mjs).
    const isDefault = 'default' in schema && definition[member] === schema.default
    if (!isDefault && !isValid(member, definition)) problems.push(`${name} must be ${schema.description}`)
  }
  return problems
}

function unknownMember(name: string, names: readonly string[], path: string): string {
  const meant = closestName(name, names)
  const hint =
    meant === undefined ? `; expected one of ${names.join(', ')}` : ` (did you mean ${path}${meant}?)`
  return `unknown member ${path}${name}${hint}`
}

/** Compiled at first use: most applications use few of the members. */
const checks = new Map<string, TypeCheck<TSchema>>()

function isValid(name: keyof CompleteDefinition, definition: CompleteDefinition): boolean {
  const check = checks.get(name) ?? TypeCompiler.Compile<TSchema>(definitionSchema.properties[name])
  checks.set(name, check)
  return check.Check(definition[name]) && furtherChecks[name]?.(definition) !== false
}

/** Where a copy is made from, and where the unknown members that it meets are reported. */
interface CopyContext {
  readonly path: string
  readonly unknown: string[]
  /** Members that are not copied. */
  readonly further?: readonly string[]
}

function copyMembers(
  members: Readonly<Record<string, TSchema>>,
  declared: object,
  { path, unknown, further = [] }: CopyContext,
): object {
  for (const name of Object.keys(declared)) {
    if (!Object.hasOwn(members, name) && !further.includes(name))
      unknown.push(unknownMember(name, [...Object.keys(members), ...further], path))
  }
  // With all members from the start: an object that gets so many one by one becomes a hash table (bench/boot.mjs).
  const copy: Record<string, unknown> = { ...members }
  for (const [name, schema] of Object.entries(members)) {
    const own: unknown = Reflect.get(declared, name)
    const value: unknown = 'default' in schema ? (own ?? schema.default) : own
    const isNested = typeof value === 'object' && value !== null && value !== schema.default
    copy[name] =
      isNested || schema === json ? copyOf(schema, value, { path: `${path}${name}.`, unknown }) : value
  }
  return copy
}

/** A frozen copy of a value that the schema describes. Any other value stays as it is, and does not satisfy the schema. */
function copyOf(schema: TSchema, value: unknown, context: CopyContext): unknown {
  const shape = KindGuard.IsUnion(schema) ? schema.anyOf[0] : schema
  if (shape !== undefined && opaque.has(shape))
    return isJson(value) ? deepFreeze(readText(encodeValue(value))) : undefined
  if (KindGuard.IsArray(shape) && Array.isArray(value)) {
    const { path, unknown } = context
    return Object.freeze(
      Array.from(value, (item, index) => copyOf(shape.items, item, { path: `${path}${index}.`, unknown })),
    )
  }
  if (KindGuard.IsObject(shape) && typeof value === 'object' && value !== null)
    return Object.freeze(copyMembers(shape.properties, value, context))
  return value
}

function isJson(value: unknown): value is JsonValue {
  return checkJson(value, defaultLimits.longBytes).length === 0
}

function nullable<T extends TSchema>(schema: T, description: string) {
  return Type.Union([schema, Type.Null()], { default: null, description })
}

function flag() {
  return Type.Boolean({ default: false, description: 'true or false' })
}

/** `0 System, 1 Application, 2 User`: enumerations count from 0 without a gap. */
function memberOf<T extends number>(enumeration: Readonly<Record<string, T>>, name: string) {
  const members = Object.entries(enumeration)
  return Type.Unsafe<T>(
    Type.Integer({
      minimum: 0,
      maximum: members.length - 1,
      description: `a member of ${name}: ${members.map(([member, value]) => `${value} ${member}`).join(', ')}`,
    }),
  )
}
