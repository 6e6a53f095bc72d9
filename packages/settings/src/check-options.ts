/** The options of the plugin, looked at before anything starts: not everybody has a type checker. */
import { unknownMembers, unknownOptions } from '@fastify-modular/core'
import { canonicalLocale } from './http/localize/accept-language.ts'
import { FMOD_SETTINGS_INVALID_OPTION } from './misuse-errors.ts'
import type { SettingsOptions } from './options.ts'

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
