/** Registers one definition as the application would, for tests of what is done with it. */
import { Registry } from '#src/definitions/registry.js'
import { type SettingDefinition, SettingScope, SettingType } from '#src/setting-definition.js'
import { createPatternBudget } from '#src/values/pattern.js'
import type { RegisteredSetting } from '#src/values/validate.js'
import { parseValue } from '#src/values/validate.js'

/** Every type with its name, for tables. */
export const allTypes = Object.entries(SettingType)

/** A complete definition of a type, with the members that the test is about. */
export function define(type: SettingType, members: Partial<SettingDefinition> = {}): SettingDefinition {
  return {
    key: 'test.key',
    displayName: 'Test',
    scope: SettingScope.Application,
    type,
    ...(type === SettingType.Select && { allowedValues: ['compact', 'comfortable', 'spacious'] }),
    ...members,
  }
}

/** The setting that a definition of this type makes. */
export function registered(type: SettingType, members?: Partial<SettingDefinition>): RegisteredSetting {
  const definition = define(type, members)
  const registry = new Registry()
  registry.add(definition, 'test')
  registry.check()
  const setting = registry.find(definition.key)
  if (!setting) throw new Error('the registry lost a valid definition')
  return setting
}

/** What is wrong with a value, within a budget of its own. */
export function problemsOf(setting: RegisteredSetting, value: unknown): readonly string[] {
  return parseValue(setting, value, createPatternBudget()).errors
}
