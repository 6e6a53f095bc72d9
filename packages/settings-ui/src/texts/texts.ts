/** The texts of the pages, by language. */
import { defaultMessages, type Messages } from './messages.ts'
import { type MoreMessages, moreMessages } from './more-messages.ts'
import { type ServerMessages, serverMessages } from './server-messages.ts'
import ar from './ar.json' with { type: 'json' }
import de from './de.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import ja from './ja.json' with { type: 'json' }
import pt from './pt.json' with { type: 'json' }
import zh from './zh.json' with { type: 'json' }

/** All texts, by name. */
export type AllMessages = Messages & MoreMessages & ServerMessages

const english: AllMessages = { ...defaultMessages, ...moreMessages, ...serverMessages }

/** The languages that ship. */
export const languages: Readonly<Record<string, AllMessages>> = {
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
export function textsOf(language: string): AllMessages {
  return languages[language] ?? english
}
