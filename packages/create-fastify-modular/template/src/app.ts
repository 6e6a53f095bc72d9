/** The application, put together: the one file to read to see what there is. */
import { events, modules } from '@fastify-modular/core'
import { createErrorServerOptions, errors } from '@fastify-modular/errors'
import { publicRoutes } from '@fastify-modular/public-routes'
import { settings, type SettingsStore } from '@fastify-modular/settings'
import { settingsUi } from '@fastify-modular/settings-ui'
import type { SessionStore } from '@fastify/session'
import Fastify, { type FastifyInstance } from 'fastify'
import { addCompression } from './compression.ts'
import { health } from './health.ts'
import { home } from './home.ts'
import { notesModule } from './notes.ts'
import { securityHeaders, signInPage } from './page.ts'
import { addSessions, sessionProvider, type SignIn, signInRoutes } from './sign-in.ts'

export interface AppOptions {
  readonly store: SettingsStore
  readonly signIn: SignIn
  /** At least 32 characters. */
  readonly sessionSecret: string
  /** Where sessions are kept. @default the memory of this process */
  readonly sessions?: SessionStore
  /** Addresses of the proxies in front, whose `X-Forwarded-*` are believed. @default none */
  readonly trustProxy?: string
  readonly logLevel: string
}

/** The application, ready to listen or to be tested. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify({
    logger: { level: options.logLevel, stream: process.stdout }, // in the order of what main.ts prints
    trustProxy: options.trustProxy ?? false,
    requestTimeout: 30_000, // a client that sends slowly cannot hold a connection for ever
    ...createErrorServerOptions(),
  })
  await addCompression(app)
  app.addHook('onSend', securityHeaders)
  // errors → publicRoutes → inertia → events → settings → settingsUi → modules → the application's own routes
  await app.register(errors, { pages: 'browsers' })
  await addSessions(app, { secret: options.sessionSecret, store: options.sessions })
  await app.register(publicRoutes, {
    provider: sessionProvider(options.signIn),
    csrf: true, // sessions are cookies: refuses writes from other origins
    undeclared: 'refuse', // a route that does not say who may call it stops the boot
  })
  await app.register(health)
  await app.register(events)
  await app.register(settings, { store: options.store, selfService: true })
  await app.register(settingsUi, { title: 'my-app', logout: '/logout', selfService: true })
  await app.register(modules, { modules: [notesModule()] })
  await app.register(signInRoutes, { signIn: options.signIn, page: signInPage })
  await app.register(home)
  return app
}
