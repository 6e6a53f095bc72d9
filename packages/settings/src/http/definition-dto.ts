/** Definitions as responses show them (S 2.1, decision 13). */
import type { CompleteDefinition } from '../setting-definition.ts'
import { type ValueSchema, valueSchema } from '../values/value-schema.ts'

/** A definition without the default of a sensitive setting, with the JSON Schema of its values. */
export interface SettingDefinitionDto extends CompleteDefinition {
  /** What to show for `group`, which itself names the group in requests. */
  readonly groupName: string | null
  readonly valueSchema: ValueSchema
}

/** Masks a definition and adds what clients need to make a form of it. */
export function toDefinitionDto(definition: CompleteDefinition): SettingDefinitionDto {
  return {
    ...definition,
    defaultValue: definition.sensitive ? null : definition.defaultValue,
    groupName: definition.group,
    valueSchema: valueSchema(definition),
  }
}
