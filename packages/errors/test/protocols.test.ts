import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, constants, type IncomingHttpHeaders } from 'node:http2'
import Fastify from 'fastify'
import { type Test, test } from 'tap'
import { createErrorServerOptions, errors } from '@fastify-modular/errors'
import { createApp, listen } from './support/app.js'

interface Http2Answer {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function createHttp2(t: Test): Promise<(path: string, method?: string) => Promise<Http2Answer>> {
  const app = Fastify({ http2: true, ...createErrorServerOptions() } as object)
  t.teardown(() => app.close())
  await app.register(errors, { errorPage: false, pages: 'inertia' })
  app.get('/bad', () => {
    throw new Error('secret')
  })
  await app.register(async (scope) => {
    scope.addHook('onSend', async () => {
      throw new Error('secret')
    })
    scope.get('/on-send', async () => 'ok')
  })
  const { port } = await listen(app)
  const session = connect(`http://127.0.0.1:${port}`)
  t.teardown(() => session.close())
  return async (path, method = 'GET') => {
    const stream = session.request({
      [constants.HTTP2_HEADER_PATH]: path,
      [constants.HTTP2_HEADER_METHOD]: method,
    })
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
    let body = ''
    for await (const chunk of stream) body += String(chunk)
    return { headers, body }
  }
}

test('over HTTP/2 every answer is the same', async (t) => {
  const visit = await createHttp2(t)
  const types: Record<string, unknown> = {}
  for (const path of ['/bad', '/on-send', '/nope', '/%zz']) {
    const { headers, body } = await visit(path)
    types[path] = [headers[':status'], headers['content-type']]
    t.notMatch(body, 'secret')
  }
  t.same(types, {
    '/bad': [500, 'application/problem+json'],
    '/on-send': [500, 'text/html; charset=utf-8'],
    '/nope': [404, 'text/html; charset=utf-8'],
    '/%zz': [400, 'application/problem+json'],
  })
  t.equal((await visit('/on-send', 'HEAD')).body, '')
})

test('a tracing subscriber does not make upstream statuses ours', async (t) => {
  const nothing = (): void => undefined
  const subscribers = { start: nothing, end: nothing, asyncStart: nothing, asyncEnd: nothing, error: nothing }
  const channel = tracingChannel('fastify.request.handler')
  channel.subscribe(subscribers)
  t.teardown(() => channel.unsubscribe(subscribers))
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .get('/upstream', async () => Promise.reject(Object.assign(new Error('x'), { status: 404 })))
        .get('/text', async () => Promise.reject(Object.assign(new Error('x'), { statusCode: '404' })))
        .get('/own', async (_, reply) => {
          reply.code(403)
          throw new Error('x')
        }),
  })
  t.equal((await app.inject('/upstream')).statusCode, 500)
  t.equal((await app.inject('/text')).statusCode, 500)
  t.equal((await app.inject('/own')).statusCode, 403)
})
