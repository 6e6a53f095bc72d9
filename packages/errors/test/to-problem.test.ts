import createError from '@fastify/error'
import fc from 'fast-check'
import { test } from 'tap'
import { DomainException, NotFoundException } from '@fastify-modular/core'
import { toProblem } from '@fastify-modular/errors'
import { hostileValues } from './support/hostile.js'

test('toProblem is pure: workers and tests get what requests get', (t) => {
  t.same(toProblem(new NotFoundException('Product', 42)), {
    type: 'urn:problem:not-found',
    title: 'Resource not found',
    status: 404,
    detail: 'Product with ID 42 not found',
    code: 'NOT_FOUND',
  })
  const { type } = toProblem(new NotFoundException('Product', 42), {
    typeBase: 'https://example.com/problems/',
  })
  t.equal(type, 'https://example.com/problems/not-found')
  t.end()
})

test('any thrown value becomes a problem that reveals nothing of it', (t) => {
  for (const [name, make] of Object.entries(hostileValues)) {
    const { status, type, title, detail } = toProblem(make())
    t.same([status, type, title], [500, 'about:blank', 'Internal Server Error'], name)
    t.notMatch(detail, 'secret')
  }
  t.end()
})

test('any value at all becomes a whole problem with an error status', (t) => {
  const status = fc.oneof(fc.integer({ min: -1, max: 1000 }), fc.double(), fc.string(), fc.anything())
  const errorLike = fc.record(
    {
      statusCode: status,
      status,
      message: fc.anything(),
      code: fc.anything(),
      expose: fc.anything(),
      headers: fc.anything(),
      validation: fc.anything(),
      validationContext: fc.anything(),
      response: fc.anything(),
    },
    { requiredKeys: [] },
  )
  const property = fc.property(
    fc.oneof(fc.anything({ withBigInt: true, withNullPrototype: true }), errorLike),
    (thrown) => {
      const problem = toProblem(thrown)
      return (
        Number.isInteger(problem.status) &&
        problem.status >= 400 &&
        problem.status <= 599 &&
        [problem.type, problem.title, problem.detail, problem.code].every(
          (text) => typeof text === 'string' && text !== '',
        ) &&
        // RFC 9457, 4.2.1; and nothing of a defect is told.
        (problem.type !== 'about:blank' || problem.title.length > 0) &&
        (problem.status < 500 || problem.detail === 'An unexpected error occurred. Please try again later.')
      )
    },
  )
  fc.assert(property, { numRuns: 2000 })
  t.pass('2000 values')
  t.end()
})

test('decision 43: only an integer statusCode from 400 to 599 counts', (t) => {
  const statusOf = (error: object, replyStatus?: number) =>
    toProblem(error, replyStatus === undefined ? {} : { replyStatus }).status
  t.equal(statusOf({ statusCode: 418 }), 418)
  t.equal(statusOf({ statusCode: 599 }), 599)
  for (const statusCode of [0, 200, 399, 600, 404.5, '404', Number.NaN, null, {}]) {
    t.equal(statusOf(Object.assign(new Error('x'), { statusCode })), 500, String(statusCode))
  }
  t.equal(statusOf(Object.assign(new Error('x'), { status: 422 })), 500, '.status is ignored')
  t.end()
})

test('a status set on the reply counts where the error names none', (t) => {
  const statusOf = (error: object, replyStatus: number) => toProblem(error, { replyStatus }).status
  t.equal(statusOf(new Error('x'), 403), 403)
  t.equal(statusOf(new Error('x'), 200), 500)
  t.equal(statusOf({ statusCode: 409 }, 403), 409)
  t.equal(statusOf(new NotFoundException('Product', 42), 403), 404)
  // A tracing subscriber makes Fastify copy err.status to the reply: it is an upstream's.
  t.equal(statusOf(Object.assign(new Error('x'), { status: 404 }), 404), 500)
  t.end()
})

test('messages reach the client where their error was made for clients', (t) => {
  const detailOf = (error: unknown) => toProblem(error).detail
  t.equal(
    detailOf(Object.assign(new Error('shown'), { statusCode: 404, expose: true })),
    'shown',
    'http-errors',
  )
  t.equal(
    detailOf(Object.assign(new Error('hidden'), { statusCode: 404, expose: false })),
    'The requested resource was not found.',
  )
  t.equal(
    detailOf(Object.assign(new Error('hidden'), { statusCode: 404 })),
    'The requested resource was not found.',
  )
  t.equal(detailOf(Object.assign(new Error('hidden'), { statusCode: 402 })), 'Payment Required')
  t.end()
})

test('errors of @fastify/error are understood: message and code of a 4xx are API', (t) => {
  const Gone = createError('SHOP_GONE', 'The shop %s is gone', 410)
  t.match(toProblem(new Gone('here')), {
    type: 'about:blank',
    title: 'Gone',
    status: 410,
    detail: 'The shop here is gone',
    code: 'SHOP_GONE',
  })
  const Broken = createError('SHOP_BROKEN', 'secret %s')
  t.match(toProblem(new Broken('x')), { status: 500, code: 'INTERNAL_SERVER_ERROR' })
  t.notMatch(toProblem(new Broken('x')).detail, 'secret')
  t.end()
})

test('codes of drivers and of the system do not reach the client', (t) => {
  for (const code of ['ENOENT', '23505', 'SQLITE_BUSY', 20]) {
    const error = Object.assign(new Error('x'), { code, statusCode: 404, expose: true })
    t.equal(toProblem(error).code, 'NOT_FOUND')
  }
  t.end()
})

test('an application’s own domain exception needs no mapping, from whichever copy of the package', (t) => {
  class OutOfStockException extends DomainException {
    constructor(left: number) {
      super('Too few left', {
        statusCode: 409,
        code: 'OUT_OF_STOCK',
        title: 'Out of stock',
        extensions: { left },
      })
    }
  }
  t.match(toProblem(new OutOfStockException(2)), {
    type: 'urn:problem:out-of-stock',
    title: 'Out of stock',
    status: 409,
    detail: 'Too few left',
    extensions: { left: 2 },
  })
  const foreign = {
    [Symbol.for('@fastify-modular/domain-exception')]: true,
    statusCode: 409,
    code: 'CONFLICT',
    title: 'Conflict',
    message: 'stale',
  }
  t.match(toProblem(foreign), { type: 'urn:problem:conflict', status: 409, detail: 'stale' })
  t.match(toProblem({ ...foreign, statusCode: 200 }), { status: 500 }, 'never a success')
  t.end()
})

test('long messages are cut', (t) => {
  const detail = toProblem(
    Object.assign(new Error('x'.repeat(1_000_000)), { statusCode: 400, expose: true }),
  ).detail
  t.equal(detail.length, 2000)
  t.end()
})
