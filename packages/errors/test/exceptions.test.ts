import { test } from 'tap'
import {
  ArgumentException,
  ConflictException,
  DomainException,
  ForbiddenException,
  NotFoundException,
  ServiceUnavailableException,
  TooManyRequestsException,
  UnauthorizedException,
  ValidationException,
} from '@fastify-modular/core'
import { createApp, createThrowing } from './support/app.js'
import { generic, inertiaHeaders, pageOf, problemOf } from './support/expect.js'

test('S 7.1, E01: NotFoundException is 404 titled "Resource not found" and names the resource', async (t) => {
  const { app } = await createThrowing(t, new NotFoundException('Product', 42))
  const body = problemOf(t, await app.inject('/'), 404, 'Resource not found')
  t.equal(body.type, 'urn:problem:not-found')
  t.equal(body.detail, 'Product with ID 42 not found')
  t.equal(body.code, 'NOT_FOUND')
})

test('S 7.1, E02: ValidationException is 400 with its errors by field', async (t) => {
  const { app } = await createThrowing(t, new ValidationException({ name: ['required', 'too short'] }))
  const body = problemOf(t, await app.inject('/'), 400, 'Validation Error')
  t.same(body.errors, { name: ['required', 'too short'] })
  t.equal(body.detail, 'One or more validation errors occurred.')
})

test('S 7.1, E03: ValidationException with a message only has no field errors', async (t) => {
  const { app } = await createThrowing(t, new ValidationException('bad'))
  const body = problemOf(t, await app.inject('/'), 400)
  t.equal(body.detail, 'bad')
  t.same(body.errors ?? {}, {})
})

test('S 7.1, E04: ArgumentException is 400 with its message and without errors', async (t) => {
  const { app } = await createThrowing(t, new ArgumentException('bad arg'))
  const body = problemOf(t, await app.inject('/'), 400, 'Validation Error')
  t.equal(body.detail, 'bad arg')
  t.notOk('errors' in body)
})

test('S 7.1, E05 and E06: ForbiddenException is 403 with the default text or its own', async (t) => {
  const plain = await createThrowing(t, new ForbiddenException())
  const own = await createThrowing(t, new ForbiddenException('only owners'))
  const body = problemOf(t, await plain.app.inject('/'), 403, 'Forbidden')
  t.equal(body.detail, 'You do not have permission to access this resource.')
  t.equal(problemOf(t, await own.app.inject('/'), 403).detail, 'only owners')
})

test('S 7.1, E07: ConflictException is 409 with its message', async (t) => {
  const { app } = await createThrowing(t, new ConflictException('duplicate key', { conflicts: ['a'] }))
  const body = problemOf(t, await app.inject('/'), 409, 'Conflict')
  t.equal(body.detail, 'duplicate key')
  t.same(body['conflicts'], ['a'])
})

test('S 7.1, E08: any other error is 500 and reveals nothing of itself', async (t) => {
  const { app } = await createThrowing(t, new Error('secret pw=1'))
  const answer = await app.inject('/')
  t.equal(problemOf(t, answer, 500, 'Internal Server Error').detail, generic)
  t.notMatch(answer.body, /secret/)
})

test('decision 41, E11 and E12: TypeError and SyntaxError are bugs, not bad input', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .get('/bug', (request) => (request.body as { a: { b: string } }).a.b)
        .get('/syntax', () => JSON.parse('{') as unknown),
  })
  for (const url of ['/bug', '/syntax']) t.equal(problemOf(t, await app.inject(url), 500).detail, generic)
})

test('E13: a subclass of NotFoundException is a NotFoundException', async (t) => {
  class ProductNotFoundException extends NotFoundException {
    constructor(id: number) {
      super('Product', id)
    }
  }
  const { app } = await createThrowing(t, new ProductNotFoundException(42))
  t.match(problemOf(t, await app.inject('/'), 404, 'Resource not found').detail, /Product.*42/)
})

test('E14: thrown, rejected, sent or returned, an error is an error', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .get('/sync', () => {
          throw new Error('secret')
        })
        .get('/rejected', async () => Promise.reject(new Error('secret')))
        .get('/sent', (_, reply) => void reply.send(new Error('secret')))
        .get('/returned', () => new Error('secret'))
        .get('/returned-async', async () => new Error('secret')),
  })
  for (const url of ['/sync', '/rejected', '/sent', '/returned', '/returned-async']) {
    t.equal(problemOf(t, await app.inject(url), 500).detail, generic, url)
  }
})

/** What the settings package throws. */
class SettingFailure extends DomainException {
  constructor() {
    const extensions = { errors: { 'a.b': ['must be number'] } }
    super('failed', { statusCode: 422, code: 'SETTING_VALIDATION', title: 'Validation Error', extensions })
  }
}

test('S 7.3, E15: an exception of another package is answered by its brand: 422 with errors by setting key', async (t) => {
  const { app } = await createThrowing(t, new SettingFailure())
  t.same(problemOf(t, await app.inject('/'), 422, 'Validation Error').errors, { 'a.b': ['must be number'] })
})

test('exceptions bring their headers: a challenge, a time to wait', async (t) => {
  const unauthorized = await createThrowing(t, new UnauthorizedException())
  const throttled = await createThrowing(t, new TooManyRequestsException(1.2))
  t.equal((await unauthorized.app.inject('/')).headers['www-authenticate'], 'Bearer')
  const answer = await throttled.app.inject('/')
  problemOf(t, answer, 429, 'Too Many Requests')
  t.equal(answer.headers['retry-after'], '2')
})

test('decision 42: a 5xx exception keeps its message from the caller', async (t) => {
  const { app } = await createThrowing(t, new ServiceUnavailableException('db-7.internal is down', 30))
  const answer = await app.inject('/')
  t.equal(problemOf(t, answer, 503, 'Service Unavailable').detail, generic)
  t.equal(answer.headers['retry-after'], '30')
  t.notMatch(answer.body, /db-7/)
})

test('S 7.2.1, E16: the Inertia client gets a missing resource as page Error/404', async (t) => {
  const { app } = await createThrowing(t, new NotFoundException('Product', 42))
  const { props } = pageOf(t, await app.inject({ url: '/?tab=1', headers: inertiaHeaders }), 404)
  t.equal(props.title, 'Resource not found')
  t.match(props.message, /42/)
})

test('S 7.2.1, E17: page Error/500 reveals nothing of the error', async (t) => {
  const { app } = await createThrowing(t, new Error('secret'))
  const answer = await app.inject({ url: '/', headers: inertiaHeaders })
  t.equal(pageOf(t, answer, 500).props.message, generic)
  t.notMatch(answer.body, /secret/)
})

test('E18 to E21: 403, 409, 400 and a failing POST are pages too', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .get('/403', () => {
          throw new ForbiddenException('m')
        })
        .get('/409', () => {
          throw new ConflictException()
        })
        .get('/400', () => {
          throw new ValidationException()
        })
        .post('/500', () => {
          throw new Error('secret')
        }),
  })
  const visit = (url: string, method: 'GET' | 'POST' = 'GET') =>
    app.inject({ url, method, headers: inertiaHeaders })
  t.equal(pageOf(t, await visit('/403'), 403).props.message, 'm')
  const conflict = await visit('/409')
  pageOf(t, conflict, 409)
  t.equal(conflict.headers['x-inertia-location'], undefined, 'not a reload')
  pageOf(t, await visit('/400'), 400)
  pageOf(t, await visit('/500', 'POST'), 500)
})

test('decision 44, E22: X-Inertia of any value wins over Accept', async (t) => {
  const { app } = await createThrowing(t, new NotFoundException('Product', 42))
  for (const value of ['true', 'false', '1', '']) {
    pageOf(
      t,
      await app.inject({ url: '/', headers: { 'x-inertia': value, accept: 'application/json' } }),
      404,
    )
  }
})

test('decision 44, E23: without X-Inertia a thrown error is problem details, also for browsers', async (t) => {
  const { app } = await createThrowing(t, new NotFoundException('Product', 42))
  problemOf(t, await app.inject({ url: '/', headers: { accept: 'text/html' } }), 404)
})

test('S 2.9, E24: an error page has exactly three props', async (t) => {
  const { app } = await createThrowing(t, new NotFoundException('Product', 42))
  const page = pageOf(t, await app.inject({ url: '/', headers: inertiaHeaders }), 404)
  t.same(Object.keys(page.props), ['status', 'title', 'message'])
  t.same(Object.keys(page), ['component', 'props', 'url', 'version'])
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
