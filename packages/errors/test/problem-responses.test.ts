/** Problems of routes, by kind: what documents say, and whether routes keep to it. */
import {
  ConflictException,
  defineProblem,
  DomainException,
  NotFoundException,
  ValidationException,
} from '@fastify-modular/core'
import { problemResponses } from '@fastify-modular/errors'
import { watchProblems } from '@fastify-modular/errors/testing'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { createApp } from './support/app.js'

class OutOfCredit extends defineProblem({
  status: 409,
  code: 'OUT_OF_CREDIT',
  title: 'Out of credit',
  extensions: Type.Object({ balance: Type.Number() }),
}) {}

const poor = () => new OutOfCredit('You have 30.00.', { balance: 30 })

async function createShop(t: Test): Promise<FastifyInstance> {
  const { app } = await createApp(t, {
    after(it) {
      const response = problemResponses(
        it,
        ValidationException,
        NotFoundException,
        ConflictException,
        OutOfCredit,
      )
      it.get<{ Params: { what: string } }>('/buy/:what', { schema: { response } }, ({ params }) => {
        if (params.what === 'poor') throw poor()
        if (params.what === 'stale') throw new ConflictException('stale', { since: 'today' })
        if (params.what === 'wrong') throw new ValidationException({ what: ['is wrong'] })
        if (params.what === 'broken') throw new Error('broken')
        throw new NotFoundException('Thing', params.what)
      })
      it.get('/vague', { schema: { response: problemResponses(it, ConflictException) } }, () => {
        throw poor()
      })
      it.get('/open', { schema: { response: problemResponses(it, 409, ConflictException) } }, () => {
        throw poor()
      })
      for (const family of ['4xx', '4XX'] as const)
        it.get(
          `/family/${family}`,
          { schema: { response: { [family]: problemResponses(it, ConflictException)[409] } } },
          () => {
            throw new ConflictException('stale')
          },
        )
      it.get('/narrow', { schema: { response: problemResponses(it, ConflictException) } }, () => {
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
  const { 409: conflict, 404: missing } = problemResponses(
    app,
    NotFoundException,
    ConflictException,
    OutOfCredit,
    ConflictException,
  )
  const schema = (conflict.content['application/problem+json'].schema ?? {}) as {
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
  t.same(problemResponses(app, 409, OutOfCredit)[409].content['application/problem+json'].schema, {
    anyOf: [{ $ref: 'ProblemDetails#' }, schema.oneOf?.[1]],
  })
})

test('a status that is not an error, and a class that does not say what it is, are refused', async (t) => {
  const app = await createShop(t)
  class Unknown extends DomainException {}
  const code = 'FMOD_ERRORS_INVALID_RESPONSE'
  for (const status of [200, 399, 600, 404.5]) t.throws(() => problemResponses(app, status), { code })
  // @ts-expect-error -- it has no statics
  t.throws(() => problemResponses(app, 404, Unknown), { code, message: /the class Unknown/ })
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
  const check = watchProblems(app)
  for (const url of [
    '/buy/poor',
    '/buy/stale',
    '/buy/wrong',
    '/buy/other',
    '/buy/broken',
    '/open',
    '/nowhere',
  ])
    await app.inject(url)
  await other.inject('/vague')
  await app.inject('/family/4xx')
  await app.inject('/family/4XX')
  t.doesNotThrow(check)
  const checkAgain = watchProblems(app)
  await app.inject('/vague')
  await app.inject('/narrow')
  watchProblems(Fastify({ http2: true }))() // it compiles for every kind of server
  t.throws(checkAgain, {
    message: `GET /vague answered 409 OUT_OF_CREDIT, which its schema does not name
GET /narrow answered 404 NOT_FOUND, which its schema does not name`,
  })
})
