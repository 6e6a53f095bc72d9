/** Content negotiation (RFC 9110, 12.5): pages for browsers or JSON for programs, compression, languages, and `Vary`, the same for every package. */
import type { FastifyReply } from 'fastify'

/** The headers of a request, by lower-case name. */
type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Whether a browser navigates to a page: `Accept` prefers HTML, and neither `Sec-Fetch-Mode` nor `X-Requested-With` says
 * that a script made the request.
 */
export function isNavigation(headers: Headers): boolean {
  const mode = headers['sec-fetch-mode']
  if ((mode !== undefined && mode !== 'navigate') || isXmlHttpRequest(headers)) return false
  return prefersHtml(headers)
}

/**
 * Whether `Accept` names `text/html` and does not prefer JSON; scripts such as Turbo and htmx send that, too. A bare
 * wildcard, as curl and `fetch` send it, names nothing.
 */
export function prefersHtml(headers: Headers): boolean {
  const { html = 0, json = 0 } = qualitiesOf(headers['accept'])
  return html > 0 && html >= json
}

/** Whether the client names a JSON type and prefers it to HTML, or refuses HTML. */
export function prefersJson(headers: Headers): boolean {
  const { html, json } = qualitiesOf(headers['accept'])
  return html === 0 || (json ?? 0) > (html ?? 0)
}

/** Whether a request target is `/api` or below it, in any letter case: programs expect JSON there. */
export function isApiTarget(target: string): boolean {
  return /^\/api(?:[/?#]|$)/i.test(target)
}

/** Whether a request asks for a representation, and changes nothing. */
export function isRead({ method }: { readonly method: string }): boolean {
  return method === 'GET' || method === 'HEAD'
}

function isXmlHttpRequest(headers: Headers): boolean {
  return String(headers['x-requested-with']).toLowerCase() === 'xmlhttprequest'
}

/** The weights of `text/html` and of the best JSON type; undefined where an `Accept` header does not name them. */
interface Qualities {
  readonly html?: number
  readonly json?: number
}

const none: Qualities = {}

/** Clients send few different headers, and parsing one takes as long as rendering a problem. */
const cache = new Map<string, Qualities>()
const maxCached = 100
const maxCachedLength = 200

function qualitiesOf(accept: string | string[] | undefined): Qualities {
  if (typeof accept !== 'string') return none
  let qualities = cache.get(accept)
  if (!qualities) {
    qualities = parse(accept)
    if (cache.size < maxCached && accept.length <= maxCachedLength) cache.set(accept, qualities)
  }
  return qualities
}

function parse(accept: string): Qualities {
  const found: { html?: number; json?: number } = {}
  for (const { name, quality } of rangesOf(accept.toLowerCase())) {
    const kind =
      name === 'text/html' ? 'html' : /^application\/(?:[\w.-]+\+)?json$/.test(name) ? 'json' : undefined
    if (kind) found[kind] = Math.max(found[kind] ?? 0, quality)
  }
  return found
}

/** The ranges of a header such as `br, gzip;q=0.8`; a weight that is malformed is 0. The time is linear in its length. */
function rangesOf(header: string, most?: number): { readonly name: string; readonly quality: number }[] {
  return header.split(',', most).map((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => /^q=/i.test(parameter))
    const quality = weight === undefined ? 1 : Number(weight.slice(2))
    return { name, quality: quality >= 0 && quality <= 1 ? quality : 0 }
  })
}

/** The content coding to answer in, of those that all browsers take; undefined if the client names neither or refuses them. */
export function acceptedEncoding(headers: Headers): 'br' | 'gzip' | undefined {
  const ranges = rangesOf(String(headers['accept-encoding'] ?? '').toLowerCase())
  const accepted = ranges.filter(({ quality }) => quality > 0).map(({ name }) => name)
  return (['br', 'gzip'] as const).find((name) => accepted.includes(name))
}

/** Browsers send fewer. */
const maxLocales = 10

/**
 * The locales of an `Accept-Language`, most wanted first, each before its parents (RFC 4647, 3.4): `de-AT;q=0.5, fr` is
 * `fr`, `de-AT`, `de`. Ranges with `q=0`, malformed ranges and `*` are left out, and so is what follows ten ranges.
 */
export function acceptedLocales(header: string | undefined): readonly string[] {
  // Sorting is stable: ranges of equal quality stay in the order of the header.
  const ranges = rangesOf(header ?? '', maxLocales).toSorted((a, b) => b.quality - a.quality)
  return [...new Set(ranges.flatMap(({ name, quality }) => (quality > 0 ? withParents(name) : [])))]
}

/** `zh-Hant-TW`, `zh-Hant`, `zh`; empty for a text that is not a locale. */
function withParents(range: string): readonly string[] {
  const subtags = canonicalLocale(range)?.split('-') ?? []
  return subtags.map((_, index) => subtags.slice(0, subtags.length - index).join('-'))
}

/** `de-AT` for `DE-at`; undefined for a text that is not a locale, or longer than 35 characters. */
export function canonicalLocale(text: string): string | undefined {
  if (text.length > 35) return undefined
  try {
    return new Intl.Locale(text).baseName
  } catch {
    return undefined
  }
}

/** Adds request headers to the reply's `Vary`; `names` as in the header: `Accept, X-Inertia`. */
export function addVary(reply: FastifyReply, names: string): void {
  reply.header('vary', varyWith(reply, names))
}

/** The reply's `Vary` with these names added; present names stay, and `*` covers all. */
export function varyWith(reply: FastifyReply, names: string): string {
  const present = reply.getHeader('vary')
  if (present === undefined) return names
  const value = String(present)
  const known = value.toLowerCase().split(/\s*,\s*/)
  if (known.includes('*')) return value
  return [value, ...names.split(', ').filter((name) => !known.includes(name.toLowerCase()))].join(', ')
}
