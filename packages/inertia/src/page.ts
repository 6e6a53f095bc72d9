/** The page object: what the client is to show, and under which address. */
import type { FastifyRequest } from 'fastify'

/** How the browser's history treats a page. */
export interface HistoryFlags {
  /** Encrypts the page in the browser's history, so that `clearHistory` makes it unreadable after signing out. */
  readonly encryptHistory?: boolean
  /** Throws away the key of pages encrypted so far. */
  readonly clearHistory?: boolean
  /** Keeps the `#fragment` of the visited URL. */
  readonly preserveFragment?: boolean
}

/** The page object of the Inertia protocol, version 3. */
export interface Page extends HistoryFlags {
  readonly component: string
  readonly props: Readonly<Record<string, unknown>>
  /** Path and query of the page in the browser's address bar. */
  readonly url: string
  /** The version of the assets; null when the application names none. */
  readonly version: string | null
}

/**
 * Path and query under which the client files the page. A page rendered for an unsafe method keeps the address of the
 * page it was sent from, so that a browser refresh does not GET a URL that only takes POST.
 */
export function pageUrl(request: FastifyRequest): string {
  if (request.method === 'GET' || request.method === 'HEAD') return ownPath(request.originalUrl)
  return refererPath(request) ?? ownPath(request.originalUrl)
}

/**
 * The target as a path of this site. The client assigns it to `window.location`, where `//evil.example` and
 * `http://evil.example` would leave the site; browsers read `\` as `/` and skip control characters.
 */
function ownPath(target: string): string {
  if (!target.startsWith('/')) return '/'
  // eslint-disable-next-line no-control-regex -- control characters are what this removes
  return `/${target.replace(/[\u0000-\u0020\u007f]/g, '').replace(/^[/\\]+/, '')}`
}

function refererPath(request: FastifyRequest): string | null {
  const { referer } = request.headers
  if (!referer || !URL.canParse(referer)) return null
  const url = new URL(referer)
  return url.host === request.host ? ownPath(url.pathname + url.search) : null
}
