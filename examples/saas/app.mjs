// What the web process and the worker share: one database for data, settings and events, and the gate before all routes.
import { events } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { errors, mapDatabaseConflicts } from '@fastify-modular/errors'
import { publicRoutes } from '@fastify-modular/public-routes'
import { settings } from '@fastify-modular/settings'
import { ofrep, openFeatureProvider } from '@fastify-modular/settings/openfeature'
import { postgres } from '@fastify-modular/settings/postgres'
import { OpenFeature } from '@openfeature/server-sdk'
import Fastify from 'fastify'
import pg from 'pg'
import { createTables } from './database.mjs'
import { addTokens, organisationOf, tokenProvider } from './people.mjs'
import * as definitions from './settings.mjs'

/** Returns the application before its modules, and its pool. `expects` names handlers that another process has. */
export async function createApp(expects = {}) {
  const app = Fastify({ logger: true })
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
  pool.on('error', (error) => app.log.warn(error, 'an idle connection was lost'))
  app.addHook('onClose', () => pool.end()) // close hooks run in reverse: the first one runs last
  await createTables(pool)
  await app.register(errors)
  mapDatabaseConflicts(app.problems) // who is a member already is 409
  await addTokens(app, process.env.JWT_SECRET)
  await app.register(publicRoutes, {
    provider: tokenProvider(pool),
    permissions: { 'Plans.Edit': 'Change plans' },
    csrf: true, // a token may come in a cookie
    undeclared: 'refuse',
  })
  await app.register(events, { transport: pgBoss({ pool }), expects })
  await app.register(settings, {
    definitions: Object.values(definitions),
    store: postgres({ pool }),
    selfService: true, // people set their own preferences
    tenants: { of: organisationOf },
  })
  await app.register(ofrep)
  app.addHook('onReady', () => OpenFeature.setProviderAndWait(openFeatureProvider(app)))
  process.once('SIGTERM', () => void app.close())
  return { app, pool }
}
