/** Content negotiation (RFC 9110, 12.5): pages for browsers or JSON for programs, compression, and `Vary`, the same for every package. */
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
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const kind =
      type === 'text/html' ? 'html' : /^application\/(?:[\w.-]+\+)?json$/.test(type) ? 'json' : undefined
    if (kind) found[kind] = Math.max(found[kind] ?? 0, quality(parameters))
  }
  return found
}

function quality(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  const value = q === undefined ? 1 : Number(q.slice(2))
  return value >= 0 && value <= 1 ? value : 0
}

/** The content coding to answer in, of those that all browsers take; undefined if the client names neither or refuses them. */
export function acceptedEncoding(headers: Headers): 'br' | 'gzip' | undefined {
  const accepted = String(headers['accept-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((item) => item.split(';').map((part) => part.trim()))
    .flatMap(([name, ...parameters]) => (quality(parameters) > 0 ? name : []))
  return (['br', 'gzip'] as const).find((name) => accepted.includes(name))
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
