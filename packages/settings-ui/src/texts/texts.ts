/** @fastify-modular/settings-ui/texts: the texts of the pages, by language. A bundle takes the languages that it imports. */
import { defaultMessages, type Messages } from './messages.ts'
import arTexts from './ar.json' with { type: 'json' }
import deTexts from './de.json' with { type: 'json' }
import esTexts from './es.json' with { type: 'json' }
import frTexts from './fr.json' with { type: 'json' }
import jaTexts from './ja.json' with { type: 'json' }
import ptTexts from './pt.json' with { type: 'json' }
import zhTexts from './zh.json' with { type: 'json' }

export { defaultMessages as en }
export const ar: Messages = arTexts
export const de: Messages = deTexts
export const es: Messages = esTexts
export const fr: Messages = frTexts
export const ja: Messages = jaTexts
export const pt: Messages = ptTexts
export const zh: Messages = zhTexts

/** The languages that ship. */
export const languages: Readonly<Record<string, Messages>> = {
  en: defaultMessages,
  de,
  fr,
  es,
  pt,
  ja,
  zh,
  ar,
}

/** The texts in a language, or the English ones. */
export function textsOf(language: string): Messages {
  return languages[language] ?? defaultMessages
}
