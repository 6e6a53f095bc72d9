/** What can be wrong with the members that only user interfaces look at. */
import { type CompleteDefinition, SettingType } from '../setting-definition.ts'
import { checkUrl } from '../values/formats.ts'
import { type CompleteHints, isJson } from './complete-hints.ts'

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
