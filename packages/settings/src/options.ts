/** What `app.register(settings, options)` takes. */
import type { Caller } from '@fastify-modular/core'
import {
  type AccessOfPlugin,
  canonicalLocale,
  option,
  optionProblems,
  refuseOptions,
  type OptionsSchema,
  safeRead,
  Type,
} from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import type { SettingMap } from './definitions/tokens.ts'
import type { SettingGroups, TranslateGroup } from './groups.ts'
import type { Overrides } from './overrides.ts'
import type { EncryptionKey } from './secrets/encryption.ts'
import type { CompleteDefinition, SettingDefinition, SettingOption } from './setting-definition.ts'
import { hasPort, type SettingsStore } from './store/store.ts'
import type { TenantOptions } from './tenants.ts'
import type { ValueLimits } from './values/validate.ts'

/** Finds the caller of a request; null where no user is signed in. */
export type FindCaller = (request: FastifyRequest) => Caller | null | Promise<Caller | null>

/**
 * Returns the names of people by id, as far as it knows them. Called with the ids of one answer, each at most once a
 * minute. An answer waits 300 ms for it; names that come later are in the next one, until the signal ends it after 10 s.
 */
export type FindPeople = (
  ids: readonly string[],
  signal: AbortSignal,
) => Promise<Readonly<Record<string, string>>>

/** Who gets sensitive values from `/resolved`: every signed-in caller; only users their own; or callers with `Settings.Update`. */
type ResolvedSecrets = 'signed-in' | 'owner' | 'permission'

/** Texts of a form in one language; what is left out stays English. */
interface FormTexts {
  /** Of the values that one may choose. */
  readonly options?: Readonly<Record<string, Partial<Pick<SettingOption, 'label' | 'description'>>>>
  /** Of the members of an object, or of the objects in a list. */
  readonly properties?: Readonly<Record<string, FormTexts & { readonly title?: string }>>
}

/** The texts of a definition in one language; what is left out, or what the definition leaves empty, stays as it is. */
export interface DefinitionTexts extends FormTexts {
  readonly displayName?: string
  readonly description?: string
  readonly placeholder?: string
  readonly unit?: string
  readonly confirm?: string
  /** Beside the English words. */
  readonly keywords?: readonly string[]
}

/**
 * The texts of a definition in a language such as `de` or `de-AT`, or undefined where there are none: English then. Called
 * once for each definition and each locale of the option `locales`, spelled as in BCP 47 (`de-AT`); synchronous.
 */
export type Translate = (definition: CompleteDefinition, locale: string) => DefinitionTexts | undefined

/** Sizes; all values can be raised. */
interface SettingsLimits extends Partial<ValueLimits> {
  /** Entries of one bulk or import. @default 500 */
  readonly bulkEntries?: number
  /** Bytes of the body of a bulk or an import. @default 524288 */
  readonly bodyBytes?: number
}

/** Options of the settings plugin. */
export interface SettingsOptions {
  /** Definitions of the host, alone or in maps; modules contribute theirs by the hook `settings`. */
  readonly definitions?: readonly (SettingDefinition | SettingMap)[]
  /** What pages show of groups, by their name: another name, an icon, a sentence, a link; modules contribute theirs by `settingGroups`. */
  readonly groups?: SettingGroups
  /** Where values are kept. @default in memory, with a warning: nothing is persisted */
  readonly store?: SettingsStore
  /** Returns the caller of a request. @default `request.caller`, which the gate of public-routes sets */
  readonly findCaller?: FindCaller
  /**
   * Who may call the HTTP API, beside what each of its routes needs: a permission, `{ allOf }` or `{ anyOf }`. Public routes
   * stay public. Needs the gate of public-routes. @default 'signed-in'
   */
  readonly access?: AccessOfPlugin
  /** Where the HTTP API is. @default '/api/settings' */
  readonly prefix?: string
  /** False for no HTTP API. @default true */
  readonly routes?: boolean
  /** Values that are fixed and cannot be written, by key; those of `SM_SETTINGS_OVERRIDES` win. */
  readonly overrides?: Overrides
  /** Sensitive values at rest. */
  readonly encryption?: {
    /**
     * 32 bytes each; the first encrypts, all decrypt. A new key goes last until every instance has it, then first.
     * @default those of `SM_SETTINGS_KEYS`
     */
    readonly keys?: readonly EncryptionKey[]
    /**
     * What happens when a sensitive setting is defined and no key is configured, or when one of its texts is stored
     * unencrypted, as a value or in the history. `'warn'` logs the key of the setting; with `'require'` the application does
     * not boot.
     * @default 'warn'
     */
    readonly mode?: 'warn' | 'require'
  }
  /** Whether signed-in users change, see the history of, and restore their own values without `Settings.Update`. @default false */
  readonly selfService?: boolean
  /**
   * Who gets sensitive Application values and inherited defaults from `/resolved`.
   * @default 'signed-in', with a warning at boot that names what every caller may read
   */
  readonly resolvedSecrets?: ResolvedSecrets
  /** Texts of definitions in the languages of `locales`, for `GET /definitions` by `Accept-Language`. @default English */
  readonly translate?: Translate
  /** Names and texts of groups in the languages of `locales`. @default English */
  readonly translateGroup?: TranslateGroup
  /** The names of people, which answers about changes carry beside their ids. @default ids alone */
  readonly findPeople?: FindPeople
  /** The languages that `translate` knows, such as `['de', 'de-AT', 'fr']`; it is never called for others. */
  readonly locales?: readonly string[]
  /**
   * False for no streams of changes, `/stream` and `/public/stream` below the prefix; `{ public: false }` for none of
   * public settings, which needs no signed-in caller. @default {}
   */
  readonly stream?: false | { readonly public?: boolean }
  /** Settings of organisations: their members share values, between each member's own and those of everybody. */
  readonly tenants?: TenantOptions
  /** How many users' values stay in memory. @default 10000 */
  readonly maxCachedUsers?: number
  /** How many tenants' values stay in memory. @default 1000 */
  readonly maxCachedTenants?: number
  readonly limits?: SettingsLimits
  /** How much history is kept; false keeps all. The newest change of every value stays always. */
  readonly history?: false | HistoryRetentionOptions
}

/** How much history is kept. */
interface HistoryRetentionOptions {
  /** @default 400 */
  readonly days?: number
  /** Changes of one value; up to as many more until they are trimmed. @default 100 */
  readonly perValue?: number
}

/** The limits of a bulk or an import. */
export function bulkLimits({ limits = {} }: SettingsOptions) {
  const { bulkEntries = 500, bodyBytes = 512 * 1024 } = limits
  return { bulkEntries, bodyBytes }
}

/** What a request can have as its path, spelled as the router compares it; `:tenant` is a parameter. */
const prefixPattern = String.raw`^(/(?!\.{1,2}(/|$))(:?[\w.~-])+)+$`

const schema: OptionsSchema<SettingsOptions> = Type.Object({
  definitions: Type.Array(Type.Unknown(), { description: 'an array of definitions and maps of them' }),
  groups: Type.Record(Type.String(), Type.Unknown(), { description: 'an object with descriptions by group' }),
  translateGroup: option.function('a function of name, group and locale'),
  store: option.that(hasPort, 'a store such as sqlite({ file })'),
  findCaller: option.function('a function of the request'),
  access: option.access(),
  prefix: Type.String({ pattern: prefixPattern, description: 'a path such as "/api/settings"' }),
  routes: option.boolean(),
  overrides: option.record('an object with values by key'),
  encryption: objectOf<NonNullable<SettingsOptions['encryption']>>({
    keys: Type.Array(Type.Unknown(), { description: 'an array of keys' }),
    mode: option.oneOf('warn', 'require'),
  }),
  selfService: option.boolean(),
  resolvedSecrets: option.oneOf('signed-in', 'owner', 'permission'),
  findPeople: option.function('a function of ids and a signal'),
  translate: option.function('a function of definition and locale'),
  locales: option.that(isListOfLocales, 'an array of languages such as ["de", "fr-CA"]'),
  stream: orFalse<{ public?: boolean }>({ public: option.boolean() }),
  tenants: objectOf<TenantOptions>({
    of: option.function('a function of request and caller'),
    permission: Type.String({ minLength: 1, description: 'the name of a permission' }),
  }),
  maxCachedUsers: option.positive(),
  maxCachedTenants: option.positive(),
  limits: objectOf<SettingsLimits>({
    bulkEntries: option.positive(),
    bodyBytes: option.positive(),
    longBytes: option.positive(),
    textBytes: option.positive(),
  }),
  history: orFalse<HistoryRetentionOptions>({ days: option.positive(), perValue: option.positive() }),
})

/** @throws {FMOD_CORE_INVALID_OPTION} with all options that cannot be used */
export function checkOptions(options: SettingsOptions): void {
  const problems = optionProblems(schema, options)
  if (options.translate && !options.locales)
    problems.push('translate needs the languages that it knows: add for example locales: ["de", "fr"]')
  if (options.locales && !options.translate && !options.translateGroup)
    problems.push('locales needs the option translate')
  if (options.tenants && typeof safeRead(options.tenants, 'of') !== 'function')
    problems.push('tenants needs of, a function of request and caller')
  refuseOptions('the settings plugin', problems)
}

function objectOf<O extends object>(members: OptionsSchema<O>['properties']) {
  return Type.Object(members, { description: `an object with ${Object.keys(members).join(', ')}` })
}

function orFalse<O extends object>(members: OptionsSchema<O>['properties']) {
  const object = objectOf<O>(members)
  return Type.Union([Type.Literal(false), object], { description: `false or ${object.description}` })
}

function isListOfLocales(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((locale) => typeof locale === 'string' && canonicalLocale(locale) !== undefined)
  )
}
