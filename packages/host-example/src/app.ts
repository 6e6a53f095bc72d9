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
import { appSettings, groups, systemSettings, userSettings } from './app-settings.ts'
import { accountsIn } from './accounts.ts'
import { audit } from './audit.ts'
import type { HostConfig } from './config.ts'
import { openDatabase } from './database/open-database.ts'
import { demoAccounts, seedAccounts } from './first-accounts.ts'
import { health } from './health.ts'
import { home } from './home.ts'
import { maintenance, refusalOf } from './maintenance.ts'
import { mailModule } from './modules/mail/mail-module.ts'
import { notesModule } from './modules/notes/notes-module.ts'
import { ownRoutes } from './own-routes.ts'
import { sessionsIn } from './session-store.ts'
import { addSessions, type SignIn, sessionProvider, signInRoutes } from './sign-in.ts'
import { localeOf } from './texts/texts.ts'
import { locales, translate, translateGroup } from './texts/translate.ts'
import { addApiDocs } from './web/api-docs.ts'
import { addCompression } from './web/compression.ts'
import { createRootTemplate, readAssets } from './web/document.ts'
import { readLook } from './web/look.ts'
import { securityHeaders } from './web/security-headers.ts'
import { readSharedProps, toUser } from './web/shared-props.ts'

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** What the command line passes. */
interface Opening {
  /** The name of the command that opens the application. Nothing is changed by itself then. */
  readonly command?: string
}

/**
 * The application, ready to listen.
 * @throws {Error} the database cannot be opened, or the front end is not built
 */
export async function createApp(config: HostConfig, opening: Opening = {}): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify({
    logger: { level: config.logLevel },
    trustProxy: config.trustProxy,
    requestTimeout: 30_000, // a client that sends slowly cannot hold a connection for ever
    // What a client sends is what is checked: no text becomes a number, no unknown member disappears.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    ...createErrorServerOptions(),
  })
  try {
    await build(app, config, opening)
    await app.ready()
  } catch (error) {
    await app.close()
    throw error
  }
  return app
}

async function build(app: FastifyInstance, config: HostConfig, { command }: Opening): Promise<void> {
  await app.register(audit)
  const assets = readAssets(folder('./public'))
  const warn = (err: Error): void => app.log.warn({ err }, 'a connection broke')
  const database = await openDatabase(config.database, warn, command)
  app.addHook('onClose', () => database.close()) // the first hook runs last: everything else may still write
  const accounts = accountsIn(database.query)
  if (command === undefined) await seedAccounts(accounts, config.accounts)
  const isDemo = config.accounts.kind === 'demo'
  const signIn: SignIn = {
    ...accounts,
    async check(user, password) {
      const caller = await accounts.check(user, password)
      const refusal = caller && refusalOf(app, caller)
      if (refusal) throw refusal
      return caller
    },
  }

  await addCompression(app)
  app.addHook('onSend', securityHeaders(config.isProduction))
  // errors → publicRoutes → inertia → events → settings → settingsUi → modules → the application's own routes
  await app.register(errors, { pages: 'browsers', errorPage: folder('../wwwroot/error.html') })
  await addSessions(app, { secret: config.sessionSecret, store: sessionsIn(database.query) })
  await app.register(publicRoutes, {
    provider: sessionProvider(signIn),
    csrf: true, // sessions are cookies: refuses writes from other origins
    undeclared: 'refuse', // a route that does not say who may call it stops the boot
  })
  await app.register(inertia, {
    version: assets.version,
    rootTemplate: await createRootTemplate(assets),
    share: readSharedProps,
    flash: cookieFlash({ secret: config.sessionSecret }), // keeps what was typed where input is refused
    encryptHistory: true,
  })
  await app.register(fastifyStatic, {
    root: assets.folder,
    prefix: '/static/',
    dotfiles: 'ignore',
    immutable: true, // the names of files carry hashes of their contents
    maxAge: '365d',
    preCompressed: true,
  })
  await addApiDocs(app)
  await app.register(health)
  await app.register(events, { transport: database.eventTransport })
  await app.register(settings, {
    definitions: [appSettings, userSettings, systemSettings],
    groups,
    store: database.settingsStore,
    findPeople: accounts.names,
    translate,
    translateGroup,
    locales,
    selfService: true, // users change their own preferences without the right to change the application
  })
  await app.register(ofrep)
  await app.register(settingsUi, {
    documents: false, // the pages around them are this application's
    selfService: true,
    locale: async (request) => localeOf(await readLook(request)),
    theme: { setting: userSettings.theme.key },
    preview: {
      [appSettings.title.key]: 'title',
      [appSettings.logo.key]: { slot: 'logo', values: {} }, // drawn by the page
      [appSettings.primaryColor.key]: 'accent',
      [appSettings.banner.key]: 'banner',
      [userSettings.theme.key]: 'theme',
      [userSettings.density.key]: 'density',
    },
  })
  await app.register(maintenance)
  await app.register(modules, {
    modules: [notesModule(database, accounts), mailModule(database, accounts)],
  })
  await app.register(signInRoutes, {
    signIn,
    page: (reply, form) =>
      reply.inertia(
        'SignIn',
        { form, demoAccounts: isDemo ? demoAccounts.map(toUser) : [] },
        { clearHistory: true }, // Back shows the next person nothing of the one before
      ),
  })
  await app.register(home, { database, accounts, isDemo })
  await app.register(ownRoutes, { isDemo })
}
