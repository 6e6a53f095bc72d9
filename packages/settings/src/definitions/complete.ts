/** Turns what a module declared into a complete, frozen definition, read once. */
import type { CompleteDefinition, SettingDefinition } from '../setting-definition.ts'
import { completeHints } from './complete-hints.ts'

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
