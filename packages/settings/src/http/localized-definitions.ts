/**
 * Definitions for callers: in the language of the request, and with what only those learn who may write. Made once for
 * each language that the host names, and for all callers who may write the same.
 */
import type { Caller } from '@fastify-modular/core'
import { acceptedLocales, canonicalLocale } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { SettingsOptions, TranslatedField } from '../options.ts'
import { type TaggedJson, toTaggedJson } from './conditional.ts'
import type { CompleteDefinition, ValueSchema } from '../setting-definition.ts'
import { valueSchema } from '../values/value-schema.ts'
import { visibleTo } from '../visibility.ts'

/** All definitions in one language. */
interface LocalizedDefinitions extends TaggedJson {
  /** The language of the definitions themselves is `en`. */
  readonly locale: string
}

/** Returns the definitions in the language of a request, the same object for the same one. */
type Localizer = (request: FastifyRequest) => LocalizedDefinitions

/** A definition without the default of a sensitive setting, with the JSON Schema of its values. */
export interface SettingDefinitionDto extends CompleteDefinition {
  /** Null as well for callers who may not write the shared value. */
  readonly env: string | null
  /** Whether the caller may write the shared value. */
  readonly canWrite: boolean
  /** What to show for `group`, which itself names the group in requests. */
  readonly groupName: string | null
  readonly valueSchema: ValueSchema
}

/** Masks a definition and adds what clients need to make a form of it. */
export function toDefinitionDto(definition: CompleteDefinition, canWrite: boolean): SettingDefinitionDto {
  return {
    ...definition,
    env: canWrite ? definition.env : null,
    canWrite,
    defaultValue: definition.sensitive ? null : definition.defaultValue,
    groupName: definition.group,
    valueSchema: valueSchema(definition),
  }
}

/** There are as many as combinations of permissions that definitions name: more are not kept. */
const mostAudiences = 100

/**
 * Returns the function that finds what a caller is shown.
 * @param definitions all of them, once the application is ready
 * @param options without `translate` everything is English
 */
export function createLocalizers(
  definitions: () => readonly CompleteDefinition[],
  options: Pick<SettingsOptions, 'translate' | 'locales'>,
  log: FastifyBaseLogger,
): (caller: Caller) => Localizer {
  const byAudience = new Map<string, Localizer>()
  /** One definition for each thing that writing may need. */
  let samples: readonly CompleteDefinition[] | undefined

  return function localizerFor(caller) {
    samples ??= [
      ...new Map(definitions().map((each) => [`${each.scope} ${each.writePermission}`, each])).values(),
    ]
    const { write } = visibleTo(caller)
    const audience = samples.map((sample) => Number(write(sample))).join('')
    const known = byAudience.get(audience)
    if (known) return known
    const shown = definitions().map((definition) => toDefinitionDto(definition, write(definition)))
    const localizer = createLocalizer(shown, options, log)
    if (byAudience.size === mostAudiences) byAudience.clear()
    byAudience.set(audience, localizer)
    return localizer
  }
}

const english = 'en'

function createLocalizer(
  definitions: readonly SettingDefinitionDto[],
  { translate, locales = [] }: Pick<SettingsOptions, 'translate' | 'locales'>,
  log: FastifyBaseLogger,
): Localizer {
  /** Undefined until a request wants the language, null where nothing is translated. Requests add no language. */
  const byLocale = new Map<string, LocalizedDefinitions | null | undefined>(
    locales.map((locale) => [canonicalLocale(locale) ?? locale, undefined]),
  )
  const untranslated = { locale: english, ...toTaggedJson(definitions) }
  let hasFailed = false

  function textIn(locale: string, key: string, field: TranslatedField): string | undefined {
    try {
      const text: unknown = translate?.(key, field, locale)
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
    const localized = definitions.map((definition) =>
      translateDefinition(definition, (field, text) => {
        const translated = textIn(locale, definition.key, field)
        isTranslated ||= translated !== undefined
        return translated ?? text
      }),
    )
    return isTranslated ? { locale, ...toTaggedJson(localized) } : null
  }

  return ({ headers }) => {
    for (const locale of acceptedLocales(headers['accept-language'])) {
      if (byLocale.has(locale) && byLocale.get(locale) === undefined)
        byLocale.set(locale, translateInto(locale))
      const localized = byLocale.get(locale)
      if (localized) return localized
      if (locale === english) break
    }
    return untranslated
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
