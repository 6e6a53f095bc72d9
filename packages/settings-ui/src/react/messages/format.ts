/** Fills texts. */
import type { Plural } from './messages.ts'

export type Params = Readonly<Record<string, string | number>>

/** `'was {value}'`, `{ value: 25 }` → `was 25` */
export function format(text: string, params: Params = {}): string {
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(params[name] ?? placeholder))
}

/** The form for a number in a language, with `{count}` filled in. */
export function plural(forms: Plural, count: number, locale: string): string {
  return format(forms[new Intl.PluralRules(locale).select(count)] ?? forms.other, { count })
}
