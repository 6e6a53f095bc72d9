/** Answers 503 to all but administrators while `system.maintenance_mode` is on; public routes stay open. */
import { type Caller, ServiceUnavailableException } from '@fastify-modular/core'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { systemSettings } from './app-settings.ts'

/** The `Retry-After` of the answer, in seconds. */
const retryAfter = 120

/** What this caller is answered for the time being; undefined: the application is open. */
export function refusalOf(
  { settings }: FastifyInstance,
  caller: Caller | null,
): ServiceUnavailableException | undefined {
  if (caller?.isAdmin || !settings.get(systemSettings.maintenanceMode)) return undefined
  return new ServiceUnavailableException(
    `Maintenance is going on: only administrators get in. Please try again in ${retryAfter / 60} minutes.`,
    retryAfter,
  )
}

const maintenancePlugin: FastifyPluginAsync = async (app) => {
  app.addHook('onRequest', function refuseDuringMaintenance(request, _reply, done) {
    const isPublic = request.admission?.by !== 'caller'
    done(isPublic ? undefined : refusalOf(app, request.caller))
  })
}

/** Register it after the gate, which knows the caller and whether the route is public. */
export const maintenance = fp(maintenancePlugin, { name: 'maintenance' })
