/** Liveness and readiness probes. */
import type { FastifyPluginAsync } from 'fastify'

/** No route asks the database: it is shared, and instances that all leave the balancer at once serve nobody. */
export const health: FastifyPluginAsync = async (app) => {
  // Asked every second, by balancers and supervisors alone.
  const quiet = { logLevel: 'warn', config: { access: 'public' } } as const
  // Whether the process answers; restart it otherwise.
  for (const url of ['/health', '/health/live']) app.get(url, quiet, async () => ({ status: 'ok' }))
  // Whether this instance should get requests: not while it knows no stored setting of a database that is down.
  app.get('/health/ready', quiet, async (_request, reply) => {
    const { state, revision } = app.settings.status
    if (state === 'stale' && revision === 0) return reply.code(503).send({ status: 'unavailable' })
    return { status: 'ok', settings: state } // stale: the database does not answer, or does not announce changes
  })
}
