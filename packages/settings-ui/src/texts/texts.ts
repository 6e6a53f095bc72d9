/** The texts of the pages, by language. Hosts replace any of them. */
import ar from './ar.json' with { type: 'json' }
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import ja from './ja.json' with { type: 'json' }
import pt from './pt.json' with { type: 'json' }
import zh from './zh.json' with { type: 'json' }

/** Texts by plural category of `Intl.PluralRules`; `other` is for all that have none of their own. */
export type Plural = { readonly [C in Intl.LDMLPluralRule]?: string } & { readonly other: string }

/** A copy, so that the published types list the names instead of importing JSON, which not every compiler does. */
const english = { ...en }

/** All texts, by name. */
export type Messages = {
  readonly [N in keyof typeof english]: (typeof english)[N] extends string ? string : Plural
}

/** The languages that ship. */
export const languages: Readonly<Record<string, Messages>> = { en: english, de, fr, es, pt, ja, zh, ar }

/** The texts in a language, or the English ones. */
export function textsOf(language: string): Messages {
  return languages[language] ?? english
}
