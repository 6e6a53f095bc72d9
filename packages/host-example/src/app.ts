/** The application, put together: the one file to read to see what there is. */
import { fileURLToPath } from 'node:url'
import { events, modules } from '@fastify-modular/core'
import { createErrorServerOptions, errors } from '@fastify-modular/errors'
import { cookieFlash, inertia } from '@fastify-modular/inertia'
import { publicRoutes } from '@fastify-modular/public-routes'
import { settings } from '@fastify-modular/settings'
import { ofrep } from '@fastify-modular/settings/openfeature'
import { settingsUi } from '@fastify-modular/settings-ui'
import fastifyStatic from '@fastify/static'
import Fastify, { type FastifyInstance } from 'fastify'
import { appSettings, systemSettings, userSettings } from './app-settings.ts'
import { audit } from './audit.ts'
import { createAccountStore, demoNames, seedAccounts } from './auth/accounts.ts'
import { hashOfNobody } from './auth/passwords.ts'
import { addSessions, createSessionStore, sessionProvider } from './auth/sessions.ts'
import { signInRoutes } from './auth/sign-in-routes.ts'
import type { HostConfig } from './config.ts'
import { demoWeek } from './demo-week.ts'
import { openDatabase } from './database/open-database.ts'
import { health } from './health.ts'
import { home } from './home.ts'
import { maintenance } from './maintenance.ts'
import { deadLettersModule } from './modules/dead-letters/dead-letters-module.ts'
import { faultsModule } from './modules/faults/faults-module.ts'
import { mailModule } from './modules/mail/mail-module.ts'
import { notesModule } from './modules/notes/notes-module.ts'
import { ownRoutes, settingsPages } from './own-routes.ts'
import { locales, translate } from './texts/translate.ts'
import { createSharedProps } from './web/shared-props.ts'
import { apiDocs } from './web/api-docs.ts'
import { addCompression } from './web/compression.ts'
import { createDocument, createRootTemplate, readAssets } from './web/document.ts'
import { securityHeaders } from './web/security-headers.ts'
import { settingsPagesLook } from './web/settings-pages-look.ts'

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/**
 * The application, ready to listen.
 * @throws {Error} the database cannot be opened, or the front end is not built
 */
export async function createApp(config: HostConfig): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify({
    logger: { level: config.logLevel },
    trustProxy: config.trustProxy,
    requestTimeout: 30_000, // a client that sends slowly cannot hold a connection for ever
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
  await app.register(audit)
  const assets = readAssets(folder('./public'))
  const document = createDocument(assets)
  const database = await openDatabase(config.database, (err) => app.log.warn({ err }, 'a connection broke'))
  app.addHook('onClose', () => database.close()) // the first hook runs last: everything else may still write
  const accounts = createAccountStore(database)
  await Promise.all([seedAccounts(accounts, config.accounts), hashOfNobody()])
  const sessions = createSessionStore(database)
  const isSecure = config.isProduction
  const isDemo = config.accounts.kind === 'demo'
  const people: ReadonlyMap<string, string> = isDemo ? demoNames : new Map()

  await addCompression(app)
  app.addHook('onSend', securityHeaders(isSecure))
  // errors → publicRoutes → inertia → events → settings → settingsUi → modules → the application's own routes
  await app.register(errors, { pages: 'browsers', errorPage: folder('../wwwroot/error.html') })
  await addSessions(app, { sessions, secret: config.sessionSecret, isSecure })
  await app.register(publicRoutes, {
    provider: sessionProvider,
    csrf: true, // sessions are cookies: refuses writes from other origins
    undeclared: 'refuse', // a route that does not say who may call it stops the boot
  })
  await app.register(inertia, {
    version: assets.version,
    rootTemplate: createRootTemplate(assets, document),
    share: createSharedProps(app),
    flash: cookieFlash({ secret: config.sessionSecret }), // keeps what was typed where input is refused
    encryptHistory: true, // Back shows the next person nothing of the one before
  })
  await app.register(fastifyStatic, {
    root: assets.folder,
    prefix: '/static/',
    dotfiles: 'ignore',
    immutable: true, // the names of files carry hashes of their contents
    maxAge: '365d',
    preCompressed: true,
  })
  await app.register(apiDocs, { style: assets.docsStyle })
  await app.register(health)
  await app.register(events, { transport: database.eventTransport })
  await app.register(settings, {
    definitions: [appSettings, userSettings, systemSettings],
    store: database.settingsStore,
    findPeople: async () => Object.fromEntries(people),
    translate,
    locales,
    selfService: true, // users change their own preferences without the right to change the application
  })
  await app.register(ofrep)
  await app.register(settingsUi, {
    ...settingsPagesLook(app, document),
    selfService: true,
  })
  await app.register(settingsPages)
  await app.register(maintenance)
  await app.register(modules, {
    modules: [
      notesModule(database),
      mailModule(database),
      deadLettersModule,
      ...(isDemo ? [faultsModule] : []),
    ],
  })
  await app.register(signInRoutes, { accounts, sessions, database, isSecure, isDemo, document })
  await app.register(home, { database, people })
  await app.register(ownRoutes)
  if (config.hasDemoWeek) await app.register(demoWeek, { database })
}
