/** Where a form goes back to: an address of this application that shows a page. */
import { canonicalPath, isRead } from '@fastify-modular/core/internal'
import createRouter from 'find-my-way'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refererPath } from './page.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `false`: no form goes back to this route, such as one that an identity provider calls. */
    back?: boolean
  }
}

/** Finds the address of the page that a request was sent from. */
export type FindBack = (request: FastifyRequest) => string | null

/**
 * Watches the routes of an application. The address is the path and query of the referer, if it is on this host, spelt
 * canonically, and a GET route answers it; else that of the request itself under the same condition; else null. A GET
 * request never gets its own address: it would be redirected for ever.
 * @param basePath what a proxy takes away in front of the paths of this application
 */
export function watchRoutes(app: FastifyInstance, basePath: string): FindBack {
  const { initialConfig } = app // what the application's own router reads paths by, in both of its spellings
  const router = createRouter({ ...initialConfig, ...initialConfig.routerOptions, constraints: {} })
  app.addHook('onRoute', function rememberRoute({ method, url, config, constraints = {} }) {
    if (![method].flat().includes('GET') || router.hasRoute('GET', url)) return
    if (Object.keys(constraints).length > 0) return // it answers some requests only
    router.on('GET', url, () => {}, { isPage: config?.back !== false })
  })

  function isPage(path: string): boolean {
    if (canonicalPath(path) === null || !/^[\x21-\x7e]+$/.test(path)) return false
    const found = router.find('GET', path) as { readonly store: { readonly isPage: boolean } } | null
    return found?.store.isPage === true
  }

  return (request) => {
    const own = request.originalUrl
    const referer = refererPath(request, basePath)
    const candidates = isRead(request) ? [referer === own ? null : referer] : [referer, own]
    return candidates.find((path) => path !== null && isPage(path)) ?? null
  }
}
