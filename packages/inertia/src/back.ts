/** Where a form goes back to: the page that it was sent from. */
import { isRead } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import { isPlainPath, refererPath } from './page.ts'

/** Finds the address of the page that a request was sent from. */
export type FindBack = (request: FastifyRequest) => string | null

/**
 * The address is the path and query of the referer; else that of the request itself, where the application has a GET route of
 * the same pattern; else null. A GET request never gets its own address: it would be redirected for ever.
 * @param basePath what a proxy takes away in front of the paths of this application
 */
export function createFindBack(basePath: string): FindBack {
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
