/** Turns everybody but administrators away while `system.maintenance_mode` is on; public routes stay open. */
import { ServiceUnavailableException } from '@fastify-modular/core'
import type { FastifyPluginAsync, FastifyRequest, onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { systemSettings } from './app-settings.ts'

/** What `Retry-After` says, in seconds. */
const retryAfter = 120

const maintenancePlugin: FastifyPluginAsync = async (app) => {
  const isPublic = ({ method, url }: FastifyRequest) =>
    app.publicRoutes.matches(method, url.split('?', 1)[0] ?? url)
  const refuse: onRequestHookHandler = function refuseDuringMaintenance(request, _reply, done) {
    if (!app.settings.get(systemSettings.maintenanceMode) || request.caller?.isAdmin) return done()
    // The gate lets anonymous callers pass on public routes only: whoever is anonymous here is on one.
    if (!request.caller || isPublic(request)) return done()
    done(new ServiceUnavailableException('Maintenance is going on. Please try again later.', retryAfter))
  }
  app.addHook('onRequest', refuse)
}

/** Register it after the gate, so that the caller is known. */
export const maintenance = fp(maintenancePlugin, { name: 'maintenance' })
