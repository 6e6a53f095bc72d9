/** Which representation of a failure a caller gets (decision 44). */
import { addVary, isNavigation, isRead, prefersHtml, prefersJson } from '@fastify-modular/core/internal'
import type { FastifyReply } from 'fastify'

/** Which unmatched GET and HEAD requests get a page (option `unmatchedPages`, decision 62). */
export type UnmatchedPages = 'always' | 'browsers' | false

/** A page of the front end, or problem details. */
export type Representation = 'page' | 'problem'

/** What the choice depends on. */
export interface Negotiable {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Which unmatched requests get a page; undefined where a route matched. */
  readonly unmatchedPages?: UnmatchedPages | undefined
  /** Whether navigations of browsers get pages for thrown errors too (option `pagesForBrowsers`); called at need. */
  pagesForBrowsers(): boolean
}

/**
 * A page for the Inertia client, whose `Accept` says nothing, and for an unmatched GET as far as the application has
 * pages for it; problem details for all others. No request is refused by 406.
 */
export function negotiate(choice: Negotiable): Representation {
  const { headers, unmatchedPages } = choice
  if (unmatchedPages === false) return 'problem'
  if (headers['x-inertia'] !== undefined) return 'page'
  if (unmatchedPages !== undefined) {
    const isWanted = unmatchedPages === 'always' ? !prefersJson(headers) : prefersHtml(headers)
    return isRead(choice) && isWanted ? 'page' : 'problem'
  }
  return isNavigation(headers) && choice.pagesForBrowsers() ? 'page' : 'problem'
}

/** Adds to the reply's `Vary` the request headers by which a representation is chosen. */
export function varyByNegotiation(reply: FastifyReply): void {
  addVary(reply, 'Accept, X-Inertia')
}
