/** Whether a failure is answered by a page or by problem details: the option `pages`, as the table of the guide has it. */
import { isApiTarget, isNavigation, isRead, prefersHtml, prefersJson } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'

/** The option `pages` of the plugin. */
export type Pages = false | 'inertia' | 'browsers' | ((request: FastifyRequest) => boolean)

/** What the choice depends on beside the request. */
export interface Negotiable {
  /** Undefined where the application leaves the option out. */
  readonly pages: Pages | undefined
  /** Whether no route matches the request. */
  readonly isUnmatched: boolean
  /** Whether the application has an Inertia adapter; called at need. */
  hasInertia(): boolean
}

/** Whether the request gets a page; all others get problem details, and no request is refused by 406. */
export function wantsPage(request: FastifyRequest, { pages, isUnmatched, hasInertia }: Negotiable): boolean {
  const { headers } = request
  const isVisit = headers['x-inertia'] !== undefined // of any value; its `Accept` says nothing
  if (isVisit && !isUnmatched) return true // S 7.2.1
  const mayShowOne = isUnmatched
    ? isVisit || (isRead(request) && !prefersJson(headers))
    : isNavigation(headers)
  if (!mayShowOne || pages === false) return false
  if (typeof pages === 'function') return pages(request)
  if (!isUnmatched) return pages === 'browsers' && !isApiTarget(request.url)
  return isVisit || prefersHtml(headers) || pages === 'inertia' || hasInertia()
}
