/** Definitions in the language of a request, made once for each language. */
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { Translations } from '../../service/read/select.ts'
import type { CompleteDefinition } from '../../setting-definition.ts'
import { type SettingDefinitionDto, toDefinitionDto } from '../definition-dto.ts'
import { acceptedLocales } from './accept-language.ts'
import { type Translate, translateDefinition } from './translate.ts'

/** All definitions in one language. */
export interface LocalizedDefinitions {
  /** The language of the definitions themselves is `en`. */
  readonly locale: string
  readonly definitions: readonly SettingDefinitionDto[]
  /** For search, beside the English ones; undefined in English. */
  readonly translations?: Translations
}

export interface Localizer {
  /** The same object for the same language, as long as it is kept. */
  forRequest(request: FastifyRequest): LocalizedDefinitions
  /** Whether answers depend on the language at all. */
  readonly isActive: boolean
}

const english = 'en'
/** Callers name the languages: those asked for last are kept, and so is that there is no translation. */
const capacity = 50

/** @param definitions all of them, once the application is ready */
export function createLocalizer(
  definitions: () => readonly CompleteDefinition[],
  translate: Translate | undefined,
  log: FastifyBaseLogger,
): Localizer {
  const byLocale = new Map<string, LocalizedDefinitions | null>()
  let own: LocalizedDefinitions | undefined
  let hasFailed = false

  function inEnglish(): LocalizedDefinitions {
    // Definitions are frozen once the application is ready (decision 5).
    own ??= { locale: english, definitions: definitions().map(toDefinitionDto) }
    return own
  }

  /** Null if nothing is translated. */
  function inLocale(locale: string, ask: Translate): LocalizedDefinitions | null {
    const known = byLocale.get(locale)
    if (known !== undefined) byLocale.delete(locale)
    const result = known === undefined ? make(locale, ask) : known
    byLocale.set(locale, result)
    for (const oldest of byLocale.keys()) {
      if (byLocale.size <= capacity) break
      byLocale.delete(oldest)
    }
    return result
  }

  function make(locale: string, ask: Translate): LocalizedDefinitions | null {
    const textOf = (key: string, field: Parameters<Translate>[1]): string | undefined => {
      try {
        const text: unknown = ask(key, field, locale)
        return typeof text === 'string' && text !== '' ? text : undefined
      } catch (err) {
        if (!hasFailed)
          log.warn({ err, key, field, locale }, 'settings option translate failed; English is shown')
        hasFailed = true
        return undefined
      }
    }
    const translations = new Map<string, SettingDefinitionDto>()
    const localized = inEnglish().definitions.map((definition) => {
      const translated = translateDefinition(definition, textOf)
      if (!translated) return definition
      translations.set(definition.key, { ...translated, group: translated.groupName })
      return translated
    })
    return translations.size > 0 ? { locale, definitions: localized, translations } : null
  }

  return {
    forRequest({ headers }) {
      if (!translate) return inEnglish()
      for (const locale of acceptedLocales(headers['accept-language'])) {
        const localized = inLocale(locale, translate)
        if (localized) return localized
        if (locale === english) return inEnglish()
      }
      return inEnglish()
    },
    isActive: translate !== undefined,
  }
}
