/** What can be wrong with one definition by itself (decisions 2 and 3). JavaScript modules have no compiler: types too. */
import { type CompleteDefinition, SettingScope, SettingType } from '../setting-definition.ts'
import { createPatternBudget } from '../values/pattern.ts'
import type { RegisteredSetting } from '../values/registered-setting.ts'
import { validateValue } from '../values/validate.ts'
import { checkHints, hintMembers, type MemberRule } from './complete-definition.ts'

const keyGrammar = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/
/** Routes of the HTTP API: a setting of this name could not be read there. */
const reservedKeys: ReadonlySet<string> = new Set([
  'bulk',
  'changes',
  'definitions',
  'export',
  'history',
  'import',
  'inspect',
  'me',
  'probe',
  'public',
  'resolved',
  'stream',
])

const isText = (value: unknown): value is string => typeof value === 'string'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isNumber = (value: unknown): boolean => Number.isFinite(value)
const isOptional = (check: (value: unknown) => boolean) => (value: unknown) => value === null || check(value)

/** What each member must be before anything else is asked of it. */
const members: readonly MemberRule<keyof CompleteDefinition>[] = [
  ['displayName', (value) => isText(value) && value.trim() !== '', 'a text'],
  ['scope', isOneOf(SettingScope), 'a member of SettingScope'],
  ['type', isOneOf(SettingType), 'a member of SettingType'],
  ['description', isOptional(isText), 'a text'],
  ['group', isOptional(isText), 'a text'],
  ['placeholder', isOptional(isText), 'a text'],
  ['defaultValue', isOptional(isText), 'its raw text, like "587" or "true"'],
  ['allowedValues', isOptional(isListOfText), 'a list of texts that are not empty'],
  ['pattern', isOptional(isText), 'the text of a regular expression'],
  ['min', isOptional(isNumber), 'a finite number'],
  ['max', isOptional(isNumber), 'a finite number'],
  ['order', isNumber, 'a finite number'],
  ['required', isFlag, 'true or false'],
  ['sensitive', isFlag, 'true or false'],
  ['public', isFlag, 'true or false'],
  ...hintMembers,
]

/** Returns the problems of a definition, apart from its pattern and its default. */
export function checkDefinition(definition: CompleteDefinition): string[] {
  const wrongMembers = members
    .filter(([name, fits]) => !fits(definition[name]))
    .map(([name, , what]) => `${name} must be ${what}`)
  if (wrongMembers.length > 0) return wrongMembers

  const { key, min, max, sensitive } = definition
  const problems = [...checkKey(key), ...checkAllowedValues(definition), ...checkHints(definition)]
  if (min !== null && max !== null && min > max) problems.push(`min ${min} is greater than max ${max}`)
  if (definition.public && sensitive)
    problems.push('a sensitive setting cannot be public: remove one of the two')
  return problems
}

/** Returns what is legal and probably not meant. */
export function lintDefinition({
  key,
  type,
  pattern,
  allowedValues,
  min,
  max,
}: CompleteDefinition): string[] {
  const ignored = [
    pattern !== null && !hasPattern(type) ? 'pattern' : null,
    allowedValues !== null && type !== SettingType.Select ? 'allowedValues' : null,
    min !== null && type !== SettingType.Number ? 'min' : null,
    max !== null && type !== SettingType.Number ? 'max' : null,
  ].filter((name) => name !== null)
  return [
    ...(/[A-Z]/.test(key) ? ['the convention for keys is lower case'] : []),
    ...ignored.map((name) => `${name} has no effect on settings of this type`),
  ]
}

/** Whether settings of the type honour `pattern` (S 2.3.2). */
export function hasPattern(type: SettingType): boolean {
  return type === SettingType.Text || type === SettingType.Password || type === SettingType.MultilineText
}

function checkKey(key: string): string[] {
  if (key.length > 100) return ['the key has more than 100 characters'] // Fastify's router answers 414 above
  if (!keyGrammar.test(key)) {
    return [
      'the key must be like module.category.name: a letter first, then letters, digits, _ and -, in segments parted by dots',
    ]
  }
  return reservedKeys.has(key) ? [`/${key} is a path of the settings API: give the key a second segment`] : []
}

function checkAllowedValues({ type, allowedValues }: CompleteDefinition): string[] {
  if (type === SettingType.Select && !allowedValues?.length)
    return ['a Select needs allowedValues or options']
  return new Set(allowedValues).size < (allowedValues?.length ?? 0) ? ['allowedValues has a value twice'] : []
}

function isListOfText(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => isText(item) && item !== '') // decision 10: "" is no Select value
}

function isOneOf(enumeration: Readonly<Record<string, number>>): (value: unknown) => boolean {
  const values: readonly unknown[] = Object.values(enumeration)
  return (value) => values.includes(value)
}

/** The problems of `showWhen` once all definitions are known. */
export function checkCondition(
  { definition, module }: RegisteredSetting,
  settings: ReadonlyMap<string, RegisteredSetting>,
): string[] {
  if (!definition.showWhen) return []
  const { key, equals } = definition.showWhen
  const where = `setting "${definition.key}" (module "${module}"): showWhen names "${key}", `
  const other = settings.get(key)
  if (!other) return [`${where}which no module defines`]
  // Whoever sees the form would learn something of the secret.
  if (other.definition.sensitive) return [`${where}which is sensitive: its value is not shown to anybody`]
  const errors = equals === null ? [] : validateValue(other, equals, createPatternBudget(1000))
  return errors.map((error) => `${where}and waits for a value that it never has: ${error}`)
}
