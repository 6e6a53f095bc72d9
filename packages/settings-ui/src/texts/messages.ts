/** How texts are filled in; `{name}` stands for what a text is about. */
import type { Plural } from './texts.ts'

export type { Messages } from './texts.ts'

type Params = Readonly<Record<string, string | number>>

/** `'was {value}'`, `{ value: 25 }` → `was 25` */
export function format(text: string, params: Params = {}): string {
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(params[name] ?? placeholder))
}

/** The text about something that has a name, else the other one. */
export function formatNamed(
  text: string,
  unnamed: string,
  { name }: { readonly name?: string },
  params: Params = {},
): string {
  return name === undefined ? format(unnamed, params) : format(text, { ...params, name })
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
