/** Liveness and readiness probes. */
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** From now on `/health/ready` answers 503, and every answer ends its connection, so that the next request goes elsewhere. */
    drain(): void
  }
}

const Status = <T extends string>(...statuses: readonly T[]) =>
  Type.Object({ status: Type.Union(statuses.map((status) => Type.Literal(status))) })

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

  const quiet = { logLevel: 'warn' } as const // they are asked every second
  for (const [url, operationId] of [
    ['/health', 'getHealth'],
    ['/health/live', 'getLiveness'],
  ] as const) {
    app.get(
      url,
      {
        ...quiet,
        schema: {
          tags: ['operation'],
          operationId,
          summary: 'Whether the process answers; restart it otherwise',
          response: { 200: Status('ok') },
        },
      },
      (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }),
    )
  }
  app.get(
    '/health/ready',
    {
      ...quiet,
      schema: {
        tags: ['operation'],
        operationId: 'getReadiness',
        summary:
          'Whether this instance should get requests; 503 while it stops, or knows no stored setting of a database that is down',
        response: { 200: Status('ok'), 503: Status('draining', 'unavailable') },
      },
    },
    (_request, reply) => {
      const { state, revision } = app.settings.status
      reply.header('cache-control', 'no-store')
      if (isDraining) return reply.code(503).send({ status: 'draining' })
      if (state === 'stale' && revision === 0) return reply.code(503).send({ status: 'unavailable' })
      return reply.send({ status: 'ok' })
    },
  )
}

export const health = fp(healthPlugin, { name: 'health' })
