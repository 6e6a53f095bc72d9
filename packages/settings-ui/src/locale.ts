/** The language of a page: the one that the host names, else the one that the browser prefers of those that ship. */
import { languages } from './texts/texts.ts'

/** The most preferred tag of `Accept-Language` in whose language there are texts. */
export function preferredLocale(header: string | undefined): string | undefined {
  const preferred = (header ?? '')
    .split(',')
    .map((item) => item.trim().split(/\s*;\s*q\s*=\s*/))
    .map(([tag = '', quality = '1']) => ({ tag, quality: Number(quality) }))
    .filter(({ tag, quality }) => quality > 0 && languageOf(tag) in languages)
    .toSorted((a, b) => b.quality - a.quality)
  return preferred[0]?.tag
}

/** `de-AT` → `de`; empty for what is no tag. */
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
