/** What definitions of settings say in German. */
import type { Translate } from '@fastify-modular/settings'
import german from './settings.de.json' with { type: 'json' }

const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = german

/** The languages that it knows. */
export const locales = ['de']

/** The option `translate` of the settings plugin; undefined: English is shown. */
export const translate: Translate = (key, field, locale) =>
  locales.includes(locale) ? texts[key]?.[field] : undefined
