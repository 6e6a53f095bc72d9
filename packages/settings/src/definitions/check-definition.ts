/** What can be wrong with a definition. JavaScript modules have no compiler: types too. */
import { type CompleteDefinition, SettingScope, SettingType } from '../setting-definition.ts'
import { encodeValue } from '../values/json.ts'
import { notAsChecked } from '../values/standard-schema.ts'
import { parseValue, type RegisteredSetting } from '../values/validate.ts'
import { memberProblems } from './definition-schema.ts'
import { noSecretDefault } from './tokens.ts'

/** How a problem of a setting begins. */
export function nameOf(key: string, module: string): string {
  return `setting "${key}" (module "${module}"): `
}

/** Returns the problems of a definition by itself, apart from its pattern and its default. */
export function checkDefinition(definition: CompleteDefinition, hasTenants: boolean): string[] {
  const wrongMembers = memberProblems(definition)
  if (wrongMembers.length > 0) return wrongMembers
  if (definition.scope === SettingScope.Tenant && !hasTenants)
    return ['the scope Tenant needs the option tenants of the settings plugin']

  const { key, type, min, max, sensitive, options, allowedValues, showWhen } = definition
  const problems: string[] = []
  if (type === SettingType.Select && !allowedValues?.length)
    problems.push('a Select needs allowedValues or options')
  else if (hasDuplicates(allowedValues ?? [])) problems.push('allowedValues has a value twice')
  if (options && type !== SettingType.Select) problems.push('options belong to a Select')
  else if (
    options &&
    !haveSameMembers(
      allowedValues ?? [],
      options.map(({ value }) => value),
    )
  )
    problems.push('options must have each of the allowedValues once, and no others')
  if (showWhen?.key === key) problems.push('showWhen must name another setting')
  if (min !== null && max !== null && min > max) problems.push(`min ${min} is greater than max ${max}`)
  problems.push(...variableProblems(definition))
  if (sensitive && definition.defaultValue !== null)
    problems.push(`a sensitive setting has no default: ${noSecretDefault}`)
  if (definition.public && sensitive)
    problems.push('a sensitive setting cannot be public: remove one of the two')
  if (definition.flag && sensitive)
    problems.push('a sensitive setting cannot be a flag: remove one of the two')
  if (definition.flag && isNothing(definition))
    problems.push('a flag always has a value: give it a default other than null')
  return problems
}

function variableProblems({ env, sensitive, scope }: CompleteDefinition): string[] {
  if (env === null) return []
  const isTaken = env === 'NODE_ENV' || env.startsWith('SM_')
  return [
    ...(isTaken ? [`env cannot be ${env}, which has a meaning already`] : []),
    ...(sensitive && scope === SettingScope.User
      ? ['a sensitive User setting cannot have env: every user would read the secret as their own value']
      : []),
    ...(sensitive && scope === SettingScope.Tenant
      ? ['a sensitive Tenant setting cannot have env: every tenant would have the secret']
      : []),
  ]
}

/** The problems of variables that two settings read, be it as the name of a file. */
export function checkVariables(settings: readonly RegisteredSetting[]): string[] {
  const readers = new Map<string, RegisteredSetting>()
  return settings.flatMap((setting) => {
    const { key, env } = setting.definition
    if (env === null) return []
    const names = [env, `${env}_FILE`]
    const other = names.map((name) => readers.get(name)).find(Boolean)
    for (const name of names) readers.set(name, setting)
    return other
      ? `${nameOf(key, setting.module)}the setting "${other.definition.key}" reads ${env}, too`
      : []
  })
}

/** Returns warnings about members that are legal, but probably a mistake. */
export function lintDefinition(definition: CompleteDefinition): string[] {
  const { key, type, pattern, maxLength, allowedValues, min, max } = definition
  const ignored = {
    ...(!isFreeText(type) && { pattern, maxLength }),
    ...(type !== SettingType.Select && { allowedValues }),
    ...(type !== SettingType.Number && { min, max }),
  }
  const names = Object.entries(ignored).flatMap(([name, value]) => (value === null ? [] : name))
  return [
    ...(/[A-Z]/.test(key) ? ['the convention for keys is lower case'] : []),
    ...names.map((name) => `${name} has no effect on settings of this type`),
  ]
}

/** Whether settings of the type honour `pattern` and `maxLength`. */
export function isFreeText(type: SettingType): boolean {
  return type === SettingType.Text || type === SettingType.Password || type === SettingType.MultilineText
}

/** The problems of `showWhen`, which needs the definitions of all modules. */
export function checkCondition(
  { definition, module }: RegisteredSetting,
  settings: ReadonlyMap<string, RegisteredSetting>,
): string[] {
  if (!definition.showWhen) return []
  const { key, equals } = definition.showWhen
  const where = `${nameOf(definition.key, module)}showWhen names "${key}", `
  const other = settings.get(key)
  if (!other) return [`${where}which no module defines`]
  // Whether the form shows the setting would reveal something of the secret.
  if (other.definition.sensitive) return [`${where}which is sensitive: its value is never shown`]
  if (equals === null) return []
  const { value, errors } = parseValue(other, equals)
  const problems = encodeValue(value) === encodeValue(equals) ? errors : [notAsChecked]
  return problems.map((problem) => `${where}and waits for a value that it never has: ${problem}`)
}

function isNothing({ type, defaultValue }: CompleteDefinition): boolean {
  return defaultValue === null || (type === SettingType.Json && defaultValue.trim() === 'null')
}

function hasDuplicates(values: readonly string[]): boolean {
  return new Set(values).size < values.length
}

/** In any order. */
function haveSameMembers(some: readonly string[], others: readonly string[]): boolean {
  return encodeValue(some.toSorted()) === encodeValue(others.toSorted())
}
