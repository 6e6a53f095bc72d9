/** Liveness and readiness probes. */
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** From now on `/health/ready` answers 503, and every answer ends its connection, so that the next request goes elsewhere. */
    drain(): void
  }
}

/** No route asks the database: it is shared, and instances that all leave the balancer at once serve nobody. */
const healthPlugin: FastifyPluginAsync = async (app) => {
  let isDraining = false
  app.decorate('drain', () => {
    isDraining = true
    app.log.info({ audit: 'app.drain' }, 'the application answers until balancers have noticed that it stops')
  })
  app.addHook('onSend', function endConnection(_request, reply, payload, done) {
    if (isDraining) reply.header('connection', 'close')
    done(null, payload)
  })

  // Asked every second, by balancers and supervisors alone.
  const quiet = { logLevel: 'warn', config: { access: 'public' } } as const
  // Whether the process answers; restart it otherwise.
  for (const url of ['/health', '/health/live'])
    app.get(url, quiet, (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }))
  // Whether this instance should get requests: not while it stops, or knows no stored setting of a database that is down.
  app.get('/health/ready', quiet, (_request, reply) => {
    const { state, revision } = app.settings.status
    reply.header('cache-control', 'no-store')
    if (isDraining) return reply.code(503).send({ status: 'draining' })
    if (state === 'stale' && revision === 0) return reply.code(503).send({ status: 'unavailable' })
    return reply.send({ status: 'ok', settings: state }) // stale: the database does not answer, or does not announce changes
  })
}

export const health = fp(healthPlugin, { name: 'health' })
