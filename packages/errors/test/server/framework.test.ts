import { EventEmitter, once } from 'node:events'
import { test } from 'tap'
import Fastify from 'fastify'
import { openConnection, rawExchange, rawRequest } from '@fastify-modular/test-support/raw-http'
import { createErrorServerOptions } from '@fastify-modular/errors'
import { createApp, listen } from '../support/app.js'
import { generic, type ProblemBody, problemOf } from '../support/expect.js'

test('E50 and E51: a body that is not JSON is 400 with the code of the parser', async (t) => {
  const { app } = await createApp(t, { after: (it) => it.post('/', async () => 'ok') })
  const post = (payload: string) =>
    app.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': 'application/json' } })
  const malformed = problemOf(t, await post('{"a":'), 400, 'Bad Request')
  t.equal(malformed.code, 'FST_ERR_CTP_INVALID_JSON_BODY')
  t.equal(malformed.type, 'about:blank')
  problemOf(t, await post(''), 400)
  problemOf(t, await post('{"__proto__":{"a":1}}'), 400)
})

test('E52 and E53: too large is 413, an unknown type 415', async (t) => {
  const { app } = await createApp(t, {
    server: { bodyLimit: 20 },
    after: (it) => it.post('/', async () => 'ok'),
  })
  const large = await app.inject({ method: 'POST', url: '/', payload: { a: 'x'.repeat(100) } })
  problemOf(t, large, 413)
  t.equal(large.headers['connection'], 'close', 'the rest of the body is not read')
  const xml = {
    method: 'POST',
    url: '/',
    payload: '<a/>',
    headers: { 'content-type': 'application/xml' },
  } as const
  problemOf(t, await app.inject(xml), 415)
})

test('decision 42, E54: a URL that cannot be decoded is 400 and is not repeated', async (t) => {
  const { app } = await createApp(t, { after: (it) => it.get('/p/:id', async () => 'ok') })
  const address = await listen(app)
  for (const target of ['/p/%zz', '/nope/%C0%AE', '/%']) {
    const answer = await rawRequest(address, { target })
    t.equal(answer.status, 400, target)
    t.equal(answer.headers['content-type'], 'application/problem+json')
    t.equal(answer.headers['cache-control'], 'no-store')
    const body = JSON.parse(answer.text) as ProblemBody
    t.same([body.status, body.title, body.code], [400, 'Bad Request', 'FST_ERR_BAD_URL'])
    t.notOk('instance' in body)
    t.notMatch(answer.text, '%')
  }
})

test('E55: a parameter that is too long is 414', async (t) => {
  const { app } = await createApp(t, { after: (it) => it.get('/p/:id', async () => 'ok') })
  const answer = await rawRequest(await listen(app), { target: `/p/${'a'.repeat(200)}` })
  t.equal(answer.status, 414)
  t.match(JSON.parse(answer.text), { status: 414, code: 'FST_ERR_MAX_PARAM_LENGTH' })
})

test('decision 42: the Inertia client gets bad URLs as a page whose address is the home page', async (t) => {
  const { app } = await createApp(t)
  const answer = await rawRequest(await listen(app), { target: '/%zz', headers: { 'x-inertia': 'true' } })
  t.equal(answer.headers['x-inertia'], 'true')
  t.same(JSON.parse(answer.text), {
    component: 'Error/400',
    props: { status: 400, title: 'Bad Request', message: 'Bad Request' },
    url: '/',
    version: null,
  })
})

test('a failed asynchronous constraint is 500 and reveals nothing', async (t) => {
  const { app } = await createApp(t, {
    server: {
      routerOptions: {
        constraints: {
          secret: {
            name: 'secret',
            storage: () => ({ get: () => null, set: () => undefined }),
            validate: () => undefined,
            deriveConstraint: (
              _req: unknown,
              _ctx: unknown,
              done?: (err: Error | null, value?: unknown) => void,
            ) => done?.(new Error('secret')),
          },
        } as never,
      },
    },
    after: (it) => it.get('/', { constraints: { secret: '1' } }, async () => 'ok'),
  })
  const answer = await rawRequest(await listen(app), { target: '/' })
  t.equal(answer.status, 500)
  t.equal((JSON.parse(answer.text) as ProblemBody).detail, generic)
})

test('E56: a head that is too large is 431, and the connection ends', async (t) => {
  const { app } = await createApp(t, { server: { http: { maxHeaderSize: 4096 } } as never })
  const [answer] = await rawExchange(
    await listen(app),
    `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(8000)}\r\n\r\n`,
  )
  t.equal(answer?.status, 431)
  t.equal(answer?.headers['connection'], 'close')
  t.equal(answer?.headers['content-type'], 'application/problem+json')
  t.match(JSON.parse(answer?.text ?? ''), { status: 431, title: 'Request Header Fields Too Large' })
})

test('E57: what is not HTTP is 400, and the connection ends', async (t) => {
  const { app } = await createApp(t)
  const address = await listen(app)
  const garbage = [
    'NONSENSE\r\n\r\n',
    'GET / HTTP/9.9\r\nHost: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nBad\u0001Header: x\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
    Buffer.from('1603010200010001fc0303', 'hex'),
  ]
  for (const bytes of garbage) {
    const connection = await openConnection(address)
    connection.send(bytes)
    const answer = await connection.response()
    t.equal(answer.status, 400)
    t.equal(Number(answer.headers['content-length']), answer.body.length)
    t.match(JSON.parse(answer.text), { status: 400, title: 'Bad Request' })
    t.equal((await connection.closed()).length, 0)
  }
})

test('E58: a request that does not arrive in time is 408', async (t) => {
  const http = { connectionsCheckingInterval: 50, headersTimeout: 100 }
  const { app } = await createApp(t, { server: { requestTimeout: 200, http } as never })
  const [answer] = await rawExchange(await listen(app), 'GET / HTTP/1.1\r\nHost: x\r\n')
  t.equal(answer?.status, 408)
  t.match(JSON.parse(answer?.text ?? ''), { status: 408, title: 'Request Timeout' })
})

test('E59: a handler that takes too long is 503 and its route is not named', async (t) => {
  const { app } = await createApp(t, {
    after: (it) => it.get('/slow-route', { handlerTimeout: 20 }, () => new Promise(() => {})),
  })
  const answer = await app.inject('/slow-route')
  t.equal(problemOf(t, answer, 503, 'Service Unavailable').detail, generic)
  t.notMatch(answer.json<ProblemBody>().detail, 'slow-route')
})

test('garbage that follows a running response is not answered into its body', async (t) => {
  const started = new EventEmitter()
  const { app } = await createApp(t, {
    after: (it) =>
      it.get('/stream', (_, reply) => {
        reply.hijack()
        reply.raw.writeHead(200, { 'content-length': 20 })
        reply.raw.write('0123456789', () => started.emit('written'))
      }),
  })
  const connection = await openConnection(await listen(app))
  const written = once(started, 'written')
  connection.send('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n')
  await written
  connection.send('NONSENSE\r\n\r\n')
  const rest = (await connection.closed()).toString()
  t.match(rest, /^HTTP\/1\.1 200 OK/)
  t.notMatch(rest, 'problem+json')
  t.equal(rest.match(/HTTP\/1\.1/g)?.length, 1)
})

test('the server options need no plugin, and nothing that hostile peers do ends the process', async (t) => {
  const app = Fastify(createErrorServerOptions())
  t.teardown(() => app.close())
  app.get('/', async () => 'ok')
  const address = await listen(app)
  const reset = await openConnection(address)
  reset.send('GET / HTTP/1.1\r\nHost')
  reset.destroy()
  t.equal((await rawRequest(address, { target: '/%zz' })).status, 400)
  t.equal((await rawRequest(address, { target: '/' })).text, 'ok')
})

test('E89: the connection lives on after an error', async (t) => {
  const { app } = await createApp(t, {
    after: (it) => it.get('/bad', async () => Promise.reject(new Error('x'))).get('/good', async () => 'ok'),
  })
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
  const answers = await rawExchange(
    await listen(app),
    get('/bad') + get('/nope') + get('/%zz') + get('/good'),
    {
      responses: 4,
    },
  )
  t.same(
    answers.map(({ status }) => status),
    [500, 404, 400, 200],
  )
})
