/** Which representation of a failure a caller gets (decision 44). Pure. */

/** Which unmatched GET and HEAD requests get a page (option `unmatchedPages`, decision 62). */
export type UnmatchedPages = 'always' | 'browsers' | false

/** A page of the front end, or problem details. */
export type Representation = 'page' | 'problem'

/** What the choice depends on. */
export interface Negotiable {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Where no route matched: who gets a page for that. */
  readonly unmatchedPages?: UnmatchedPages | undefined
  /** Whether navigations of browsers get pages for thrown errors too (option `pagesForBrowsers`); asked at need. */
  pagesForBrowsers(): boolean
}

/**
 * A page for the Inertia client, whose `Accept` says nothing, and for an unmatched GET as far as the application has
 * pages for it; problem details for everyone else. Nobody is refused by 406.
 */
export function negotiate(asked: Negotiable): Representation {
  const { method, headers, unmatchedPages } = asked
  if (unmatchedPages === false) return 'problem'
  if (headers['x-inertia'] !== undefined) return 'page'
  if (unmatchedPages !== undefined) {
    const isRead = method === 'GET' || method === 'HEAD'
    const isWanted = unmatchedPages === 'always' ? !refusesHtml(headers) : prefersHtml(headers)
    return isRead && isWanted ? 'page' : 'problem'
  }
  return isNavigation(headers) && asked.pagesForBrowsers() ? 'page' : 'problem'
}

/** Whether the caller names a JSON type and likes it better than HTML, or rules HTML out. */
export function refusesHtml({ accept }: Negotiable['headers']): boolean {
  if (typeof accept !== 'string') return false
  const { html, json } = qualitiesOf(accept)
  return html === 0 || (json ?? 0) > (html ?? 0)
}

/** Whether the caller names `text/html`, and no JSON type that it likes better. */
function prefersHtml({ accept }: Negotiable['headers']): boolean {
  if (typeof accept !== 'string') return false
  const { html = 0, json = 0 } = qualitiesOf(accept)
  return html > 0 && html >= json
}

/** A browser going to a page; scripts say `Sec-Fetch-Mode: cors`, programs do not name `text/html`. */
function isNavigation(headers: Negotiable['headers']): boolean {
  const mode = headers['sec-fetch-mode']
  return (mode === undefined || mode === 'navigate') && prefersHtml(headers)
}

/** The weights of `text/html` and of the best JSON type; undefined where an `Accept` header does not name them. */
interface Qualities {
  readonly html?: number
  readonly json?: number
}

/** Callers send few different headers, and reading one takes as long as rendering a problem. */
const known = new Map<string, Qualities>()
const maxKnown = 100
const maxLength = 200

function qualitiesOf(accept: string): Qualities {
  let found = known.get(accept)
  if (!found) {
    found = parse(accept)
    if (known.size < maxKnown && accept.length <= maxLength) known.set(accept, found)
  }
  return found
}

function parse(accept: string): Qualities {
  const found: { html?: number; json?: number } = {}
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const kind =
      type === 'text/html' ? 'html' : /^application\/(?:[\w.-]+\+)?json$/.test(type) ? 'json' : undefined
    if (kind) found[kind] = Math.max(found[kind] ?? 0, weight(parameters))
  }
  return found
}

function weight(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  const value = q === undefined ? 1 : Number(q.slice(2))
  return value >= 0 && value <= 1 ? value : 0
}
