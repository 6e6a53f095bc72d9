import { DrizzleQueryError } from 'drizzle-orm'
import { EventEmitter, once } from 'node:events'
import Fastify from 'fastify'
import { type Test, test } from 'tap'
import { ConflictException, NotFoundException, UnauthorizedException } from '@fastify-modular/core'
import { problemChannel, type ProblemEvent } from '@fastify-modular/errors'
import { openConnection, rawRequest } from '@fastify-modular/test-support/raw-http'
import { until } from '@fastify-modular/test-support/until'
import { createApp, createThrowing, listen, throwing } from './support/app.js'
import { problemOf } from './support/expect.js'

/** The events of a test. */
function listenToChannel(t: Test): ProblemEvent[] {
  const events: ProblemEvent[] = []
  const take = (event: unknown): void => void events.push(event as ProblemEvent)
  problemChannel.subscribe(take)
  t.teardown(() => problemChannel.unsubscribe(take))
  return events
}

test('S 7.1, decision 47, E09: a 5xx leaves one record at level error with its stack and request id', async (t) => {
  const { app, log, failures } = await createThrowing(
    t,
    new Error('secret pw=1', { cause: new TypeError('why') }),
  )
  const body = problemOf(t, await app.inject('/?token=hidden'), 500)
  t.equal(log.filter(({ level }) => level >= 40).length, 1)
  t.match(failures(), [
    {
      level: 50,
      msg: 'request failed',
      reqId: body.requestId,
      source: 'handler',
      route: '/',
      err: { type: 'Error', message: /^secret pw=1/, stack: /report\.test[^]*caused by: TypeError: why/ },
      problem: { status: 500, code: 'INTERNAL_SERVER_ERROR', type: 'about:blank' },
    },
  ])
  t.notMatch(JSON.stringify(failures()), 'hidden', 'queries are not logged')
})

test('decision 47, E10: a 4xx leaves one record below warn, without a stack', async (t) => {
  const levels: Record<number, unknown> = {}
  for (const error of [
    new NotFoundException('Product', 42),
    new ConflictException('stale'),
    new UnauthorizedException(),
  ]) {
    const { app, failures } = await createThrowing(t, error)
    await app.inject('/')
    const [record, ...more] = failures()
    levels[error.statusCode] = record?.level
    t.same(more, [])
    t.match(record, { reason: error.message })
    t.notOk(record?.err)
  }
  t.same(levels, { 401: 20, 404: 20, 409: 30 })
})

test('other members of an error never reach the log: clients keep credentials there', async (t) => {
  const error = Object.assign(new Error('upstream failed'), {
    config: { headers: { authorization: 'Bearer secret' } },
    response: { headers: { 'set-cookie': 'secret' } },
  })
  const { app, log } = await createThrowing(t, error)
  await app.inject('/')
  t.notMatch(JSON.stringify(log), 'Bearer secret')
})

test('disableRequestLogging silences 4xx but never a defect', async (t) => {
  const option: object = { disableRequestLogging: true } // no option of Fastify 6, which has the controller
  const { app, log } = await createApp(t, {
    server: 'LogController' in Fastify ? { logController: new Fastify.LogController(option) } : option,
    after: (it) => it.get('/', throwing(new Error('x'))),
  })
  await app.inject('/nope')
  t.same(log, [])
  await app.inject('/')
  t.equal(log.length, 1)
})

test('a logger that fails does not cost the answer', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it.get('/', (request) => {
        request.log.error = throwing(new Error('disk full'))
        throw new Error('secret')
      }),
  })
  problemOf(t, await app.inject('/'), 500)
})

test('E83: the body names the request as the log does', async (t) => {
  const { app, failures } = await createApp(t, { server: { genReqId: () => 'the-request' } })
  const answer = await app.inject({ method: 'POST', url: '/nope' })
  t.equal(problemOf(t, answer, 404).requestId, 'the-request')
  t.match(failures(), [{ reqId: 'the-request', source: 'not-found' }])
})

test('E84: the body names the trace of a valid traceparent, and of nothing else', async (t) => {
  const { app } = await createThrowing(t, new Error('x'))
  const traceIdOf = async (traceparent: string) =>
    problemOf(t, await app.inject({ url: '/', headers: { traceparent } }), 500).traceId
  const id = '4bf92f3577b34da6a3ce929d0e0e4736'
  t.equal(await traceIdOf(`00-${id}-00f067aa0ba902b7-01`), id)
  t.equal(await traceIdOf(`01-${id}-00f067aa0ba902b7-01-future`), id)
  for (const bad of [
    `ff-${id}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${id}-${'0'.repeat(16)}-01`,
    `00-${id.toUpperCase()}-00f067aa0ba902b7-01`,
    `00-${id}`,
    '"}{',
  ]) {
    t.equal(await traceIdOf(bad), undefined, bad)
  }
})

test('the active span of OpenTelemetry wins, found where its API publishes itself', async (t) => {
  const key = Symbol.for('opentelemetry.js.api.1')
  const span = Symbol.for('OpenTelemetry Context Key SPAN')
  const { app } = await createThrowing(t, new Error('x'))
  let traceId = 'a'.repeat(32)
  const active = () => ({
    getValue: (name: symbol) => (name === span ? { spanContext: () => ({ traceId }) } : undefined),
  })
  Object.assign(globalThis, { [key]: { context: { active } } })
  t.teardown(() => Reflect.deleteProperty(globalThis, key))
  const visit = async () => problemOf(t, await app.inject('/'), 500).traceId
  t.equal(await visit(), traceId)
  traceId = '0'.repeat(32)
  t.equal(await visit(), undefined)
  Object.assign(globalThis, {
    [key]: {
      context: {
        active: throwing(new Error('x')),
      },
    },
  })
  t.equal(await visit(), undefined)
})

test('E85: instance is the path without its query', async (t) => {
  const { app } = await createApp(t)
  const answer = await app.inject({ method: 'POST', url: '/a/b%20c?token=hidden' })
  t.equal(problemOf(t, answer, 404).instance, '/a/b%20c')
  t.notMatch(answer.body, 'hidden')
})

test('E85: a target that is not canonical has no instance, whatever characters the caller sends', async (t) => {
  const { app } = await createApp(t)
  const address = await listen(app)
  for (const target of ['/a|b"c{d}<e>^f`g\\h[i]?x', '/a//b', '/a/../b', '/%61', '/a;b', '*']) {
    const answer = await rawRequest(address, { method: 'POST', target })
    t.notOk('instance' in (JSON.parse(answer.text) as object), target)
  }
})

test('every failure is one event, with its source and the pattern of its route', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it.get('/items/:id', throwing(new NotFoundException('Item', 1))).get('/ok', async () => 'ok'),
  })
  const address = await listen(app)
  const events = listenToChannel(t)
  await rawRequest(address, { target: '/ok' })
  await rawRequest(address, { target: '/items/1' })
  await rawRequest(address, { target: '/nope', method: 'POST' })
  await rawRequest(address, { target: '/items/%zz' })
  const garbage = await openConnection(address)
  garbage.send('NONSENSE\r\n\r\n')
  await garbage.closed()
  t.equal(problemChannel.name, 'fastify-modular:errors')
  t.same(
    events.map(({ type, source, route, problem: { status } }) => [type, source, route, status]),
    [
      ['problem', 'handler', '/items/:id', 404],
      ['problem', 'not-found', undefined, 404],
      ['problem', 'framework', undefined, 400],
      ['problem', 'client', undefined, 400],
    ],
  )
})

test('a caller that goes away while uploading is not a defect, and is not answered', async (t) => {
  const { app, failures } = await createApp(t, { after: (it) => it.post('/', async () => 'ok') })
  const address = await listen(app)
  const events = listenToChannel(t)
  const seen = once(app.server, 'connection')
  const connection = await openConnection(address)
  await seen
  const request = once(app.server, 'request')
  connection.send(
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":',
  )
  await request
  connection.destroy()
  await until(() => events.length > 0)
  t.match(events, [{ source: 'aborted' }])
  t.match(failures(), [{ level: 20, source: 'aborted' }])
})

test('a handler that fails after its caller went away is still a defect', async (t) => {
  const gone = new EventEmitter()
  const { app, failures } = await createApp(t, {
    after: (it) =>
      it.get('/', async (request) => {
        const closed = once(request.raw.socket, 'close')
        gone.emit('called')
        await closed
        throw new TypeError('bug')
      }),
  })
  const connection = await openConnection(await listen(app))
  const events = listenToChannel(t)
  const called = once(gone, 'called')
  connection.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await called
  connection.destroy()
  await until(() => events.length > 0)
  t.match(events, [{ source: 'handler', problem: { status: 500 } }])
  t.match(failures(), [{ level: 50, err: { message: 'bug' } }])
})

test('S 7.1: of a failed query the log has the statement, not the parameters', async (t) => {
  const params = ['text of a note\n    at <anonymous>', 7]
  const failure = new DrizzleQueryError(
    'insert into notes values ($1, $2)',
    params,
    new Error('disk is full'),
  )
  const { app, failures } = await createThrowing(t, failure)
  problemOf(t, await app.inject('/'), 500)
  t.match(failures(), [
    { err: { message: /^Failed query: insert into notes/, stack: /report\.test[^]*disk is full/ } },
  ])
  t.notMatch(JSON.stringify(failures()), 'text of a note')

  failure.stack = `elsewhere ${params.join()}`
  await app.inject('/')
  t.notMatch(JSON.stringify(failures()), 'text of a note', 'not even in a stack that was assigned')
})
