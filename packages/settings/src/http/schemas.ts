/** How requests are checked, decoded and typed: the schemas that several routes share, and what applies them. */
import { ValidationException } from '@fastify-modular/core'
import {
  Kind,
  type Static,
  type StaticDecode,
  type TSchema,
  type TTransform,
  type TUnsafe,
  Type,
} from '@sinclair/typebox'
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
import { type JsonValue, SettingScope } from '../setting-definition.ts'

/** A Fastify instance whose handlers get requests with the types of their schemas. */
export type SettingsApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  SchemaTypes
>

/** The types of the values that `validatorCompiler` returns. */
export interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema | undefined
    ? StaticDecode<NonNullable<this['schema']>>
    : unknown
}

/**
 * The validator compiler of the settings routes: 400 with `errors` by field path, such as `0.scope`. It neither coerces
 * nor drops unknown members; what a schema decodes reaches the handler decoded.
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
  for (const error of withinUnions(errors)) {
    // JSON Pointer (RFC 6901) to the dotted paths that forms use.
    const field = error.path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~') || part
    if (!byField.has(field)) byField.set(field, [`${expectationOf(error)}.`])
    if (byField.size === maxFields) break
  }
  return Object.fromEntries(byField)
}

/** Of a body that may have one of several shapes, such as an entry or a list of them, what is wrong in the shape that it has. */
function* withinUnions(errors: Iterable<ValueError>): Generator<ValueError> {
  for (const error of errors) {
    const found = error.errors.map((shape) => ({ first: shape.First(), others: shape }))
    const meant = found.find(({ first }) => first && first.path !== error.path)
    if (!meant?.first || error.schema.description !== undefined) {
      yield error
      continue
    }
    yield* withinUnions([meant.first])
    yield* withinUnions(meant.others)
  }
}

/** What a field must be. The description of its values does not help where the field is missing or unknown. */
function expectationOf({ type, message, schema: { description } }: ValueError): string {
  const isAboutPresence =
    type === ValueErrorType.ObjectRequiredProperty || type === ValueErrorType.ObjectAdditionalProperties
  return description === undefined || isAboutPresence ? message : `Expected ${description}`
}

function isTypeBox(schema: unknown): schema is TSchema {
  return typeof schema === 'object' && schema !== null && Kind in schema
}

export const closed = { additionalProperties: false }
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A schema of input whose values reach the handler decoded. */
export function decoded<S extends TSchema, T>(schema: S, decode: (value: Static<S>) => T): TTransform<S, T> {
  return Type.Transform(schema)
    .Decode((value) => decode(value))
    .Encode(() => {
      throw new TypeError('Schemas of input only decode.')
    })
}

const scopeNames = Object.keys(SettingScope).map((name) => name.toLowerCase())
const inAnyCase = (name: string): string => name.replaceAll(/./g, (char) => `[${char}${char.toUpperCase()}]`)
const patternOf = (names: readonly string[]): string => names.map(inAnyCase).join('|')
const scopePattern = patternOf(scopeNames.slice(0, SettingScope.Tenant))
const widePattern = patternOf(scopeNames)
const scopeDescription = { description: '0, 1 or 2, or System, Application or User' }
const wideDescription = { description: '0, 1, 2 or 3, or System, Application, User or Tenant' }

/** Members of a schema that are others with the option `tenants`, under a symbol, which no document shows. */
const withTenants = Symbol('with tenants')

/** Gives a schema the members that it has with the option `tenants`. */
function wider<S extends TSchema>(schema: S, members: object): S {
  return Object.assign(schema, { [withTenants]: members })
}

/** The same schema as it is with the option `tenants`: scopes have one member more. */
export function widen<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map((each) => widen(each)) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Reflect.ownKeys(schema).map((name) => [name, widen(Reflect.get(schema, name))] as const)
  const wide: unknown = Reflect.get(schema, withTenants)
  return Object.assign(Object.fromEntries(members), wide) as T // the same shape
}

/** A scope in a body. */
export const ScopeInput = decoded(
  wider(
    Type.Union(
      [
        wider(Type.Integer({ minimum: 0, maximum: 2 }), { maximum: 3 }),
        wider(Type.String({ pattern: `^(${scopePattern})$` }), { pattern: `^(${widePattern})$` }),
      ],
      scopeDescription,
    ),
    wideDescription,
  ),
  toScope,
)

/** A scope in a query string. */
export const ScopeText = decoded(
  wider(Type.String({ pattern: `^([012]|${scopePattern})$`, ...scopeDescription }), {
    pattern: `^([0123]|${widePattern})$`,
    ...wideDescription,
  }),
  toScope,
)

function toScope(input: string | number): SettingScope {
  const scope = parseScope(input)
  if (scope === undefined) throw new TypeError('The schema admitted a scope that does not exist.')
  return scope
}

/** The scope of an input that the schemas would accept; undefined for anything else. */
export function parseScope(input: unknown): SettingScope | undefined {
  // Input that no schema has checked yet: not every object can be converted to text.
  if (typeof input !== 'string' && typeof input !== 'number') return undefined
  const name = String(input).toLowerCase()
  const value = /^[0123]$/.test(name) ? Number(name) : scopeNames.indexOf(name)
  return value === 0 || value === 1 || value === 2 || value === 3 ? value : undefined
}

export const Value = Type.Unsafe<JsonValue>(Type.Unknown({ description: 'any JSON value' }))
export const Key = Type.String({ description: 'the key of a setting, such as mail.port' })
export const Keys = Type.Array(Type.String())
/** A group in a query. */
export const Group = Type.Optional(
  Type.String({ maxLength: 200, description: 'the group of a setting; empty for settings without one' }),
)
export const Scope = wider(
  Type.Integer({ minimum: 0, maximum: 2, description: '0 System, 1 Application, 2 User' }),
  { maximum: 3, description: '0 System, 1 Application, 2 User, 3 Tenant' },
)
export const Revision = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER, // PostgreSQL refuses a number that does not fit into a bigint
  description: 'a revision, 0 or greater',
})

/** Schemas that have a name in documents. The scope of the routes shares them. */
export const components: TSchema[] = []

/** Gives a schema its name, and returns a reference to it. */
export function component<S extends TSchema>($id: string, schema: S): TUnsafe<Static<S>> {
  components.push({ ...schema, $id, title: $id })
  return Type.Unsafe({ $ref: `${$id}#` })
}

export const KeyParams = Type.Object({ key: Key })
export const RevisionParams = Type.Object({
  revision: decoded(Type.String({ pattern: '^[1-9][0-9]{0,14}$', description: 'a revision' }), Number),
})
export const NoQuery = Type.Object({}, closed)
export const ScopeQuery = Type.Object({ scope: ScopeText }, closed)

/** Decides everything and writes nothing; a member of a query. */
export const DryRun = Type.Optional(
  decoded(
    Type.String({ pattern: '^(true|false)$', description: 'true or false' }),
    (text) => text === 'true',
  ),
)

/** Within how many seconds a change has to be kept; a member of a query. */
export const ConfirmWithin = Type.Optional(
  decoded(Type.String({ pattern: '^[1-9][0-9]{0,4}$', description: '5 to 86400 seconds' }), Number),
)

/** Which layer supplies a value. */
export const Source = wider(oneOf('locked', 'user', 'application', 'system', 'default'), {
  enum: ['locked', 'user', 'tenant', 'application', 'system', 'default'],
})

export const LockedBy = nullable(oneOf('option', 'environment', 'variable'))

function oneOf<T extends string>(...texts: readonly T[]): TUnsafe<T> {
  return Type.Unsafe({ type: 'string', enum: texts })
}

/** The members of a value. */
export const valueMembers = {
  key: Type.String(),
  scope: Scope,
  value: Value,
  isOverridden: Type.Boolean({ description: 'whether a value is stored' }),
  source: Source,
  locked: Type.Boolean(),
  lockedBy: LockedBy,
  version: Revision,
  userId: nullable(Type.String()),
  updatedAt: nullable(Type.String({ description: 'ISO 8601, UTC' })),
  updatedBy: nullable(Type.String()),
}

/** How a write changes, or would change, one value. */
export const changeMembers = {
  key: Type.String(),
  scope: Scope,
  change: Type.String({ description: 'create, update, delete or none' }),
  oldValue: Value,
  newValue: Value,
}
export const SettingValue = component('SettingValue', Type.Object(valueMembers))
/** A value after a write, with the change set that Undo takes back. */
export const WrittenValue = component(
  'WrittenSettingValue',
  Type.Object({
    ...valueMembers,
    revision: nullable(
      Type.Integer({ description: 'the change set of the write; null where nothing changed' }),
    ),
  }),
)

/** What happened to values. */
const Entry = component(
  'SettingHistoryEntry',
  Type.Object({
    revision: Revision,
    key: Type.String(),
    scope: Scope,
    userId: nullable(Type.String()),
    oldValue: Value,
    newValue: Value,
    isOverridden: Type.Boolean(),
    origin: Type.String(),
    actor: nullable(Type.String()),
    note: nullable(Type.String()),
    requestId: nullable(Type.String()),
    setSize: Type.Integer({ description: 'how many values the write changed' }),
    at: Type.String(),
  }),
)
export const HistoryEntries = Type.Array(Entry)

/** The names of the people in the answer, by id; empty without the option `findPeople`. */
export const People = Type.Record(Type.String(), Type.String())

/** Problem details (RFC 9457), in the order of `core/problem`. */
export const Problem = component(
  'SettingsProblem',
  Type.Object(
    {
      type: Type.String(),
      title: Type.String(),
      status: Type.Integer(),
      detail: Type.String(),
      instance: Type.Optional(Type.String()),
      code: Type.String(),
      requestId: Type.Optional(Type.String()), // a malformed URL has none
      traceId: Type.Optional(Type.String({ pattern: '^[0-9a-f]{32}$' })),
      errors: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
    },
    { additionalProperties: true },
  ),
)
