/** Which languages a request accepts (RFC 9110, 12.5.4). */

/** Browsers send fewer ranges, with one parameter each. */
const maxRanges = 10
const maxParts = 3

/** Longer texts are no locale. */
const maxLength = 35

/**
 * The locales of an `Accept-Language`, most wanted first, each before its parents (RFC 4647, 3.4): `de-AT;q=0.5, fr` is
 * `fr`, `de-AT`, `de`. Ranges with `q=0`, malformed ranges and `*` are left out, and so is
 * what follows ten ranges. The time is linear in the length of the header.
 */
export function acceptedLocales(header: string | undefined): readonly string[] {
  if (!header) return []
  const ranges = header.split(',', maxRanges).map(readRange)
  // Sorting is stable: ranges of equal quality stay in the order of the header.
  const wanted = ranges.filter(({ quality }) => quality > 0).toSorted((a, b) => b.quality - a.quality)
  return [...new Set(wanted.flatMap(({ range }) => withParents(range)))]
}

function readRange(item: string): { readonly range: string; readonly quality: number } {
  const [range = '', ...parameters] = item.split(';', maxParts).map((part) => part.trim())
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

/** `de-AT` for `DE-at`; undefined for a text that is not a locale. */
export function canonicalLocale(text: string): string | undefined {
  if (text.length > maxLength) return undefined
  try {
    return new Intl.Locale(text).baseName
  } catch {
    return undefined
  }
}
