/** Problems of routes, by kind: what documents say, and whether routes keep to it. */
import { ConflictException, NotFoundException, ValidationException } from '@fastify-modular/core'
import { problemsOf } from '@fastify-modular/errors'
import { assertProblems } from '@fastify-modular/errors/testing'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { createApp } from './support/app.js'

declare module '@fastify-modular/errors' {
  interface ProblemTypes {
    'out-of-credit': { balance: number }
  }
}

async function createShop(t: Test): Promise<FastifyInstance> {
  const { app } = await createApp(t, {
    after(it) {
      it.problems.define('out-of-credit', {
        status: 409,
        title: 'Out of credit',
        detail: ({ balance }) => `You have ${balance.toFixed(2)}.`,
        properties: { balance: { type: 'number' } },
      })
      const response = problemsOf(it, 'validation', 'not-found', 'conflict', 'out-of-credit')
      it.get<{ Params: { what: string } }>('/buy/:what', { schema: { response } }, ({ params }, reply) => {
        if (params.what === 'poor') return reply.problem('out-of-credit', { balance: 30 })
        if (params.what === 'stale') throw new ConflictException('stale', { since: 'today' })
        if (params.what === 'wrong') throw new ValidationException({ what: ['is wrong'] })
        if (params.what === 'broken') throw new Error('broken')
        throw new NotFoundException('Thing', params.what)
      })
      it.get('/vague', { schema: { response: problemsOf(it, 'conflict') } }, (_, reply) =>
        reply.problem('out-of-credit', { balance: 30 }),
      )
      for (const family of ['4xx', '4XX'] as const)
        it.get(
          `/family/${family}`,
          { schema: { response: { [family]: problemsOf(it, 'conflict')[409] } } },
          () => {
            throw new ConflictException('stale')
          },
        )
      it.get('/narrow', { schema: { response: problemsOf(it, 'conflict') } }, () => {
        throw new NotFoundException('Thing', 1)
      })
      // Fastify's own validator holds bodies against the documented schemas.
      for (const [status, { content }] of Object.entries(response))
        it.post(
          `/check/${status}`,
          { schema: { body: content['application/problem+json'].schema } },
          () => 'fits',
        )
    },
  })
  return app
}

test('several problems of one status are told apart by their codes, with their extensions', async (t) => {
  const app = await createShop(t)
  const { 409: conflict, 404: missing } = problemsOf(app, 'not-found', 'conflict', 'out-of-credit')
  const schema = (conflict?.content['application/problem+json'].schema ?? {}) as {
    oneOf?: { properties: object }[]
  }
  t.match(schema.oneOf, [
    { properties: { code: { enum: ['CONFLICT'] }, type: { enum: ['urn:problem:conflict'] } } },
    {
      properties: { code: { enum: ['OUT_OF_CREDIT'] }, status: { enum: [409] }, balance: { type: 'number' } },
    },
  ])
  t.match(missing, {
    description: 'Not Found',
    content: { 'application/problem+json': { schema: { properties: {} } } },
  })
  t.throws(() => problemsOf(app, 'no-such' as 'conflict'), { code: 'FMOD_ERRORS_UNKNOWN_PROBLEM' })
})

for (const [what, status, extension] of [
  ['poor', 409, { balance: 30 }],
  ['stale', 409, { since: 'today' }],
  ['wrong', 400, { errors: { what: ['is wrong'] } }],
  ['other', 404, {}],
] as const) {
  test(`a documented problem keeps all of its members, and fits its schema: ${what}`, async (t) => {
    const app = await createShop(t)
    const answer = await app.inject(`/buy/${what}`)
    t.equal(answer.statusCode, status)
    t.match(answer.json(), extension)
    const url = `/check/${status}`
    t.equal((await app.inject({ method: 'POST', url, payload: answer.json() })).body, 'fits')
    const wrong = { ...answer.json(), code: 'OTHER' }
    t.equal((await app.inject({ method: 'POST', url, payload: wrong })).statusCode, 400)
  })
}

test('a problem that a route does not document fails the test of the application', async (t) => {
  const app = await createShop(t)
  const other = await createShop(t)
  const check = assertProblems(app)
  for (const url of ['/buy/poor', '/buy/stale', '/buy/wrong', '/buy/other', '/buy/broken', '/nowhere'])
    await app.inject(url)
  await other.inject('/vague')
  await app.inject('/family/4xx')
  await app.inject('/family/4XX')
  t.doesNotThrow(check)
  const checkAgain = assertProblems(app)
  await app.inject('/vague')
  await app.inject('/narrow')
  assertProblems(Fastify({ http2: true }))() // it compiles for every kind of server
  t.throws(checkAgain, {
    message: `GET /vague answered 409 OUT_OF_CREDIT, which its schema does not name
GET /narrow answered 404 NOT_FOUND, which its schema does not name`,
  })
})
