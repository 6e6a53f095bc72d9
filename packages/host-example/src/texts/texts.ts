/** The texts of a language, and how they are filled in. */
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }

export type Texts = typeof en

const languages: Readonly<Record<string, Texts>> = { en, de }

/** Returns the texts of a value of the setting `app.language`. */
export function textsOf(language: string): Texts {
  return languages[language] ?? en
}

/** The reader's own kind of the language, such as `en-GB` for pages in `en`. */
export const localeOf = ({
  language,
  preferred,
}: Readonly<Record<'language' | 'preferred', string>>): string =>
  preferred.startsWith(`${language}-`) ? preferred : language

type Values = Readonly<Record<string, string | number>>

/** `'Added “{title}”'`, `{ title: 'Bread' }` → `Added “Bread”` */
export function format(text: string, values: Values): string {
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place))
}

/** The form for a number, which is in it as `{count}`. */
export function plural(
  { one, other }: { readonly one: string; readonly other: string },
  count: number,
  values: Values = {},
): string {
  return format(count === 1 ? one : other, { ...values, count })
}
