/**
 * The options of a plugin, checked by one TypeBox schema before anything starts: options come from JavaScript, too. The
 * `description` of a member completes the sentence "<name> must be …".
 */
import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { readByFastify } from '../unknown-options.ts'

/** The builder of the schemas: one copy of it for all packages. */
export { Type }

/** A schema with a member for each option of `O`: the compiler reports one that is missing or that does not exist. */
export type OptionsSchema<O> = TObject<{ readonly [K in keyof Required<O>]: TSchema }>

/** Schemas of options that several plugins have. */
export const option = {
  boolean: () => Type.Boolean({ description: 'a boolean' }),
  string: (description = 'a string') => Type.String({ description }),
  /** A positive integer that a timer can take. */
  milliseconds: () =>
    Type.Integer({ minimum: 1, maximum: 0x7fffffff, description: 'a positive integer of milliseconds' }),
  function: (description = 'a function') => Type.Function([], Type.Unknown(), { description }),
  oneOf: (...values: readonly (string | boolean)[]) =>
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description: listOf(values.map((value) => JSON.stringify(value))) },
    ),
  /** What no schema can say; `fits` must not throw. */
  that: (fits: (value: unknown) => boolean, description: string) => Type.Unknown({ fits, description }),
  /** An object whose members are for the plugin to check. */
  record: (description: string) => Type.Record(Type.String(), Type.Unknown(), { description }),
} as const

/**
 * All problems of the options, each a clause for the plugin's error at boot; empty where there is none. An unknown name
 * is a problem, because a misspelt option would be ignored silently, and its protection with it.
 */
export function optionProblems<O extends object>(schema: OptionsSchema<O>, options: O): string[] {
  return membersOf(schema, options, '')
}

function membersOf(schema: TObject, options: object, path: string): string[] {
  const names = Object.keys(schema.properties)
  const unknown = Object.keys(options)
    .filter((name) => !names.includes(name) && !(path === '' && readByFastify.has(name)))
    .map((name) => `unknown option ${path}${name}; expected ${listOf(names)}`)
  const wrong = Object.entries(schema.properties).flatMap(([name, member]) => {
    const value: unknown = Object.hasOwn(options, name) ? options[name as keyof typeof options] : undefined
    return value === undefined ? [] : problemsOf(member, value, path + name)
  })
  return [...wrong, ...unknown]
}

function problemsOf(schema: TSchema, value: unknown, path: string): string[] {
  const nested = isPlainObject(value) ? objectOf(schema) : undefined
  if (nested && isPlainObject(value)) return membersOf(nested, value, `${path}.`)
  const fits = typeof schema.fits === 'function' ? schema.fits(value) === true : Value.Check(schema, value)
  return fits ? [] : [`${path} must be ${schema.description ?? 'of another type'}`]
}

/** The schema of the members, where the value may be an object with members of its own. */
function objectOf(schema: TSchema): TObject | undefined {
  const variants: readonly TSchema[] = Array.isArray(schema.anyOf) ? (schema.anyOf as TSchema[]) : [schema]
  return variants.find((variant): variant is TObject => variant.type === 'object' && 'properties' in variant)
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `a`, `a or b`, `a, b or c` */
function listOf(items: readonly string[]): string {
  const last = items.at(-1) ?? ''
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} or ${last}`
}
