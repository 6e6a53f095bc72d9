/**
 * Definitions for callers: in the language of the request, and with what only those learn who may write. Made once for
 * each language that the host names, and for all callers who may write the same.
 */
import type { Caller } from '@fastify-modular/core'
import { acceptedLocales, canonicalLocale } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { DefinitionTexts, SettingsOptions } from '../options.ts'
import { type TaggedJson, toTaggedJson } from './conditional.ts'
import type { CompleteDefinition, ValueSchema } from '../setting-definition.ts'
import { valueSchema } from '../values/value-schema.ts'
import { type Visibility, visibleTo } from '../visibility.ts'

/** All definitions in one language. */
interface LocalizedDefinitions extends TaggedJson {
  /** The language of the definitions themselves is `en`. */
  readonly locale: string
}

/** A definition without the default of a sensitive setting, with the JSON Schema of its values. */
export interface SettingDefinitionDto extends CompleteDefinition {
  /** Null as well for callers who may not write the shared value. */
  readonly env: string | null
  /** Whether the caller may write the shared value. */
  readonly canWrite: boolean
  /** The resource that the caller may test before saving it; null where there is none. */
  readonly probe: string | null
  readonly valueSchema: ValueSchema
}

/** Masks a definition and adds what clients need to make a form of it. */
function toDefinitionDto(
  definition: CompleteDefinition,
  canWrite: boolean,
  probe: string | null,
): SettingDefinitionDto {
  return {
    ...definition,
    env: canWrite ? definition.env : null,
    canWrite,
    defaultValue: definition.sensitive ? null : definition.defaultValue,
    probe,
    valueSchema: valueSchema(definition),
  }
}

/** There are as many as languages, for each combination of permissions that definitions name: more are not kept. */
const mostKept = 1000

const english = 'en'

interface LocalizerInit extends Pick<SettingsOptions, 'translate' | 'locales'> {
  /** All definitions, once the application is ready. */
  readonly definitions: () => readonly CompleteDefinition[]
  /** The resource of a setting with a test, if the caller may write all of its settings. */
  readonly probeOf: (key: string, mayWrite: Visibility['write']) => string | null
  readonly log: FastifyBaseLogger
}

/** Finds what a caller is shown in the language of a request: the same object for the same one. Without `translate`, English. */
export class Localizer {
  readonly #init: LocalizerInit
  readonly #locales: ReadonlySet<string>
  readonly #kept = new Map<string, LocalizedDefinitions>()
  /** One definition for each thing that writing may need. */
  #samples: readonly CompleteDefinition[] | undefined
  #hasFailed = false

  constructor(init: LocalizerInit) {
    this.#init = init
    this.#locales = new Set(init.locales?.map((locale) => canonicalLocale(locale) ?? locale))
  }

  localize(caller: Caller, { headers }: FastifyRequest): LocalizedDefinitions {
    // Requests add no language.
    for (const locale of acceptedLocales(headers['accept-language'])) {
      const localized = this.#locales.has(locale) ? this.#find(caller, locale) : undefined
      if (localized?.locale === locale) return localized
      if (locale === english) break
    }
    return this.#find(caller)
  }

  /** @param locale undefined for the definitions as they are declared */
  #find(caller: Caller, locale?: string): LocalizedDefinitions {
    const { definitions, probeOf } = this.#init
    this.#samples ??= [
      ...new Map(definitions().map((each) => [`${each.scope} ${each.writePermission}`, each])).values(),
    ]
    const { write } = visibleTo(caller)
    const name = `${this.#samples.map((sample) => Number(write(sample))).join('')} ${locale}`
    const known = this.#kept.get(name)
    if (known) return known
    const shown = definitions().map((definition) =>
      toDefinitionDto(definition, write(definition), probeOf(definition.key, write)),
    )
    const made = locale === undefined ? untranslated(shown) : this.#translate(shown, locale)
    if (this.#kept.size === mostKept) this.#kept.clear()
    this.#kept.set(name, made)
    return made
  }

  #translate(shown: readonly SettingDefinitionDto[], locale: string): LocalizedDefinitions {
    const texts = shown.map((definition) => this.#textsIn(locale, definition))
    if (texts.every((found) => found === undefined)) return untranslated(shown)
    const localized = shown.map((definition, index) => translateDefinition(definition, texts[index] ?? {}))
    return { locale, ...toTaggedJson(localized) }
  }

  #textsIn(locale: string, definition: CompleteDefinition): DefinitionTexts | undefined {
    const { translate, log } = this.#init
    try {
      return translate?.(definition, locale)
    } catch (err) {
      if (!this.#hasFailed)
        log.warn({ err, key: definition.key, locale }, 'settings option translate failed; English is shown')
      this.#hasFailed = true
      return undefined
    }
  }
}

function untranslated(shown: readonly SettingDefinitionDto[]): LocalizedDefinitions {
  return { locale: english, ...toTaggedJson(shown) }
}

const named = ['displayName', 'description', 'placeholder', 'unit', 'confirm'] as const

/** A definition in another language. */
function translateDefinition(definition: SettingDefinitionDto, texts: DefinitionTexts): SettingDefinitionDto {
  const { options, schema, keywords } = definition
  const given = named.filter((name) => definition[name] !== null && isText(texts[name]))
  return {
    ...definition,
    ...Object.fromEntries(given.map((name) => [name, texts[name]])),
    keywords: [...(texts.keywords ?? []).filter(isText), ...keywords],
    schema: schema && translateForm(schema, texts),
    options:
      options &&
      options.map(({ value, label, description }) => {
        const own = texts.options?.[value]
        return {
          value,
          label: isText(own?.label) ? own.label : label,
          description: description !== null && isText(own?.description) ? own.description : description,
        }
      }),
  }
}

function isText(text: unknown): text is string {
  return typeof text === 'string' && text !== ''
}

/** What forms show of a schema: of an object, or of the items of a list. */
interface FormSchema {
  readonly const?: unknown
  readonly items?: unknown
  readonly properties?: Readonly<Record<string, unknown>>
  readonly anyOf?: readonly unknown[]
}

/** The schema of a form, of a member or of an item. */
function translateForm<S extends FormSchema>(
  schema: S,
  texts: Pick<DefinitionTexts, 'options' | 'properties'>,
): S {
  const { items, properties, anyOf } = schema
  const titled = (choice: unknown): unknown => {
    const text = isFormSchema(choice) && texts.options?.[String(choice.const)]?.label
    return isFormSchema(choice) && isText(text) ? { ...choice, title: text } : choice
  }
  const toMember = ([name, member]: [string, unknown]) => {
    const own = texts.properties?.[name] ?? {}
    const title = isText(own.title) && { title: own.title }
    return [name, isFormSchema(member) ? { ...translateForm(member, own), ...title } : member]
  }
  return {
    ...schema,
    ...(isFormSchema(items) && { items: translateForm(items, texts) }),
    ...(anyOf && { anyOf: anyOf.map(titled) }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(toMember)) }),
  }
}

/** A schema may also be true or false. */
function isFormSchema(schema: unknown): schema is FormSchema {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema)
}
