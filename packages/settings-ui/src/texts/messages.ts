/** The texts of the components and how they are filled in. Hosts replace any of them; `{name}` stands for what the text is about. */
import english from './en.json' with { type: 'json' }
import type { Plural, TextsOf } from './texts-of.ts'

/** A copy, so that the published types list the names instead of importing JSON, which not every compiler does. */
const englishTexts = { ...english }

/** The texts that a page needs at first, by name. */
export type Messages = TextsOf<typeof englishTexts>

/** The English ones; the others come with what shows them. */
export const defaultMessages: Messages = englishTexts

export type Params = Readonly<Record<string, string | number>>

/** `'was {value}'`, `{ value: 25 }` → `was 25` */
export function format(text: string, params: Params = {}): string {
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(params[name] ?? placeholder))
}

/** The form for a number in a language, with `{count}` filled in. */
export function plural(forms: Plural, count: number, locale: string, params: Params = {}): string {
  return format(forms[new Intl.PluralRules(locale).select(count)] ?? forms.other, { ...params, count })
}

/** Without case and diacritics. */
export function fold(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
}
