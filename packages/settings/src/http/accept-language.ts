/** Which languages a request asks for (RFC 9110, 12.5.4). */

/** More are not asked for by people. */
const maxRanges = 10

/**
 * The locales of an `Accept-Language`, most wanted first, each before its parents (RFC 4647, 3.4): `de-AT;q=0.5, fr` is
 * `fr`, `de-AT`, `de`. What is refused by `q=0`, not well formed, or `*` is left out.
 */
export function acceptedLocales(header: string | undefined): readonly string[] {
  if (!header) return []
  const ranges = header.split(',', maxRanges).map(readRange)
  // Sorting is stable: equally wanted ones stay as they were written.
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

/** `zh-Hant-TW`, `zh-Hant`, `zh`; none of what is no locale. */
function withParents(range: string): readonly string[] {
  const subtags = canonicalLocale(range)?.split('-') ?? []
  return subtags.map((_, index) => subtags.slice(0, subtags.length - index).join('-'))
}

/** `de-AT` of `DE-at`; undefined of what is no locale. */
export function canonicalLocale(text: string): string | undefined {
  if (text.length > 35) return undefined
  try {
    return new Intl.Locale(text).baseName
  } catch {
    return undefined
  }
}
