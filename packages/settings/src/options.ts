/** What `app.register(settings, options)` takes. */
import { unknownMembers, unknownOptions } from '@fastify-modular/core'
import type { TokenMap } from './definitions/builder.ts'
import {
  canonicalLocale,
  type FindCaller,
  type OwnWrites,
  type SensitiveResolved,
  type Translate,
} from './http-options.ts'
import { FMOD_SETTINGS_INVALID_OPTION } from './misuse-errors.ts'
import type { Overrides } from './overrides.ts'
import type { SealingKey } from './secrets/sealing.ts'
import type { SettingDefinition } from './setting-definition.ts'
import type { SettingsStore } from './store/store.ts'
import type { ValueLimits } from './values/registered-setting.ts'

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
  /** Who makes a request. @default `request.caller`, which the gate of public-routes sets */
  readonly caller?: FindCaller
  /** The HTTP API; false for none. @default { prefix: '/api/settings' } */
  readonly routes?: false | { readonly prefix?: string }
  /** Values that are fixed and cannot be written, by key; those of `SM_SETTINGS_OVERRIDES` win. */
  readonly overrides?: Overrides
  /** Sensitive values at rest. */
  readonly encryption?: {
    /** 32 bytes each; the first seals, all open. @default those of `SM_SETTINGS_KEYS` */
    readonly keys?: readonly SealingKey[]
    /**
     * What happens when a sensitive setting is defined and there is no key, or when one is stored that is not sealed, as
     * value or in the history: its key is logged, or the application does not boot. @default 'warn'
     */
    readonly mode?: 'warn' | 'require'
    /** Runs `rewrap()` while booting when a sensitive value is stored that is not sealed. @default false */
    readonly sealAtBoot?: boolean
  }
  /** Whether users need `Settings.Update` for their own values. @default 'permission' */
  readonly ownWrites?: OwnWrites
  /** Who gets the sensitive values of others from `/resolved`. @default 'spec': every signed-in caller */
  readonly sensitiveResolved?: SensitiveResolved
  /** Texts of definitions in the languages of `locales`, for `GET /definitions` by `Accept-Language`. @default English */
  readonly translate?: Translate
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
  /** Changes of one value; up to seven more until writes of it trim them. @default 100 */
  readonly perValue?: number
}

type Fits = (value: unknown) => boolean
type Rule = readonly [fits: Fits, reason: string]
type Rules<T> = Readonly<Record<keyof Exclude<T, false | undefined>, Rule>>

const isFunction: Fits = (value) => typeof value === 'function'
const isRecord: Fits = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isStore: Fits = (value) => isRecord(value) && isFunction((value as { open?: unknown }).open)
const isPositive: Fits = (value) => Number.isInteger(value) && Number(value) > 0
const isOneOf =
  (...allowed: readonly unknown[]): Fits =>
  (value) =>
    allowed.includes(value)
const orFalse =
  (fits: Fits): Fits =>
  (value) =>
    value === false || fits(value)

const isListOfLocales: Fits = (value) =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((locale) => typeof locale === 'string' && canonicalLocale(locale) !== undefined)

const positive = [isPositive, 'it is a positive integer'] as const

const rules: Rules<SettingsOptions> = {
  definitions: [Array.isArray, 'it is a list of definitions and token maps'],
  store: [isStore, 'it is a store such as sqlite({ file })'],
  caller: [isFunction, 'it is a function of the request'],
  routes: [orFalse(isRecord), 'it is false or { prefix }'],
  overrides: [isRecord, 'it is an object with values by key'],
  encryption: [isRecord, 'it is an object with keys, mode and sealAtBoot'],
  ownWrites: [isOneOf('permission', 'authenticated'), 'it is "permission" or "authenticated"'],
  sensitiveResolved: [isOneOf('spec', 'own', 'permission'), 'it is "spec", "own" or "permission"'],
  translate: [isFunction, 'it is a function of key, field and locale'],
  locales: [isListOfLocales, 'it is a list of languages such as ["de", "fr-CA"]'],
  userCache: positive,
  limits: [isRecord, 'it is an object with sizes'],
  history: [orFalse(isRecord), 'it is false or an object with days and perValue'],
}
const routes: Rules<SettingsOptions['routes']> = {
  prefix: [(value) => typeof value === 'string', 'it is a path such as "/api/settings"'],
}
const encryption: Rules<SettingsOptions['encryption']> = {
  keys: [Array.isArray, 'it is a list of keys'],
  mode: [isOneOf('warn', 'require'), 'it is "warn" or "require"'],
  sealAtBoot: [isOneOf(true, false), 'it is true or false'],
}
const limits: Rules<SettingsOptions['limits']> = {
  bulkEntries: positive,
  bulkBytes: positive,
  longBytes: positive,
  textBytes: positive,
}
const history: Rules<SettingsOptions['history']> = {
  days: positive,
  perValue: positive,
}

/** @throws {FMOD_SETTINGS_INVALID_OPTION} an option that there is not, or one that cannot be used */
export function checkOptions(options: SettingsOptions): void {
  check(options, rules, '')
  check(options.routes || {}, routes, 'routes.')
  check(options.encryption ?? {}, encryption, 'encryption.')
  check(options.limits ?? {}, limits, 'limits.')
  check(options.history || {}, history, 'history.')
  if (options.translate && !options.locales)
    throw new FMOD_SETTINGS_INVALID_OPTION(
      'translate',
      'the option locales names the languages that it knows; add for example locales: ["de", "fr"]',
    )
  if (options.locales && !options.translate)
    throw new FMOD_SETTINGS_INVALID_OPTION('locales', 'there is no option translate that gives the texts')
}

function check(options: object, known: Readonly<Record<string, Rule>>, path: string): void {
  const [misspelt] = path === '' ? unknownOptions(options, known) : unknownMembers(options, known)
  if (misspelt !== undefined) {
    const names = Object.keys(known).join(', ')
    throw new FMOD_SETTINGS_INVALID_OPTION(`${path}${misspelt}`, `there is none of that name, only ${names}`)
  }
  for (const [name, value] of Object.entries(options)) {
    const [fits, reason] = known[name] ?? []
    if (value !== undefined && fits?.(value) === false) {
      throw new FMOD_SETTINGS_INVALID_OPTION(`${path}${name}`, reason ?? '')
    }
  }
}
