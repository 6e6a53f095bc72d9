import { test } from 'tap'
import { ConflictException } from '@fastify-modular/core'
import { problemResponses } from '@fastify-modular/errors'
import { problemDetailsSchema, validationProblemDetailsSchema } from '#src/schemas.js'
import { standardMembers } from '@fastify-modular/core/problem'
import { createApp } from './support/app.js'
import { generic, problemOf } from './support/expect.js'

test('E67: a response schema of the route cannot filter or break a problem', async (t) => {
  const fail = () => {
    throw new ConflictException('stale')
  }
  const narrow = { type: 'object', properties: { only: { type: 'string' } } }
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .get('/filters', { schema: { response: { '4xx': narrow } } }, fail)
        .get('/requires', { schema: { response: { '4xx': { ...narrow, required: ['only'] } } } }, fail)
        .get('/default', { schema: { response: { default: narrow } } }, fail),
  })
  for (const url of ['/filters', '/requires', '/default']) {
    t.equal(problemOf(t, await app.inject(url), 409, 'Conflict').detail, 'stale', url)
  }
})

test('E68: an answer that its own schema refuses is 500', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .get(
          '/required',
          { schema: { response: { 200: { type: 'object', required: ['must'], properties: { must: {} } } } } },
          async () => ({ secret: 1 }),
        )
        .get('/bigint', async () => ({ n: 1n }))
        .get('/circular', async () => {
          const value: Record<string, unknown> = {}
          value['self'] = value
          return value
        })
        .get('/type', async (_, reply) => reply.type('text/plain').send({} as never))
        .get('/status', async (_, reply) => reply.code(700).send('x')),
  })
  for (const url of ['/required', '/bigint', '/circular', '/type', '/status']) {
    const answer = await app.inject(url)
    t.equal(problemOf(t, answer, 500).detail, generic, url)
    t.notMatch(answer.body, /must|BigInt|circular structure|700/)
  }
})

test('E86: problemResponses documents problem+json by reference to the shared schemas', async (t) => {
  const { app } = await createApp(t)
  t.same(problemResponses(app, 400, 404), {
    400: {
      description: 'Bad Request',
      content: { 'application/problem+json': { schema: { $ref: 'ValidationProblemDetails#' } } },
    },
    404: {
      description: 'Not Found',
      content: { 'application/problem+json': { schema: { $ref: 'ProblemDetails#' } } },
    },
  })
  t.same(Object.keys(app.getSchemas()), [problemDetailsSchema.$id, validationProblemDetailsSchema.$id])
})

test('the schema of a problem describes every member of the body, in its order', async (t) => {
  t.same(Object.keys(problemDetailsSchema.properties), [...standardMembers])
})
