/** The routes of the application that belong to no module. */
import { accentShades } from '@fastify-modular/settings-ui'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { appSettings } from './app-settings.ts'
import drawings from './web/drawings.json' with { type: 'json' }

const Accent = Type.Object({ file: Type.String({ pattern: '^[0-9a-fA-F]{6}\\.css$' }) })

/** The pages around settings and API documents, the style sheet of an accent, and the icon. */
export const ownRoutes: FastifyPluginAsyncTypebox<{ isDemo: boolean }> = async (app, { isDemo }) => {
  for (const page of ['manage', 'preferences'])
    app.get(`/settings/${page}`, { config: { access: 'signed-in' } }, (_request, reply) =>
      reply.inertia('Settings', { page, takesDrafts: isDemo && page === 'manage' }),
    )
  app.get('/api/docs', { config: { access: 'public' } }, (_request, reply) => reply.inertia('Api'))
  app.get('/openapi.json', () => app.swagger())

  app.get(
    '/accent/:file', // the colour is in the name, so that browsers keep it for ever
    { schema: { params: Accent }, config: { access: 'public' } },
    (request, reply) =>
      reply
        .type('text/css; charset=utf-8')
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(`:root{--fm-accent:${accentShades(`#${request.params.file.slice(0, 6)}`).token}}`),
  )
  app.get(
    '/favicon.ico', // browsers request it, whatever page they show
    { config: { access: 'public' } },
    (_request, reply) =>
      reply
        .type('image/svg+xml')
        .header('cache-control', 'public, max-age=3600')
        .send(
          `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="${drawings.tile}" fill="${app.settings.get(appSettings.primaryColor)}"/></svg>`,
        ),
  )
}
