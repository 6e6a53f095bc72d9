/** The settings pages once more, as pages of this application: the components of settings-ui within its own layout. */
import { hasPermission } from '@fastify-modular/core'
import type { FastifyPluginAsync } from 'fastify'
import { callerOf } from '../auth/caller-of.ts'

export const settingsPages: FastifyPluginAsync = async (app) => {
  const schema = { hide: true }
  app.get('/inertia/settings', { schema }, (request, reply) => {
    const caller = callerOf(request)
    const canUpdate = hasPermission(caller, 'Settings.Update')
    return reply.inertia('Settings/Manage', { canUpdate, isAdmin: caller.isAdmin })
  })
  app.get('/inertia/preferences', { schema }, (_request, reply) => reply.inertia('Settings/Me'))
}
