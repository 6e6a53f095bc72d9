/**
 * Definitions that know the type of their value. A token is a plain `SettingDefinition`; the type exists for the
 * compiler only, so that `settings.get(mail.port)` is a number.
 */
import type { StandardOutput, StandardSchema } from '@fastify-modular/core/internal'
import type { Static, TSchema } from '@sinclair/typebox'
import {
  SettingType,
  type JsonValue,
  type RuleResult,
  type SettingDefinition,
  type SettingOption,
  type SettingScope,
} from '../setting-definition.ts'
import { toRaw } from '../values/json.ts'

/** A definition whose value is a `T` (with null where there is no default). */
export interface SettingToken<
  out T,
  K extends string = string,
  out S extends SettingScope = SettingScope,
> extends SettingDefinition {
  readonly key: K
  readonly scope: S
  /** Never present: it carries the type. */
  readonly $value?: T
}

/**
 * The keys of an application with the types of their values. Packages add theirs, so that string keys are typed too:
 * `declare module '@fastify-modular/settings' { interface SettingKeyMap extends ValuesOf<typeof mail> {} }`
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- merged into by packages that declare settings
export interface SettingKeyMap {}

/** Settings by any names: `{ host: setting.text('mail.host', …), port: setting.number('mail.port', …) }`. */
export type SettingMap = Readonly<Record<string, SettingToken<unknown>>>

/** The value type of each name in a map of settings: `{ port: number }`. */
export type NamedValues<M extends SettingMap> = { readonly [N in keyof M]: SettingValue<M[N]> }

/** The value type of each key of a map of settings: `{ 'mail.port': number }`. */
export type ValuesOf<M extends SettingMap> = {
  readonly [N in keyof M as M[N]['key']]: SettingValue<M[N]>
}

/** A key that is computed at run time. A literal must be one of `SettingKeyMap`, so that a misspelt one does not compile. */
export type DynamicKey<K extends string> = {} extends Record<K, unknown> ? K : never

/** The type of a token's value. */
export type SettingValue<S> = S extends SettingToken<infer T> ? T : never

/** What every type of setting takes; `default` is typed instead of raw. */
type TokenOptions<T, S extends SettingScope = SettingScope> = Omit<
  SettingDefinition,
  | 'key'
  | 'scope'
  | 'type'
  | 'defaultValue'
  | 'allowedValues'
  | 'options'
  | 'min'
  | 'max'
  | 'pattern'
  | 'schema'
  | 'validate'
> & {
  readonly scope: S
  /** A further rule about values that satisfy the rest: messages that say what to enter, or nothing. */
  validate?(value: T): RuleResult
}

/** Null only where there may be no default. */
type Value<T, D> = null extends D ? T | null : T

/** Declares a setting of one type; `Extra` are the members that only this type has. */
type Declare<T, Extra = unknown> = <
  const K extends string,
  const S extends SettingScope,
  D extends T | null = null,
>(
  key: K,
  options: TokenOptions<T, S> & Extra & { readonly default?: D },
) => SettingToken<Value<T, D>, K, S>

/** Declares a Select: the value is one of the allowed ones, which may be described by options or stand in them alone. */
interface DeclareSelect {
  <
    const K extends string,
    const S extends SettingScope,
    const A extends readonly [string, ...string[]],
    D extends A[number] | null = null,
  >(
    key: K,
    options: TokenOptions<A[number], S> & {
      readonly allowedValues: A
      readonly options?: readonly SettingOption<A[number]>[] | null
      readonly default?: D
    },
  ): SettingToken<Value<A[number], D>, K, S>
  <
    const K extends string,
    const S extends SettingScope,
    const O extends readonly [SettingOption, ...SettingOption[]],
    D extends O[number]['value'] | null = null,
  >(
    key: K,
    options: TokenOptions<O[number]['value'], S> & { readonly options: O; readonly default?: D },
  ): SettingToken<Value<O[number]['value'], D>, K, S>
}

/** A value as readers get it. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [N in keyof T]: Frozen<T[N]> }
    : T

/** Declares a Json: by a schema of TypeBox, any JSON, or with `json<T>()` a type of your own, which a schema should prove. */
interface DeclareJson extends Declare<JsonValue, Schemed> {
  <
    const K extends string,
    const S extends SettingScope,
    J extends TSchema,
    D extends Frozen<Static<J>> | null = null,
  >(
    key: K,
    options: TokenOptions<Frozen<Static<J>>, S> & { readonly schema: J; readonly default?: D },
  ): SettingToken<Value<Frozen<Static<J>>, D>, K, S>
  <T>(): Declare<T, Schemed>
}

/** Declares a Json by a validator of Standard Schema: Zod, Valibot, ArkType and others. Its output is the value. */
type DeclareSchema = <
  const K extends string,
  const S extends SettingScope,
  V extends StandardSchema,
  D extends Frozen<StandardOutput<V>> | null = null,
>(
  key: K,
  schema: V,
  options: TokenOptions<Frozen<StandardOutput<V>>, S> & { readonly default?: D },
) => SettingToken<Value<Frozen<StandardOutput<V>>, D>, K, S>

type Schemed = Pick<SettingDefinition, 'schema'>

type Patterned = Pick<SettingDefinition, 'pattern' | 'maxLength'>
type Bounded = Pick<SettingDefinition, 'min' | 'max'>

/** Declares settings, one function for each type: `setting.number('mail.port', { displayName, scope, default: 587 })`. */
export const setting = {
  text: declare<string, Patterned>(SettingType.Text),
  number: declare<number, Bounded>(SettingType.Number),
  bool: declare<boolean>(SettingType.Bool),
  json: declareJson as DeclareJson, // an implementation has its overloads' types only if it repeats them
  schema: ((key, schema, options) => token(SettingType.Json, key, { ...options, schema })) as DeclareSchema,
  select: ((key: string, options: AnyOptions) => token(SettingType.Select, key, options)) as DeclareSelect,
  color: declare<string>(SettingType.Color),
  url: declare<string>(SettingType.Url),
  email: declare<string>(SettingType.Email),
  password: declare<string, Patterned>(SettingType.Password),
  multilineText: declare<string, Patterned>(SettingType.MultilineText),
  dateTime: declare<string>(SettingType.DateTime),
} as const

function declare<T, Extra = unknown>(type: SettingType): Declare<T, Extra> {
  return (key, options) => token(type, key, options)
}

function declareJson(key?: string, options?: AnyOptions) {
  if (key !== undefined && options) return token(SettingType.Json, key, options)
  return (ownKey: string, ownOptions: AnyOptions) => token(SettingType.Json, ownKey, ownOptions)
}

type AnyOptions<S extends SettingScope = SettingScope> = TokenOptions<never, S> &
  Schemed & { readonly default?: unknown }

/** Definitions are public: they stand in repositories, and pages may import them. */
export const noSecretDefault = 'leave its default out, and write its value where it is deployed'

/** A raw `defaultValue`, which only JavaScript can pass here, stays what it is in a definition. The registry checks it. */
function token<T, K extends string, S extends SettingScope>(
  type: SettingType,
  key: K,
  options: AnyOptions<S>,
): SettingToken<T, K, S> {
  const { default: value, ...rest } = options
  if (options.sensitive && (value ?? null) !== null)
    throw new TypeError(`The setting "${key}" is sensitive: ${noSecretDefault}.`)
  const raw = value === undefined ? undefined : { defaultValue: toRaw(type, value as JsonValue) } // the registry checks it
  return Object.freeze({ defaultValue: null, ...rest, key, type, ...raw })
}

/** What `get` takes. */
export type SettingReference = string | { readonly key: string }

/** The key of a token, or the key itself. */
export function keyOf(reference: SettingReference): string {
  return typeof reference === 'string' ? reference : reference.key
}
