import { test } from 'tap'
import {
  ArgumentException,
  ConflictException,
  DomainException,
  ForbiddenException,
  NotFoundException,
  ServiceUnavailableException,
  ValidationException,
} from '@fastify-modular/core'
import { createApp, createThrowing, throwing } from './support/app.js'
import { generic, inertiaHeaders, pageOf, problemOf } from './support/expect.js'

/** What the settings package throws. */
class SettingFailure extends DomainException {
  constructor() {
    const extensions = { errors: { 'a.b': ['must be number'] } }
    super('failed', { statusCode: 422, code: 'SETTING_VALIDATION', title: 'Validation Error', extensions })
  }
}

class ProductNotFoundException extends NotFoundException {
  constructor(id: number) {
    super('Product', id)
  }
}

const fields = { errors: { name: ['required', 'too short'] } }
const settings = { errors: { 'a.b': ['must be number'] } }
const denied = 'You do not have permission to access this resource.'
const missing = 'Product with ID 42 not found'
const summary = 'One or more validation errors occurred.'

type Expected = readonly [status: number, title: string, code: string, detail: string, extensions?: object]

/** What is thrown, and the problem that callers get. */
const exceptions: readonly (readonly [name: string, error: unknown, expected: Expected])[] = [
  ['E01', new NotFoundException('Product', 42), [404, 'Resource not found', 'NOT_FOUND', missing]],
  ['E02', new ValidationException(fields.errors), [400, 'Validation Error', 'VALIDATION', summary, fields]],
  ['E03', new ValidationException('bad'), [400, 'Validation Error', 'VALIDATION', 'bad', { errors: {} }]],
  ['E04', new ArgumentException('bad arg'), [400, 'Validation Error', 'ARGUMENT', 'bad arg']],
  ['E05', new ForbiddenException(), [403, 'Forbidden', 'FORBIDDEN', denied]],
  ['E06', new ForbiddenException('only owners'), [403, 'Forbidden', 'FORBIDDEN', 'only owners']],
  ['E07', new ConflictException('taken', { by: 'a' }), [409, 'Conflict', 'CONFLICT', 'taken', { by: 'a' }]],
  ['E08', new Error('secret'), [500, 'Internal Server Error', 'INTERNAL_SERVER_ERROR', generic]],
  ['E13', new ProductNotFoundException(42), [404, 'Resource not found', 'NOT_FOUND', missing]],
  ['E15', new SettingFailure(), [422, 'Validation Error', 'SETTING_VALIDATION', 'failed', settings]],
]

for (const [name, error, [status, title, code, detail, extensions]] of exceptions) {
  test(`S 7.1, ${name}: ${String(error)} is ${status}, and page Error/${status} for the Inertia client`, async (t) => {
    const { app } = await createThrowing(t, error)
    const type = status < 500 ? `urn:problem:${code.toLowerCase().replace('_', '-')}` : 'about:blank'
    const about = { type, title, status, detail, instance: '/', code, requestId: 'req-1' }
    t.same(problemOf(t, await app.inject('/'), status), { ...about, ...extensions })
    const answer = await app.inject({ url: '/?tab=1', headers: inertiaHeaders })
    const page = pageOf(t, answer, status)
    t.same(page.props, { status, title, message: detail }, 'exactly three props (S 2.9, E24)')
    t.same(Object.keys(page), ['component', 'props', 'url', 'version'])
    t.equal(answer.headers['x-inertia-location'], undefined, 'not a reload')
    t.notMatch(answer.body, /secret/)
  })
}

test('decision 41, E11 and E12: TypeError and SyntaxError are bugs, not bad input', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .get('/bug', (request) => (request.body as { a: { b: string } }).a.b)
        .get('/syntax', () => JSON.parse('{') as unknown),
  })
  for (const url of ['/bug', '/syntax']) t.equal(problemOf(t, await app.inject(url), 500).detail, generic)
})

test('E14: thrown, rejected, sent or returned, an error is an error', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .get('/sync', throwing(new Error('secret')))
        .get('/rejected', async () => Promise.reject(new Error('secret')))
        .get('/sent', (_, reply) => void reply.send(new Error('secret')))
        .get('/returned', () => new Error('secret'))
        .get('/returned-async', async () => new Error('secret')),
  })
  for (const url of ['/sync', '/rejected', '/sent', '/returned', '/returned-async']) {
    t.equal(problemOf(t, await app.inject(url), 500).detail, generic, url)
  }
})

test('decision 42: a 5xx exception keeps its message from the caller', async (t) => {
  const { app } = await createThrowing(t, new ServiceUnavailableException('db-7.internal is down', 30))
  const answer = await app.inject('/')
  t.equal(problemOf(t, answer, 503, 'Service Unavailable').detail, generic)
  t.equal(answer.headers['retry-after'], '30')
  t.notMatch(answer.body, /db-7/)
})

test('S 7.2.1, E21: a failing POST is a page too', async (t) => {
  const { app } = await createApp(t, {
    after: (it) => it.post('/', throwing(new Error('secret'))),
  })
  pageOf(t, await app.inject({ url: '/', method: 'POST', headers: inertiaHeaders }), 500)
})

test('a 503 says publicly what its title and extensions say; its message stays in the log', async (t) => {
  class MaintenanceException extends DomainException {
    constructor() {
      super('secret', {
        statusCode: 503,
        code: 'MAINTENANCE',
        title: 'Down for maintenance until 5 pm',
        extensions: { until: '2026-01-02T17:00:00.000Z' },
        headers: { 'retry-after': '3600' },
      })
    }
  }
  const { app, failures } = await createThrowing(t, new MaintenanceException())
  const answer = await app.inject('/')
  const body = problemOf(t, answer, 503, 'Down for maintenance until 5 pm')
  t.match(body, { detail: generic, code: 'MAINTENANCE', until: '2026-01-02T17:00:00.000Z' })
  t.equal(answer.headers['retry-after'], '3600')
  const page = pageOf(t, await app.inject({ url: '/', headers: inertiaHeaders }), 503)
  t.same(page.props, { status: 503, title: 'Down for maintenance until 5 pm', message: generic })
  t.match(failures(), [{ err: { message: 'secret' } }, {}])
})
