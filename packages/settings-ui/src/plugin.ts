/** The settings pages: their routes, and what must be there for them to work. */
import {
  checkCoreVersion,
  createFindCaller,
  findCallerOf,
  supportedFastify,
} from '@fastify-modular/core/internal'
import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
} from 'fastify'
import fp from 'fastify-plugin'
import { loadAssets, sendAsset } from './assets.ts'
import { type PageName, relativePath, renderPage, strictPolicy } from './document.ts'
import {
  FMOD_SETTINGS_UI_API_MISSING,
  FMOD_SETTINGS_UI_CALLER_UNKNOWN,
  FMOD_SETTINGS_UI_UNGUARDED,
} from './misuse-errors.ts'
import { checkOptions, type SettingsUiOptions } from './options.ts'
import { themeCss } from './theme.ts'

/** Keeps a route out of OpenAPI documents. */
const hide: FastifySchema & { readonly hide: true } = { hide: true }

const settingsUiPlugin: FastifyPluginAsync<SettingsUiOptions> = async (app, options) => {
  checkCoreVersion(import.meta.url)
  checkOptions(options)
  const {
    prefix = '/settings',
    apiBase = '/api/settings',
    guard,
    adminPage = true,
    userPage = true,
  } = options
  const assets = await loadAssets(themeCss(options.theme, options.css))
  const home = adminPage ? 'manage' : 'me'
  const findCaller = createFindCaller(app, options.caller)

  /** The scope of the pages. Its requests have the decorators that the application declared before. */
  let pages: FastifyInstance | undefined
  app.register(
    async (scope) => {
      pages = scope
      const hidden = { schema: hide }
      const guarded = { ...hidden, ...(guard && { onRequest: guard }) }
      // Assets hold no secret; a login page may use the same style sheet. One route, so that lists of routes stay the same.
      scope.get<{ Params: { name: string } }>(
        '/assets/:name',
        { ...hidden, config: { public: ['GET'] } },
        (request, reply) => {
          const asset = Object.values(assets).find(({ name }) => name === request.params.name)
          if (asset === undefined) reply.callNotFound()
          else sendAsset(asset, request, reply)
        },
      )
      scope.get('/', { ...guarded, prefixTrailingSlash: 'both' }, (request, reply) =>
        reply.redirect(relativePath(pathOf(request), `${prefix}/${home}`)),
      )
      if (adminPage) scope.get('/manage', guarded, (request, reply) => sendPage('manage', request, reply))
      if (userPage) scope.get('/me', guarded, (request, reply) => sendPage('me', request, reply))
    },
    { prefix },
  )

  app.addHook('onReady', async function checkNeighbours() {
    if (!app.hasDecorator('publicRoutes') && guard === undefined) throw new FMOD_SETTINGS_UI_UNGUARDED()
    if (!findCallerOf(pages ?? app, options.caller)) throw new FMOD_SETTINGS_UI_CALLER_UNKNOWN()
    if (!app.hasRoute({ method: 'GET', url: `${apiBase}/definitions` })) {
      throw new FMOD_SETTINGS_UI_API_MISSING(apiBase)
    }
  })

  async function sendPage(
    page: PageName,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    // An Inertia client requested one of its pages: this page is not Inertia's and is loaded whole.
    if (request.headers['x-inertia']) return reply.code(409).header('x-inertia-location', request.url).send()
    const path = pathOf(request)
    const caller = await findCaller(request)
    if (options.csp !== false) reply.header('content-security-policy', options.csp ?? strictPolicy)
    return reply
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'same-origin')
      .type('text/html; charset=utf-8')
      .send(renderPage({ page, path, caller, options }, assets))
  }
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url
}

/** The settings pages: `app.register(settingsUi)`, where the gate and the settings plugin are. */
export const settingsUi = fp(settingsUiPlugin, {
  name: '@fastify-modular/settings-ui',
  fastify: supportedFastify,
})
