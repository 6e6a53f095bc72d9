/** The routes of the application that belong to no module. */
import fastifyStatic from '@fastify/static'
import { hasPermission, requireCaller } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import type { Assets } from './web/document.ts'

/** The components of settings-ui as pages of this application, within its own layout. */
export const settingsPages: FastifyPluginAsync = async (app) => {
  app.publicRoutes.default('signed-in')
  const schema = { hide: true }
  app.get('/inertia/settings', { schema }, (request, reply) => {
    const caller = requireCaller(request)
    const canUpdate = hasPermission(caller, 'Settings.Update')
    return reply.inertia('Settings/Manage', { canUpdate, isAdmin: caller.isAdmin })
  })
  app.get('/inertia/preferences', { schema }, (_request, reply) => reply.inertia('Settings/Me'))
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="3" width="26" height="26" rx="8" fill="#3b82f6"/></svg>'

/** Static files, the home page, the icon and the health check. */
export const ownRoutes: FastifyPluginAsync<{ assets: Assets }> = async (app, { assets }) => {
  await app.register(fastifyStatic, {
    root: assets.folder,
    prefix: '/static/',
    dotfiles: 'ignore',
    immutable: true, // the names of files carry hashes of their contents
    maxAge: '365d',
  })
  app.get('/', { schema: { hide: true } }, (request, reply) =>
    reply.inertia('Home', {}, { clearHistory: request.caller === null }),
  )
  app.get(
    '/favicon.ico', // browsers request it, whatever page they show
    { schema: { hide: true }, config: { access: 'public' } },
    (_request, reply) =>
      reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400').send(icon),
  )
  const health = {
    tags: ['operation'],
    operationId: 'getHealth',
    summary: 'Whether the application runs',
    response: { 200: Type.Object({ status: Type.Literal('ok') }) },
  }
  app.get('/health', { schema: health }, () => ({ status: 'ok' }))
}
