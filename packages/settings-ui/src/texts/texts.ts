/** The texts of the pages, by language. */
import { english } from './en.ts'
import type { PageMessages } from './messages.ts'

/** The languages that ship. */
export const languages: Readonly<Record<string, PageMessages>> = { en: english }

/** The texts in a language, or the English ones. */
export function textsOf(language: string): PageMessages {
  return languages[language] ?? english
}
