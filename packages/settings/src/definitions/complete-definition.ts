/** Turns what a module declared into a complete, frozen definition, read once. */
import {
  type CompleteDefinition,
  type JsonValue,
  type SettingDefinition,
  type SettingHints,
  type SettingOption,
  SettingType,
  type ShowWhen,
} from '../setting-definition.ts'
import { deepFreeze, encodeValue, readText } from '../values/decode.ts'
import { checkUrl } from '../values/formats.ts'
import { checkJson } from '../values/json.ts'
import { defaultLimits } from '../values/registered-setting.ts'

/** Fills the members that were left out (decision 1) and copies the rest, so that later changes have no effect. */
export function completeDefinition(declared: SettingDefinition): CompleteDefinition {
  const hints = completeHints(declared)
  return Object.freeze({
    key: declared.key,
    displayName: declared.displayName,
    description: declared.description ?? null,
    group: declared.group ?? null,
    scope: declared.scope,
    defaultValue: declared.defaultValue ?? null,
    type: declared.type,
    allowedValues: copyList(declared.allowedValues) ?? valuesOf(hints.options),
    min: declared.min ?? null,
    max: declared.max ?? null,
    pattern: declared.pattern ?? null,
    required: declared.required ?? false,
    sensitive: declared.sensitive ?? false,
    order: declared.order ?? 0,
    placeholder: declared.placeholder ?? null,
    public: declared.public ?? false,
    ...hints,
  })
}

/** Anything but a list stays as it is, for the check to report. */
function copyList(list: readonly string[] | null | undefined): readonly string[] | null {
  return Array.isArray(list) ? Object.freeze([...list]) : (list ?? null)
}

/** Who describes the members of a Select need not list them again. */
function valuesOf(options: CompleteDefinition['options']): readonly string[] | null {
  return options && Object.freeze(options.map(({ value }) => value))
}

/** The members of `SettingHints`, all present. */
export type CompleteHints = Pick<CompleteDefinition, keyof SettingHints>

/** Fills the members that were left out and copies the rest, frozen. */
function completeHints(declared: SettingHints): CompleteHints {
  return {
    options: copyOptions(declared.options),
    unit: declared.unit ?? null,
    tags: Array.isArray(declared.tags) ? Object.freeze([...declared.tags]) : (declared.tags ?? []),
    hidden: declared.hidden ?? false,
    advanced: declared.advanced ?? false,
    showWhen: copyCondition(declared.showWhen),
    confirm: declared.confirm ?? null,
    restart: declared.restart ?? false,
    docsUrl: declared.docsUrl ?? null,
  }
}

/** Whether a value can be told over HTTP as it is. */
function isJson(value: unknown): value is JsonValue {
  return checkJson(value, defaultLimits.longBytes).length === 0
}

function copyOptions(options: readonly SettingOption[] | null | undefined): CompleteHints['options'] {
  if (options === null || options === undefined) return null
  if (!Array.isArray(options)) return [] // refused like an empty list
  return Object.freeze(options.map((option: SettingOption | null) => copyOption(option)))
}

function copyOption(option: SettingOption | null): Required<SettingOption> {
  const { value = '', label = '', description = null } = option ?? {}
  return Object.freeze({ value, label, description })
}

function copyCondition(condition: ShowWhen | null | undefined): ShowWhen | null {
  if (typeof condition !== 'object' || condition === null) return condition ?? null
  const { key, equals } = condition
  return Object.freeze({ key, equals: isJson(equals) ? deepFreeze(readText(encodeValue(equals))) : equals })
}

/** A member, what it must be, and how to say so. */
export type MemberRule<M> = readonly [M, (value: unknown) => boolean, string]

const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isLine = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''
const tag = /^[^\s,"]{1,50}$/

/** What each member must be before anything else is asked of it. */
export const hintMembers: readonly MemberRule<keyof CompleteHints>[] = [
  ['options', isOptions, 'a list of { value, label, description? }, all of them texts that are not empty'],
  [
    'unit',
    (value) => value === null || (isLine(value) && String(value).length <= 30),
    'at most 30 characters',
  ],
  ['tags', isTags, 'a list of at most 20 texts of 1–50 characters without white space, commas and quotes'],
  ['hidden', isFlag, 'true or false'],
  ['advanced', isFlag, 'true or false'],
  ['showWhen', isCondition, '{ key, equals } with the key of another setting and a JSON value'],
  ['confirm', (value) => value === null || isLine(value), 'a text'],
  ['restart', isFlag, 'true or false'],
  ['docsUrl', (value) => value === null || isSecureUrl(value), 'an absolute https URL'],
]

/** Returns what does not go together. */
export function checkHints({
  key,
  type,
  options,
  allowedValues,
  tags,
  showWhen,
}: CompleteDefinition): string[] {
  const problems: string[] = []
  if (options && type !== SettingType.Select) problems.push('options belong to a Select')
  else if (
    options &&
    !isSameSet(
      options.map(({ value }) => value),
      allowedValues ?? [],
    )
  )
    problems.push('options must have each of the allowedValues once, and no others')
  if (new Set(tags.map((text) => text.toLowerCase())).size < tags.length)
    problems.push('tags has a tag twice')
  if (showWhen?.key === key) problems.push('showWhen must name another setting')
  return problems
}

function isSameSet(values: readonly string[], allowed: readonly string[]): boolean {
  const set = new Set(values)
  return set.size === values.length && set.size === allowed.length && allowed.every((value) => set.has(value))
}

function isOptions(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length > 0 && value.every(isOption))
}

function isOption(option: Record<string, unknown>): boolean {
  return (
    isLine(option['value']) &&
    isLine(option['label']) &&
    (option['description'] === null || isLine(option['description']))
  )
}

function isTags(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= 20 &&
    value.every((item) => typeof item === 'string' && tag.test(item))
  )
}

function isCondition(value: unknown): boolean {
  if (value === null) return true
  return (
    typeof value === 'object' &&
    'key' in value &&
    isLine(value.key) &&
    'equals' in value &&
    isJson(value.equals)
  )
}

function isSecureUrl(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('https://') && checkUrl(value).length === 0
}
