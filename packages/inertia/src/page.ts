/** The page object: what the client is to show, and under which address. */
import { canonicalPath, isRead } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import type { PropLabels, Props } from './props.ts'

/** How the browser's history treats a page. */
interface HistoryFlags {
  /** Encrypts the page in the browser's history, so that `clearHistory` makes it unreadable after signing out. */
  readonly encryptHistory?: boolean
  /** Throws away the key of pages encrypted so far. */
  readonly clearHistory?: boolean
  /** Keeps the `#fragment` of the visited URL. */
  readonly preserveFragment?: boolean
}

/** What is said of a page beside its props. */
export interface PageFlags extends HistoryFlags {
  /** Messages that this page shows once. */
  readonly flash?: Props
  /**
   * Path and query in the browser's address bar, without `basePath`.
   * @default those of the request; for a page that answers a write, those of the page that it was sent from
   */
  readonly url?: string
}

/** The page object of the Inertia protocol, version 3; version 2 passes over what it does not know. */
export interface Page extends HistoryFlags, PropLabels {
  readonly component: string
  readonly props: Readonly<Record<string, unknown>>
  /** Path and query of the page in the browser's address bar. */
  readonly url: string
  /** The version of the assets; null when the application names none. */
  readonly version: string | null
  /** Names of the props that all pages share: the client shows them while an instant visit is on its way. */
  readonly sharedProps?: readonly string[]
  /** Messages that are shown once. */
  readonly flash?: Readonly<Record<string, unknown>>
}

/**
 * Path and query under which the client files the page. A page rendered for an unsafe method keeps the address of the
 * page it was sent from, so that a browser refresh does not GET a URL that only takes POST.
 */
export function pageUrl(request: FastifyRequest, basePath: string, url?: string): string {
  const referer = isRead(request) ? null : refererPath(request, basePath)
  return basePath + ownPath(url ?? referer ?? request.originalUrl)
}

/** Whether the page may never be shown. */
export function isPrefetch({ headers }: FastifyRequest): boolean {
  return String(headers['purpose'] ?? headers['sec-purpose'] ?? '').includes('prefetch')
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

/** Path and query of the page that a request was sent from, without the base path; null where it is none of this application. */
function refererPath({ headers: { referer }, host }: FastifyRequest, basePath: string): string | null {
  if (!referer || !URL.canParse(referer)) return null
  const url = new URL(referer)
  if (url.host !== host || !`${url.pathname}/`.startsWith(`${basePath}/`)) return null
  const path = (url.pathname.slice(basePath.length) || '/') + url.search
  return isPlainPath(path) ? path : null
}

/** Whether a redirect may lead there: a path that the router and browsers read alike, as a header can carry it. */
export function isPlainPath(path: string): boolean {
  return canonicalPath(path) !== null && /^[\x21-\x7e]+$/.test(path)
}

/**
 * Finds the address of the page that a request was sent from. It is the path and query of the referer; else that of the request
 * itself, where the application has a GET route of the same pattern; else null. A GET request never gets its own address: it
 * would be redirected for ever.
 * @param basePath what a proxy takes away in front of the paths of this application
 */
export function createFindBack(basePath: string): (request: FastifyRequest) => string | null {
  let hasWarned = false

  function ownAddress(request: FastifyRequest): string | null {
    const { originalUrl, server, routeOptions, headers, log } = request
    if (headers.referer === undefined && !hasWarned) {
      hasWarned = true
      log.warn(
        'a form came without a Referer, so that its page is not known: a Referrer-Policy such as same-origin lets browsers send it',
      )
    }
    const { url } = routeOptions // undefined where no route matches
    const isPage = url !== undefined && server.hasRoute({ method: 'GET', url }) && isPlainPath(originalUrl)
    return isPage ? originalUrl : null
  }

  return (request) => {
    const referer = refererPath(request, basePath)
    if (isRead(request)) return referer === request.originalUrl ? null : referer
    return referer ?? ownAddress(request)
  }
}
