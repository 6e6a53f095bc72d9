/** The settings pages: their routes, and what must be there for them to work. */
import { type Caller, ForbiddenException, hasPermission } from '@fastify-modular/core'
import {
  declareAccess,
  hasOwnDecorator,
  knowsCallers,
  readCaller,
  supportedFastify,
} from '@fastify-modular/core/internal'
import type { TenantOfRequest } from '@fastify-modular/settings'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { findAssets, hidden, serveAssets } from './assets.ts'
import {
  pageConfig,
  pageContent,
  type PageName,
  type PageVisit,
  relativePath,
  renderPage,
  renderSignedIn,
  strictPolicy,
} from './document.ts'
import { lookOf } from './look.ts'
import { errorCodes } from './misuse-errors.ts'
import { checkIcons, checkOptions, checkPreview, refuse, type SettingsUiOptions } from './options.ts'
import { forbiddenText, NoTenantException, toPageTenant } from './tenant.ts'

const pageNames: readonly PageName[] = ['manage', 'preferences', 'tenant']

const settingsUiPlugin: FastifyPluginAsync<SettingsUiOptions> = async (app, given) => {
  checkOptions(given)
  const { prefix: under = '/settings', guard, documents = true } = given
  const { manage = true, preferences = true, tenant = true } = given
  // The application, and its settings, may have a prefix of their own.
  const prefix = `${app.prefix}${under}`
  const { baseUrl = `${app.prefix}/api/settings` } = given
  const options = { ...given, prefix, baseUrl }
  const assets = await findAssets()
  const visibility = { manage, preferences, tenant }
  const { findCaller = readCaller } = options

  /** The scope of the pages. Its requests have the decorators that the application declared before. */
  let pages: FastifyInstance | undefined
  app.register(
    async (scope) => {
      pages = scope
      const fault = declareAccess(scope, given)
      if (fault !== null) refuse([fault])
      const guarded = { ...hidden, config: { access: 'signed-in' }, ...(guard && { onRequest: guard }) }
      serveAssets(scope, options.css ?? '', assets)
      if (documents) {
        scope.get('/', { ...guarded, prefixTrailingSlash: 'both' }, async (request, reply) => {
          const [home = manage === false ? 'preferences' : 'manage'] = await linkedPages(
            await findCaller(request),
            await tenantOf(request),
          )
          return reply.redirect(relativePath(pathOf(request), `${prefix}/${home}`))
        })
      }
      scope.get('/signed-in', guarded, async (request, reply) => {
        const look = await lookOf(options, request)
        return sendHtml(reply, renderSignedIn({ path: pathOf(request), look, options }), strictPolicy)
      })
      for (const page of pageNames) {
        if (visibility[page] === false || (page === 'tenant' && !hasTenants())) continue
        if (documents) scope.get(`/${page}`, guarded, (request, reply) => sendPage(page, request, reply))
        // For `<fm-settings>`, in documents that are not ours.
        scope.get(`/${page}.json`, guarded, async (request, reply) => {
          const visit = await visitOf(page, request)
          return reply
            .header('cache-control', 'no-store')
            .header('x-content-type-options', 'nosniff')
            .send(pageConfig(visit, assets))
        })
      }
    },
    { prefix: under },
  )

  app.addHook('onReady', async function checkNeighbours() {
    if (!hasOwnDecorator(app, 'publicRoutes') && guard === undefined)
      throw new errorCodes.FMOD_SETTINGS_UI_UNGUARDED()
    if (!knowsCallers(pages ?? app, options.findCaller))
      throw new errorCodes.FMOD_SETTINGS_UI_CALLER_UNKNOWN()
    if (!app.hasRoute({ method: 'GET', url: `${baseUrl}/definitions` })) {
      throw new errorCodes.FMOD_SETTINGS_UI_API_MISSING(baseUrl)
    }
    if (!hasOwnDecorator(app, 'settings')) return
    if (tenant !== false && hasTenants() !== app.hasRoute({ method: 'GET', url: `${prefix}/tenant.json` }))
      refuse([
        'register it after the settings plugin, whose option tenants it looks at, or set tenant to false',
      ])
    if (options.preview) checkPreview(options.preview, app.settings.definitions)
    checkIcons(app.settings.definitions)
  })

  /** Whether the settings plugin that is there by now has its option `tenants`. */
  function hasTenants(): boolean {
    return hasOwnDecorator(app, 'settings') && app.hasRoute({ method: 'GET', url: `${baseUrl}/tenant` })
  }

  async function tenantOf(request: FastifyRequest): Promise<TenantOfRequest | null> {
    return hasOwnDecorator(app, 'settings') ? app.settings.tenantOf(request) : null
  }

  /** Pages that the header of this caller leads to: not to one in which nothing can be changed. */
  async function linkedPages(
    caller: Caller | null,
    found: TenantOfRequest | null,
  ): Promise<readonly PageName[]> {
    const isQuiet = {
      manage: manage === true && !hasPermission(caller, 'Settings.Update'),
      preferences: false,
      tenant: found?.mayWrite !== true,
    }
    const areVisible = await Promise.all(pageNames.map((page) => isVisible(page, caller)))
    return pageNames.filter((page, index) => areVisible[index] && !isQuiet[page])
  }

  async function isVisible(page: PageName, caller: Caller | null): Promise<boolean> {
    const visible = visibility[page]
    return typeof visible === 'function' ? visible(caller) : visible
  }

  /**
   * @throws {ForbiddenException} the page is not for this caller
   * @throws {NoTenantException} it is of an organisation, and the request has none
   */
  async function visitOf(page: PageName, request: FastifyRequest): Promise<PageVisit> {
    const caller = await findCaller(request)
    if (!(await isVisible(page, caller))) throw new ForbiddenException()
    const found = await tenantOf(request)
    const tenant = found && toPageTenant(found)
    const [linked, look] = await Promise.all([linkedPages(caller, found), lookOf(options, request)])
    if (page === 'tenant' && !tenant) throw new NoTenantException(look.texts.noTenant)
    if (page === 'tenant' && tenant && found?.mayWrite === false)
      throw new ForbiddenException(forbiddenText(tenant, look.texts))
    return { page, path: pathOf(request), caller, tenant, linked, look, options }
  }

  async function sendPage(
    page: PageName,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    // An Inertia client requested one of its pages: this page is not Inertia's and is loaded whole.
    if (request.headers['x-inertia'])
      return reply.code(409).header('x-inertia-location', request.originalUrl).send()
    const visit = await visitOf(page, request)
    const content = pageContent(visit, assets)
    const { layout } = options
    const html = layout ? await layout(request, content) : renderPage(visit, content)
    return sendHtml(reply, html, options.csp ?? (layout ? false : strictPolicy))
  }
}

function sendHtml(reply: FastifyReply, html: string, policy: string | false): FastifyReply {
  if (policy !== false) reply.header('content-security-policy', policy)
  return reply
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'same-origin')
    .type('text/html; charset=utf-8')
    .send(html)
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url
}

/** The settings pages: `app.register(settingsUi)`, where the gate and the settings plugin are. */
export const settingsUi = fp(settingsUiPlugin, {
  name: '@fastify-modular/settings-ui',
  fastify: supportedFastify,
})
