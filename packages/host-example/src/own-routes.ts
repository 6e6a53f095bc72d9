/** The routes of the application that belong to no module. */
import { hasPermission, requireCaller } from '@fastify-modular/core'
import { accentShades } from '@fastify-modular/settings-ui'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import { appSettings } from './app-settings.ts'
import { logoTile } from './web/drawings.ts'

/** The components of settings-ui as pages of this application, within its own layout. */
export const settingsPages: FastifyPluginAsync = async (app) => {
  const options = { schema: { hide: true }, config: { access: 'signed-in' } }
  app.get('/inertia/settings', options, (request, reply) => {
    const caller = requireCaller(request)
    const canUpdate = hasPermission(caller, 'Settings.Update')
    return reply.inertia('Settings/Manage', { canUpdate, isAdmin: caller.isAdmin === true })
  })
  app.get('/inertia/preferences', options, (_request, reply) => reply.inertia('Settings/Me'))
}

const Accent = Type.Object({ file: Type.String({ pattern: '^[0-9a-fA-F]{6}\\.css$' }) })

/** The style sheet of an accent, and the icon. */
export const ownRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/accent/:file', // the colour is in the name, so that browsers keep it for ever
    { schema: { hide: true, params: Accent }, config: { access: 'public' } },
    (request, reply) =>
      reply
        .type('text/css; charset=utf-8')
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(`:root{--fm-accent:${accentShades(`#${request.params.file.slice(0, 6)}`).token}}`),
  )
  app.get(
    '/favicon.ico', // browsers request it, whatever page they show
    { schema: { hide: true }, config: { access: 'public' } },
    (_request, reply) =>
      reply
        .type('image/svg+xml')
        .header('cache-control', 'public, max-age=3600')
        .send(
          `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="${logoTile}" fill="${app.settings.get(appSettings.primaryColor)}"/></svg>`,
        ),
  )
}
