/** Definitions in other languages; they themselves stay plain English. */
import type { SettingDefinitionDto } from '../definition-dto.ts'

/** What can be translated of a definition; options by their value: `options.dark.label`. */
export type TranslatedField =
  | 'displayName'
  | 'description'
  | 'groupName'
  | 'placeholder'
  | 'unit'
  | 'confirm'
  | `options.${string}.label`
  | `options.${string}.description`

/**
 * The text of a field in a language such as `de` or `de-AT`, or undefined where there is none: English then. Called
 * once for each field and each locale of the option `locales`, spelled as in BCP 47 (`de-AT`); synchronous.
 */
export type Translate = (key: string, field: TranslatedField, locale: string) => string | undefined

/** A definition in one language; undefined if nothing of it is translated. */
export function translateDefinition(
  definition: SettingDefinitionDto,
  textOf: (key: string, field: TranslatedField) => string | undefined,
): SettingDefinitionDto | undefined {
  let isTranslated = false
  /** What the definition does not say is not asked for. */
  function translated<T extends string | null>(field: TranslatedField, english: T): T | string {
    const text = english === null ? undefined : textOf(definition.key, field)
    if (text === undefined) return english
    isTranslated = true
    return text
  }
  const { options } = definition
  const result = {
    ...definition,
    displayName: translated('displayName', definition.displayName),
    description: translated('description', definition.description),
    groupName: translated('groupName', definition.groupName),
    placeholder: translated('placeholder', definition.placeholder),
    unit: translated('unit', definition.unit),
    confirm: translated('confirm', definition.confirm),
    options:
      options &&
      options.map(({ value, label, description }) => ({
        value,
        label: translated(`options.${value}.label`, label),
        description: translated(`options.${value}.description`, description),
      })),
  }
  return isTranslated ? result : undefined
}
