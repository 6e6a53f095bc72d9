/** The JSON Schema of a setting's values, for clients that generate forms (draft 2020-12). */
import { SettingType, type CompleteDefinition, type ValueSchema } from '../setting-definition.ts'
import { dateTimePattern } from './validate.ts'

/**
 * Returns the schema of a definition's values. Every value that the setting accepts satisfies it; the reverse is not promised:
 * the calendar, the details of addresses and the developer's own rule are beyond JSON Schema.
 */
export function valueSchema(definition: CompleteDefinition): ValueSchema {
  const schema = schemaOf(definition)
  // Null clears a setting that is not required (decision 10).
  return definition.required ? schema : { anyOf: [schema, { type: 'null' }] }
}

function schemaOf(definition: CompleteDefinition): ValueSchema {
  const { type, min, max, allowedValues, pattern, maxLength, required, schema } = definition
  switch (type) {
    case SettingType.Number:
      return { type: 'number', ...(min !== null && { minimum: min }), ...(max !== null && { maximum: max }) }
    case SettingType.Bool:
      return { type: 'boolean' }
    case SettingType.Json:
      return schema ?? { not: { enum: [null, ''] } }
    case SettingType.Select:
      return { enum: allowedValues ?? [] }
    case SettingType.Color:
      return text(required, { pattern: '^#[0-9a-fA-F]{6}$' })
    case SettingType.Url:
      return text(required, { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' }) // the format "uri" refuses ü
    case SettingType.Email:
      return text(required, { pattern: '^[^@]+@[^@]+$', maxLength: 254 })
    case SettingType.DateTime:
      return text(required, { pattern: dateTimePattern })
    default:
      return text(required, {
        ...(pattern !== null && { pattern }),
        ...(maxLength !== null && { maxLength }),
      })
  }
}

/** The empty string is a value of text that is not required, whatever the format. */
function text(required: boolean, format: ValueSchema): ValueSchema {
  if (required) return { type: 'string', minLength: 1, ...format }
  return Object.keys(format).length === 0
    ? { type: 'string' }
    : { type: 'string', anyOf: [{ maxLength: 0 }, format] }
}
