/** The language of a page: the one that the host names, else the one that the browser prefers of those that ship. */
import { acceptedLocales } from '@fastify-modular/core/internal'
import { languages } from './texts/texts.ts'

/** The most preferred tag of `Accept-Language` in whose language there are texts. */
export function preferredLocale(header: string | undefined): string | undefined {
  return acceptedLocales(header).find((tag) => Object.hasOwn(languages, languageOf(tag)))
}

/** `de` for `de-AT`; an empty string for a text that is not a language tag. */
export function languageOf(tag: string): string {
  try {
    return new Intl.Locale(tag).language
  } catch {
    return ''
  }
}

const rightToLeft = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'ku', 'ps', 'sd', 'ug', 'ur', 'yi'])

export function directionOf(locale: string): 'ltr' | 'rtl' {
  return rightToLeft.has(languageOf(locale)) ? 'rtl' : 'ltr'
}
