/**
 * The options of plugins, stores and transports, checked by one TypeBox schema before anything starts: options come from
 * JavaScript, too. The `description` of a member completes the sentence "<name> must be …".
 */
import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { closestName } from './closest-name.ts'
import { errorCodes } from '../misuse-errors.ts'
import { isPlainObject, safeRead } from './safe.ts'

/** The builder of the schemas: one copy of it for all packages. */
export { Type, type TSchema }

/** A schema with a member for each option of `O`: the compiler reports one that is missing or that does not exist. */
export type OptionsSchema<O> = TObject<{ readonly [K in keyof Required<O>]: TSchema }>

/** Schemas of options that several plugins have. */
export const option = {
  boolean: () => Type.Boolean({ description: 'a boolean' }),
  string: (description = 'a string') => Type.String({ description }),
  positive: () =>
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'a positive integer' }),
  /** An integer that a timer can take. */
  milliseconds: (minimum: 0 | 1 = 1) =>
    Type.Integer({
      minimum,
      maximum: 0x7fffffff,
      description:
        minimum === 0 ? '0 or more milliseconds, an integer' : 'a positive integer of milliseconds',
    }),
  function: (description = 'a function') => Type.Function([], Type.Unknown(), { description }),
  oneOf: (...values: readonly (string | boolean)[]) =>
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description: listOf(values.map((value) => JSON.stringify(value))) },
    ),
  /** What no schema can say; `fits` must not throw. */
  that: (fits: (value: unknown) => boolean, description: string): TSchema =>
    Type.Unknown({ fits, description }),
  /** Who may call the routes of a plugin; the gate checks what it names. */
  access: () =>
    option.that(
      (value) => typeof value === 'string' || isPlainObject(value),
      'a permission, { allOf: [...] } or { anyOf: [...] }',
    ),
  /** An array of strings that are not empty. */
  names: (description: string) => Type.Array(Type.String({ minLength: 1 }), { description }),
  /** All other options may be left out. */
  required: <T extends TSchema>(schema: T): T => ({ ...schema, isRequired: true }),
  /** An object whose members are for the plugin to check. */
  record: (description: string) => Type.Record(Type.String(), Type.Unknown(), { description }),
} as const

/**
 * All problems of the options, each a clause for the plugin's error at boot; empty where there is none. A name that is
 * close to one of the options is a problem, because a misspelt option would be ignored silently, and its protection with
 * it. Other names are for others: scaffolds such as that of fastify-cli hand what they are given down to each plugin.
 */
export function optionProblems<O extends object>(schema: OptionsSchema<O>, options: O): string[] {
  return membersOf(schema, options, { mayHaveOthers: true })
}

/** Like `optionProblems`, for an argument of that name: Fastify reads nothing from it. */
export function argumentProblems(schema: TObject, argument: object, name: string): string[] {
  if (!isRecord(argument)) return [`${name} must be an object`]
  return membersOf(schema, argument, { path: `${name}.` })
}

/** @throws {FMOD_CORE_INVALID_OPTION} with all problems, if there are any */
export function refuseOptions(owner: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new errorCodes.FMOD_CORE_INVALID_OPTION(owner, problems.join('; '))
}

function membersOf(
  schema: TObject,
  options: object,
  { path = '', mayHaveOthers = false }: { readonly path?: string; readonly mayHaveOthers?: boolean },
): string[] {
  const names = Object.keys(schema.properties)
  const unknown = Object.keys(options)
    .filter((name) => !names.includes(name) && !(mayHaveOthers && isForOthers(name, names)))
    .map((name) => unknownOption(name, names, path))
  return [...wrongMembers(schema, options, path), ...unknown]
}

/** The members that are not what the schema says, whatever others the value has. */
export function wrongMembers(schema: TObject, value: unknown, path = ''): string[] {
  return Object.entries(schema.properties).flatMap(([name, member]) => {
    const given = safeRead(value, name)
    return given === undefined && member.isRequired !== true ? [] : problemsOf(member, given, path + name)
  })
}

function isForOthers(name: string, names: readonly string[]): boolean {
  return ofFastify.has(name) || closestName(name, names) === undefined
}

function unknownOption(name: string, names: readonly string[], path: string): string {
  const meant = closestName(name, names)
  const suggestion = meant === undefined ? '' : ` (did you mean ${path}${meant}?)`
  return `unknown option ${path}${name}${suggestion}; expected ${listOf(names)}`
}

function problemsOf(schema: TSchema, value: unknown, path: string): string[] {
  const nested = isRecord(value) ? objectOf(schema) : undefined
  if (nested && isRecord(value)) return membersOf(nested, value, { path: `${path}.` })
  const fits = typeof schema.fits === 'function' ? schema.fits(value) === true : Value.Check(schema, value)
  return fits ? [] : [`${path} must be ${schema.description ?? 'of another type'}`]
}

/** The schema of the members, where the value may be an object with members of its own. */
function objectOf(schema: TSchema): TObject | undefined {
  const variants: readonly TSchema[] = Array.isArray(schema.anyOf) ? (schema.anyOf as TSchema[]) : [schema]
  return variants.find((variant): variant is TObject => variant.type === 'object' && 'properties' in variant)
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `a`, `a or b`, `a, b or c` */
function listOf(items: readonly string[]): string {
  const last = items.at(-1) ?? ''
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} or ${last}`
}

/** Options of Fastify that are as close to one of a plugin as a misspelt one. */
const ofFastify: ReadonlySet<string> = new Set([
  'ajv',
  'clientErrorHandler',
  'handlerTimeout',
  'logLevel',
  'logSerializers',
  'prefix',
  'requestTimeout',
])
