/** The module of dead letters: events that a handler could not handle, for administrators to retry or to drop. */
import { defineModule, NotFoundException } from '@fastify-modular/core'
import { problemResponses } from '@fastify-modular/errors'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

const DeadLetter = Type.Object({
  id: Type.String(),
  type: Type.String(),
  handler: Type.String(),
  attempts: Type.Integer(),
  error: Type.String(),
  failedAt: Type.String({ format: 'date-time' }),
})
export type DeadLetter = Static<typeof DeadLetter>

const params = Type.Object({ id: Type.String({ maxLength: 300 }) })
const tags = ['events']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/dead-letters', async (_request, reply) =>
    reply.inertia('DeadLetters/Index', { deadLetters: await list(app) }),
  )

  app.get(
    '/api/dead-letters',
    {
      schema: {
        tags,
        operationId: 'listDeadLetters',
        summary: 'Events that a handler could not handle, oldest first, for administrators',
        response: { 200: Type.Array(DeadLetter), ...problemResponses(app, 401, 403, 503) },
      },
    },
    () => list(app),
  )

  app.post(
    '/api/dead-letters/:id/retry',
    {
      schema: {
        tags,
        operationId: 'retryDeadLetter',
        summary: 'Deliver it again, with all its attempts',
        params,
        response: { 204: Type.Null(), ...problemResponses(app, 400, 401, 403, 404, 503) },
      },
    },
    async ({ params: { id } }, reply) => {
      if (!(await app.events.deadLetters?.replay(id))) throw new NotFoundException('Dead letter', id)
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/api/dead-letters/:id',
    {
      schema: {
        tags,
        operationId: 'dropDeadLetter',
        summary: 'Delete it for good',
        params,
        response: { 204: Type.Null(), ...problemResponses(app, 400, 401, 403, 404, 503) },
      },
    },
    async ({ params: { id } }, reply) => {
      if (!(await app.events.deadLetters?.discard(id))) throw new NotFoundException('Dead letter', id)
      return reply.code(204).send(null)
    },
  )
}

async function list({ events: { deadLetters } }: FastifyInstance): Promise<DeadLetter[]> {
  const letters = (await deadLetters?.list()) ?? []
  return letters.map(({ id, type, handler, attempts, error, failedAt }) => {
    return { id, type, handler, attempts, error, failedAt: new Date(failedAt).toISOString() }
  })
}

export const deadLettersModule = defineModule({
  name: 'dead-letters',
  permissions: {
    'DeadLetters.Manage': {
      displayName: 'Manage dead letters',
      description: 'See events that could not be handled, retry or drop them.',
    },
  },
  access: 'DeadLetters.Manage',
  plugin: routes,
})
