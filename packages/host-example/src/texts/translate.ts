/** What definitions and groups of settings say in German. */
import type { DefinitionTexts, Translate, TranslateGroup } from '@fastify-modular/settings'
import germanGroups from './groups.de.json' with { type: 'json' }
import german from './settings.de.json' with { type: 'json' }

const texts: Readonly<Record<string, DefinitionTexts>> = german

/** The languages that it knows. */
export const locales = ['de']

/** The option `translate` of the settings plugin; undefined: English is shown. */
export const translate: Translate = ({ key }, locale) => (locales.includes(locale) ? texts[key] : undefined)

const groups: Readonly<Record<string, ReturnType<TranslateGroup>>> = germanGroups

/** The option `translateGroup`. */
export const translateGroup: TranslateGroup = (name, _group, locale) =>
  locales.includes(locale) ? groups[name] : undefined
