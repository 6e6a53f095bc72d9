/** What `app.register(settings, options)` takes. */
import {
  canonicalLocale,
  option,
  optionProblems,
  type OptionsSchema,
  safeRead,
  Type,
} from '@fastify-modular/core/internal'
import type { TokenMap } from './definitions/builder.ts'
import {
  type FindCaller,
  type FindPeople,
  type OwnWrites,
  type SensitiveResolved,
  type Translate,
} from './http-options.ts'
import { FMOD_SETTINGS_INVALID_OPTION, FMOD_SETTINGS_STORE_PORT } from './misuse-errors.ts'
import type { Overrides } from './overrides.ts'
import type { SealingKey } from './secrets/sealing.ts'
import type { SettingDefinition } from './setting-definition.ts'
import { type SettingsStore, storePort } from './store/store.ts'
import type { ValueLimits } from './values/validate.ts'

/** Sizes; all values can be raised. */
export interface SettingsLimits extends Partial<ValueLimits> {
  /** Entries of one bulk. @default 500 */
  readonly bulkEntries?: number
  /** Bytes of the body of a bulk or an import. @default 524288 */
  readonly bulkBytes?: number
}

/** Options of the settings plugin. */
export interface SettingsOptions {
  /** Definitions and token maps of the host; modules contribute theirs by the hook `settings`. */
  readonly definitions?: readonly (SettingDefinition | TokenMap)[]
  /** Where values are kept. @default in memory, with a warning: nothing is persisted */
  readonly store?: SettingsStore
  /** Returns the caller of a request. @default `request.caller`, which the gate of public-routes sets */
  readonly caller?: FindCaller
  /** Where the HTTP API is. @default '/api/settings' */
  readonly prefix?: string
  /** False for no HTTP API. @default true */
  readonly routes?: boolean
  /** Values that are fixed and cannot be written, by key; those of `SM_SETTINGS_OVERRIDES` win. */
  readonly overrides?: Overrides
  /** Sensitive values at rest. */
  readonly encryption?: {
    /**
     * 32 bytes each; the first seals, all open. A new key goes last until every instance has it, then first.
     * @default those of `SM_SETTINGS_KEYS`
     */
    readonly keys?: readonly SealingKey[]
    /**
     * What happens when a sensitive setting is defined and no key is configured, or when one of its texts is stored
     * unsealed, as a value or in the history: the key of the setting is logged, or the application does not boot.
     * @default 'warn'
     */
    readonly mode?: 'warn' | 'require'
    /** Runs `rewrap()` while booting when a sensitive value is stored unsealed. @default false */
    readonly sealAtBoot?: boolean
  }
  /** Whether users need `Settings.Update` for their own values. @default 'permission' */
  readonly ownWrites?: OwnWrites
  /**
   * Who gets sensitive Application values and inherited defaults from `/resolved`.
   * @default 'spec': every signed-in caller
   */
  readonly sensitiveResolved?: SensitiveResolved
  /** Texts of definitions in the languages of `locales`, for `GET /definitions` by `Accept-Language`. @default English */
  readonly translate?: Translate
  /** The names of people, which answers about changes carry beside their ids. @default ids alone */
  readonly people?: FindPeople
  /** The languages that `translate` knows, such as `['de', 'de-AT', 'fr']`; it is never called for others. */
  readonly locales?: readonly string[]
  /** How many users' values stay in memory. @default 10000 */
  readonly userCache?: number
  readonly limits?: SettingsLimits
  /** How much history is kept; false keeps all. The newest change of every value stays always. */
  readonly history?: false | HistoryRetentionOptions
}

/** How much history is kept. */
export interface HistoryRetentionOptions {
  /** @default 400 */
  readonly days?: number
  /** Changes of one value; up to as many more until they are trimmed. @default 100 */
  readonly perValue?: number
}

const schema: OptionsSchema<SettingsOptions> = Type.Object({
  definitions: Type.Array(Type.Unknown(), { description: 'an array of definitions and token maps' }),
  store: option.that(isStore, 'a store such as sqlite({ file })'),
  caller: option.function('a function of the request'),
  prefix: Type.String({ pattern: '^(/[^/]+)+$', description: 'a path such as "/api/settings"' }),
  routes: option.boolean(),
  overrides: option.record('an object with values by key'),
  encryption: objectOf<NonNullable<SettingsOptions['encryption']>>({
    keys: Type.Array(Type.Unknown(), { description: 'an array of keys' }),
    mode: option.oneOf('warn', 'require'),
    sealAtBoot: option.boolean(),
  }),
  ownWrites: option.oneOf('permission', 'authenticated'),
  sensitiveResolved: option.oneOf('spec', 'own', 'permission'),
  people: option.function('a function of ids and a signal'),
  translate: option.function('a function of key, field and locale'),
  locales: option.that(isListOfLocales, 'an array of languages such as ["de", "fr-CA"]'),
  userCache: option.positive(),
  limits: objectOf<SettingsLimits>({
    bulkEntries: option.positive(),
    bulkBytes: option.positive(),
    longBytes: option.positive(),
    textBytes: option.positive(),
  }),
  history: orFalse<HistoryRetentionOptions>({ days: option.positive(), perValue: option.positive() }),
})

/**
 * @throws {FMOD_SETTINGS_INVALID_OPTION} with all options that cannot be used
 * @throws {FMOD_SETTINGS_STORE_PORT} the store was made for another version of its port
 */
export function checkOptions(options: SettingsOptions): void {
  const problems = optionProblems(schema, options)
  if (options.translate && !options.locales)
    problems.push('translate needs the languages that it knows: add for example locales: ["de", "fr"]')
  if (options.locales && !options.translate) problems.push('locales needs the option translate')
  if (problems.length > 0) throw new FMOD_SETTINGS_INVALID_OPTION(problems.join('; '))
  const { store } = options
  const port: unknown = safeRead(store, 'port')
  if (store && port !== storePort)
    throw new FMOD_SETTINGS_STORE_PORT(store.name, port === undefined ? '1' : String(port), storePort)
}

function objectOf<O extends object>(members: OptionsSchema<O>['properties']) {
  return Type.Object(members, { description: `an object with ${Object.keys(members).join(', ')}` })
}

function orFalse<O extends object>(members: OptionsSchema<O>['properties']) {
  const object = objectOf<O>(members)
  return Type.Union([Type.Literal(false), object], { description: `false or ${object.description}` })
}

function isStore(value: unknown): boolean {
  return typeof safeRead(value, 'open') === 'function'
}

function isListOfLocales(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((locale) => typeof locale === 'string' && canonicalLocale(locale) !== undefined)
  )
}
