/** Which languages a request accepts (RFC 9110, 12.5.4). */
import { canonicalLocale } from '../http-options.ts'

/** Browsers send fewer. */
const maxRanges = 10

/**
 * The locales of an `Accept-Language`, most wanted first, each before its parents (RFC 4647, 3.4): `de-AT;q=0.5, fr` is
 * `fr`, `de-AT`, `de`. Ranges with `q=0`, malformed ranges and `*` are left out.
 */
export function acceptedLocales(header: string | undefined): readonly string[] {
  if (!header) return []
  const ranges = header.split(',', maxRanges).map(readRange)
  // Sorting is stable: ranges of equal quality stay in the order of the header.
  const wanted = ranges.filter(({ quality }) => quality > 0).toSorted((a, b) => b.quality - a.quality)
  return [...new Set(wanted.flatMap(({ range }) => withParents(range)))]
}

function readRange(item: string): { readonly range: string; readonly quality: number } {
  const [range = '', ...parameters] = item.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => /^q=/i.test(parameter))
  if (weight === undefined) return { range, quality: 1 }
  return {
    range,
    quality: /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i.test(weight) ? Number(weight.slice(2)) : 0,
  }
}

/** `zh-Hant-TW`, `zh-Hant`, `zh`; empty for a text that is not a locale. */
function withParents(range: string): readonly string[] {
  const subtags = canonicalLocale(range)?.split('-') ?? []
  return subtags.map((_, index) => subtags.slice(0, subtags.length - index).join('-'))
}
