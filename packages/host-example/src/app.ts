/** The application, put together: the one file to read to see what there is. */
import { fileURLToPath } from 'node:url'
import cookie from '@fastify/cookie'
import fastifyStatic from '@fastify/static'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { events, modules } from '@fastify-modular/core'
import { createErrorServerOptions, errors } from '@fastify-modular/errors'
import { inertia } from '@fastify-modular/inertia'
import { publicRoutes } from '@fastify-modular/public-routes'
import { settings } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance } from 'fastify'
import { createAccountStore } from './auth/accounts.ts'
import { loginRoutes } from './auth/login-routes.ts'
import { hashOfNobody } from './auth/passwords.ts'
import { seedAccounts } from './auth/seed-accounts.ts'
import { createSessionCookie } from './auth/session-cookie.ts'
import { createSessionProvider } from './auth/session-provider.ts'
import { createSessionStore } from './auth/sessions.ts'
import { createThrottle } from './auth/throttle.ts'
import type { HostConfig } from './config.ts'
import { openDatabase } from './database/open-database.ts'
import { faultsModule } from './modules/faults/faults-module.ts'
import { mailModule } from './modules/mail/mail-module.ts'
import { notesModule } from './modules/notes/notes-module.ts'
import { appSettings, systemSettings, userSettings } from './settings/app-settings.ts'
import { maintenance } from './settings/maintenance.ts'
import { readAssets } from './web/assets.ts'
import { createDocument, createRootTemplate } from './web/document.ts'
import { openapi } from './web/openapi.ts'
import { securityHeaders } from './web/security-headers.ts'
import { createSharedProps } from './web/shared-props.ts'

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/**
 * The application, ready to listen.
 * @throws {Error} the database cannot be opened, or the front end is not built
 */
export async function createApp(config: HostConfig): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify({
    logger: { level: config.logLevel },
    trustProxy: config.trustProxy,
    // What a client sends is what is checked: no text becomes a number, no unknown member disappears.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    ...createErrorServerOptions(),
  })
  try {
    await build(app, config)
    await app.ready()
  } catch (error) {
    await app.close()
    throw error
  }
  return app
}

async function build(app: FastifyInstance, config: HostConfig): Promise<void> {
  const assets = readAssets(folder('./public'))
  const database = await openDatabase(config.database, (err) => app.log.warn({ err }, 'a connection broke'))
  app.addHook('onClose', () => database.close()) // the first hook runs last: everything else may still write

  const accounts = createAccountStore(database)
  const sessions = createSessionStore(database)
  const sessionCookie = createSessionCookie(config.isProduction)
  const isDemo = config.accounts.kind === 'demo'
  await Promise.all([seedAccounts(accounts, config.accounts), hashOfNobody()])

  const document = createDocument(assets)
  app.addHook('onSend', securityHeaders)
  await app.register(errors, { pagesForBrowsers: true, errorPage: folder('../wwwroot/error.html') })
  await app.register(cookie, { secret: config.sessionSecret })
  await app.register(publicRoutes, {
    provider: createSessionProvider(sessions, sessionCookie),
    crossOrigin: true,
  })
  await app.register(inertia, {
    version: assets.version,
    rootTemplate: createRootTemplate(assets, document),
    share: createSharedProps(app),
  })
  await app.register(swagger, openapi)
  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    staticCSP: true,
    // Swagger UI sets styles while it runs; scripts stay restricted.
    transformStaticCSP: (policy) => policy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'"),
  })
  await app.register(events)
  await app.register(settings, {
    definitions: [appSettings, userSettings, systemSettings],
    store: database.settingsStore,
    // Everybody keeps preferences of their own, without the right to change the application.
    ownWrites: 'authenticated',
  })
  await app.register(maintenance)
  await app.register(modules, {
    modules: [notesModule(database), mailModule(database), ...(config.isProduction ? [] : [faultsModule])],
  })

  await app.register(fastifyStatic, {
    root: assets.folder,
    prefix: '/static/',
    dotfiles: 'ignore',
    immutable: true,
    maxAge: '365d',
  })
  await app.register(loginRoutes, {
    accounts,
    sessions,
    cookie: sessionCookie,
    throttle: createThrottle(),
    document,
    isDemo,
  })
  app.get('/', { schema: { hide: true } }, (_request, reply) => reply.inertia('Home'))
  app.get('/health', { schema: { tags: ['operation'], summary: 'Whether the application runs' } }, () => ({
    status: 'ok',
  }))
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
}
