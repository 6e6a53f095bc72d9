/** Answers 503 to all but administrators while `system.maintenance_mode` is on; public routes stay open. */
import { ServiceUnavailableException } from '@fastify-modular/core'
import type { FastifyPluginAsync, onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { systemSettings } from './app-settings.ts'

/** The `Retry-After` of the answer, in seconds. */
const retryAfter = 120

const maintenancePlugin: FastifyPluginAsync = async (app) => {
  const refuse: onRequestHookHandler = function refuseDuringMaintenance(request, _reply, done) {
    const isPublic = request.admission?.by !== 'caller'
    if (isPublic || request.caller?.isAdmin || !app.settings.get(systemSettings.maintenanceMode))
      return done()
    done(new ServiceUnavailableException('Maintenance is going on. Please try again later.', retryAfter))
  }
  app.addHook('onRequest', refuse)
}

/** Register it after the gate, which knows the caller and whether the route is public. */
export const maintenance = fp(maintenancePlugin, { name: 'maintenance' })
