/** Whether a setting can be shown depending on another, which may be of any module and come later. */
import { createPatternBudget } from '../values/pattern.ts'
import type { RegisteredSetting } from '../values/registered-setting.ts'
import { validateValue } from '../values/validate.ts'

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
