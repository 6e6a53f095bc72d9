/** Definitions in the language of a request, made once for each language that the host names. */
import { acceptedLocales, canonicalLocale } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { TranslatedField, Translation } from '../options.ts'
import { type TaggedJson, toTaggedJson } from './conditional.ts'
import type { CompleteDefinition, ValueSchema } from '../setting-definition.ts'
import { valueSchema } from '../values/value-schema.ts'

/** All definitions in one language. */
interface LocalizedDefinitions extends TaggedJson {
  /** The language of the definitions themselves is `en`. */
  readonly locale: string
}

export interface Localizer {
  /** The same object for the same language. */
  forRequest(request: FastifyRequest): LocalizedDefinitions
  /** Whether answers depend on the language at all. */
  readonly isActive: boolean
}

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

const english = 'en'

/**
 * @param definitions all of them, once the application is ready
 * @param translation undefined: everything is English
 */
export function createLocalizer(
  definitions: () => readonly CompleteDefinition[],
  translation: Translation | undefined,
  log: FastifyBaseLogger,
): Localizer {
  /** Undefined until a request wants the language, null where nothing is translated. Requests add no language. */
  const byLocale = new Map<string, LocalizedDefinitions | null | undefined>(
    translation?.locales.map((locale) => [canonicalLocale(locale) ?? locale, undefined]),
  )
  let untranslated: LocalizedDefinitions | undefined
  let hasFailed = false

  function inEnglish(): LocalizedDefinitions {
    // Definitions are frozen once the application is ready (decision 5).
    untranslated ??= { locale: english, ...toTaggedJson(definitions().map(toDefinitionDto)) }
    return untranslated
  }

  function textIn(locale: string, key: string, field: TranslatedField): string | undefined {
    try {
      const text: unknown = translation?.translate(key, field, locale)
      return typeof text === 'string' && text !== '' ? text : undefined
    } catch (err) {
      if (!hasFailed)
        log.warn({ err, key, field, locale }, 'settings option translate failed; English is shown')
      hasFailed = true
      return undefined
    }
  }

  /** Null if nothing is translated. */
  function translateInto(locale: string): LocalizedDefinitions | null {
    let isTranslated = false
    const localized = definitions().map((definition) =>
      translateDefinition(toDefinitionDto(definition), (field, text) => {
        const translated = textIn(locale, definition.key, field)
        isTranslated ||= translated !== undefined
        return translated ?? text
      }),
    )
    return isTranslated ? { locale, ...toTaggedJson(localized) } : null
  }

  return {
    forRequest({ headers }) {
      if (!translation) return inEnglish()
      for (const locale of acceptedLocales(headers['accept-language'])) {
        if (byLocale.has(locale) && byLocale.get(locale) === undefined)
          byLocale.set(locale, translateInto(locale))
        const localized = byLocale.get(locale)
        if (localized) return localized
        if (locale === english) return inEnglish()
      }
      return inEnglish()
    },
    isActive: translation !== undefined,
  }
}

/** Returns the text of a field in another language, or the English one. */
type TranslateText = (field: TranslatedField, english: string) => string

/** A definition in another language. `translate` is not called for a member that the definition leaves empty. */
function translateDefinition(
  definition: SettingDefinitionDto,
  translated: TranslateText,
): SettingDefinitionDto {
  const orNull = (field: TranslatedField, text: string | null): string | null =>
    text === null ? null : translated(field, text)
  const { displayName, description, groupName, placeholder, unit, confirm } = definition
  const { options, schema, keywords } = definition
  return {
    ...definition,
    displayName: translated('displayName', displayName),
    description: orNull('description', description),
    groupName: orNull('groupName', groupName),
    placeholder: orNull('placeholder', placeholder),
    unit: orNull('unit', unit),
    confirm: orNull('confirm', confirm),
    keywords: keywords.map((word) => translated(`keywords.${word}`, word)),
    schema: schema && translateForm(schema, translated),
    options:
      options &&
      options.map(({ value, label, description }) => ({
        value,
        label: translated(`options.${value}.label`, label),
        description: orNull(`options.${value}.description`, description),
      })),
  }
}

/** The keywords whose words forms show: of an object, or of the items of a list. */
interface FormSchema {
  readonly title?: string
  readonly const?: unknown
  readonly items?: unknown
  readonly properties?: Readonly<Record<string, unknown>>
  readonly anyOf?: readonly unknown[]
}

function translateForm<S extends FormSchema>(schema: S, translated: TranslateText): S {
  const { items, properties } = schema
  const toMember = ([name, member]: [string, unknown]) => [
    name,
    isFormSchema(member)
      ? {
          ...translateChoices(member, translated, `properties.${name}.`),
          title: translated(`properties.${name}.title`, member.title ?? name),
        }
      : member,
  ]
  return {
    ...translateChoices(schema, translated, ''),
    ...(isFormSchema(items) && { items: translateForm(items, translated) }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(toMember)) }),
  }
}

/** The values that one may choose, of a member or of an item. */
function translateChoices<S extends FormSchema>(
  schema: S,
  translated: TranslateText,
  of: '' | `properties.${string}.`,
): S {
  if (!schema.anyOf) return schema
  const anyOf = schema.anyOf.map((choice) =>
    isFormSchema(choice) && typeof choice.const === 'string'
      ? { ...choice, title: translated(`${of}options.${choice.const}.label`, choice.title ?? choice.const) }
      : choice,
  )
  return { ...schema, anyOf }
}

/** A schema may also be true or false. */
function isFormSchema(schema: unknown): schema is FormSchema {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema)
}
