/**
 * The options of plugins, stores and transports, checked by one TypeBox schema before anything starts: options come from
 * JavaScript, too. The `description` of a member completes the sentence "<name> must be …".
 */
import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { closestName } from './closest-name.ts'

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
  that: (fits: (value: unknown) => boolean, description: string) => Type.Unknown({ fits, description }),
  /** An array of strings that are not empty. */
  names: (description: string) => Type.Array(Type.String({ minLength: 1 }), { description }),
  /** All other options may be left out. */
  required: <T extends TSchema>(schema: T): T => ({ ...schema, isRequired: true }),
  /** An object whose members are for the plugin to check. */
  record: (description: string) => Type.Record(Type.String(), Type.Unknown(), { description }),
} as const

/**
 * All problems of the options, each a clause for the plugin's error at boot; empty where there is none. An unknown name
 * is a problem, because a misspelt option would be ignored silently, and its protection with it.
 */
export function optionProblems<O extends object>(schema: OptionsSchema<O>, options: O): string[] {
  return membersOf(schema, options, { ignored: readByFastify })
}

/** Like `optionProblems`, for an argument of that name: Fastify reads nothing from it. */
export function argumentProblems(schema: TObject, argument: object, name: string): string[] {
  if (!isPlainObject(argument)) return [`${name} must be an object`]
  return membersOf(schema, argument, { path: `${name}.` })
}

/** @param ignored names that are not options of the plugin, and no mistake either */
function membersOf(
  schema: TObject,
  options: object,
  { path = '', ignored = new Set() }: { readonly path?: string; readonly ignored?: ReadonlySet<string> },
): string[] {
  const names = Object.keys(schema.properties)
  const unknown = Object.keys(options)
    .filter((name) => !names.includes(name) && !ignored.has(name))
    .map((name) => unknownOption(name, names, path))
  const wrong = Object.entries(schema.properties).flatMap(([name, member]) => {
    const value: unknown = Reflect.get(options, name)
    return value === undefined && member.isRequired !== true ? [] : problemsOf(member, value, path + name)
  })
  return [...wrong, ...unknown]
}

function unknownOption(name: string, names: readonly string[], path: string): string {
  const meant = closestName(name, names)
  const suggestion = meant === undefined ? '' : ` (did you mean ${path}${meant}?)`
  return `unknown option ${path}${name}${suggestion}; expected ${listOf(names)}`
}

function problemsOf(schema: TSchema, value: unknown, path: string): string[] {
  const nested = isPlainObject(value) ? objectOf(schema) : undefined
  if (nested && isPlainObject(value)) return membersOf(nested, value, { path: `${path}.` })
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

/** What Fastify itself reads from the options of `register`. */
const ofRegister = ['prefix', 'logLevel', 'logSerializers']

/** What Fastify reads when it is created. The scaffold of fastify-cli hands all of it down to each of its plugins. */
const ofServer = [
  'ajv',
  'allowErrorHandlerOverride',
  'allowUnsafeRegex',
  'bodyLimit',
  'caseSensitive',
  'childLoggerFactory',
  'clientErrorHandler',
  'connectionTimeout',
  'constraints',
  'disableRequestLogging',
  'exposeHeadRoutes',
  'forceCloseConnections',
  'frameworkErrors',
  'genReqId',
  'handlerTimeout',
  'http',
  'http2',
  'http2SessionTimeout',
  'https',
  'ignoreDuplicateSlashes',
  'ignoreTrailingSlash',
  'keepAliveTimeout',
  'logController',
  'logger',
  'loggerInstance',
  'maxParamLength',
  'maxRequestsPerSocket',
  'onConstructorPoisoning',
  'onProtoPoisoning',
  'pluginTimeout',
  'querystringParser',
  'requestIdHeader',
  'requestIdLogLabel',
  'requestTimeout',
  'return503OnClosing',
  'rewriteUrl',
  'routerOptions',
  'schemaController',
  'schemaErrorFormatter',
  'serializerOpts',
  'serverFactory',
  'trustProxy',
  'useSemicolonDelimiter',
]

/** A plugin that is handed one of these passes it over. */
const readByFastify: ReadonlySet<string> = new Set([...ofRegister, ...ofServer])
