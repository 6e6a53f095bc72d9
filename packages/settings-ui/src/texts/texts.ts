/** @fastify-modular/settings-ui/texts: the texts of the pages, by language. A bundle takes the languages that it imports. */
import { ar } from './ar.ts'
import { de } from './de.ts'
import { english } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { ja } from './ja.ts'
import type { PageMessages } from './messages.ts'
import { pt } from './pt.ts'
import { zh } from './zh.ts'

export { ar, de, english as en, es, fr, ja, pt, zh }

/** The languages that ship. */
export const languages: Readonly<Record<string, PageMessages>> = {
  en: english,
  de,
  fr,
  es,
  pt,
  ja,
  zh,
  ar,
}

/** The texts in a language, or the English ones. */
export function textsOf(language: string): PageMessages {
  return languages[language] ?? english
}
