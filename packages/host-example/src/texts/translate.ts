/** What definitions of settings say in German. */
import type { DefinitionTexts, Translate } from '@fastify-modular/settings'
import german from './settings.de.json' with { type: 'json' }

const texts: Readonly<Record<string, DefinitionTexts>> = german

/** The languages that it knows. */
export const locales = ['de']

/** The option `translate` of the settings plugin; undefined: English is shown. */
export const translate: Translate = ({ key }, locale) => (locales.includes(locale) ? texts[key] : undefined)
