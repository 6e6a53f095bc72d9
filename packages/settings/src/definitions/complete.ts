/** Turns what a module declared into a complete, frozen definition, read once. */
import type { CompleteDefinition, SettingDefinition } from '../setting-definition.ts'

/** Fills the members that were left out (decision 1) and copies the rest, so that later changes have no effect. */
export function completeDefinition(declared: SettingDefinition): CompleteDefinition {
  return Object.freeze({
    key: declared.key,
    displayName: declared.displayName,
    description: declared.description ?? null,
    group: declared.group ?? null,
    scope: declared.scope,
    defaultValue: declared.defaultValue ?? null,
    type: declared.type,
    allowedValues: copyList(declared.allowedValues),
    min: declared.min ?? null,
    max: declared.max ?? null,
    pattern: declared.pattern ?? null,
    required: declared.required ?? false,
    sensitive: declared.sensitive ?? false,
    order: declared.order ?? 0,
    placeholder: declared.placeholder ?? null,
    public: declared.public ?? false,
  })
}

/** Anything but a list stays as it is, for the check to report. */
function copyList(list: readonly string[] | null | undefined): readonly string[] | null {
  return Array.isArray(list) ? Object.freeze([...list]) : (list ?? null)
}
