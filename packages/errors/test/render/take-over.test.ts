import { ConflictException } from '@fastify-modular/core'
import { test } from 'tap'
import { openConnection, rawExchange, rawRequest } from '@fastify-modular/test-support/raw-http'
import { createApp, listen, renderBy } from '../support/app.js'
import { builtInPage, inertiaHeaders, problemOf } from '../support/expect.js'

test('an onSend hook that fails once on our own answer does not bring Fastify’s handler to speak', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .addHook('onSend', async (request, reply) => {
          if (reply.statusCode !== 200 && !request.headers['x-seen']) {
            request.headers['x-seen'] = '1'
            throw new Error('secret')
          }
        })
        .get('/', () => {
          throw new Error('secret first')
        }),
  })
  const answer = await app.inject('/')
  t.equal(answer.statusCode, 500)
  t.notMatch(answer.body, 'secret')
})

test('a header that cannot be written does not cost the answer', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it.get('/', (_, reply) => {
        reply.header('x-name', 'Zoë \u2028').header('set-cookie', 'a=\u0001')
        throw new Error('secret')
      }),
  })
  const answer = await rawRequest(await listen(app), { target: '/' })
  t.equal(answer.status, 500)
  t.equal(answer.text, builtInPage)
})

test('behind an asynchronous onSend hook the first failure is answered, whatever comes after it', async (t) => {
  const first = () => new ConflictException('first')
  const { app, failures } = await createApp(t, {
    after: (it) =>
      it
        .addHook('onSend', async () => {
          await new Promise((resolve) => setImmediate(resolve))
        })
        .get('/sends', (_, reply) => {
          void reply.send(first())
          void reply.send(new Error('secret'))
        })
        .get('/sends-twice', async (_, reply) => {
          void reply.send(first())
          void reply.send(new Error('secret'))
          return { some: 'thing' }
        })
        .get('/throws', (_, reply) => {
          void reply.send(first())
          throw new Error('secret')
        })
        .get('/rejects', async (_, reply) => {
          void reply.send(first())
          throw new Error('secret')
        })
        .get('/returns', async (_, reply) => {
          void reply.send(first())
          return new Error('secret')
        }),
  })
  const urls = ['/sends', '/sends-twice', '/throws', '/rejects', '/returns']
  for (const url of urls) t.equal(problemOf(t, await app.inject(url), 409).detail, 'first', url)
  t.equal(failures().length, urls.length)
})

test('HEAD, keep-alive and onResponse survive the last resort', async (t) => {
  let responses = 0
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .addHook('onSend', async () => {
          throw new Error('secret')
        })
        .addHook('onResponse', async () => void responses++)
        .get('/', async () => 'ok'),
  })
  const head = await app.inject({ method: 'HEAD', url: '/' })
  t.same([head.statusCode, head.body], [500, ''])
  const address = await listen(app)
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  const answers = await rawExchange(address, get + get, { responses: 2 })
  t.same(
    answers.map(({ status }) => status),
    [500, 500],
  )
  t.equal(responses, 3)
})

test('a handler that began to write by itself and then fails is cut off, not answered twice', async (t) => {
  const { app, failures } = await createApp(t, {
    after: (it) =>
      it.get('/', async (_, reply) => {
        reply.raw.writeHead(200, { 'content-length': 20 })
        reply.raw.write('0123456789')
        throw new Error('secret')
      }),
  })
  const connection = await openConnection(await listen(app))
  connection.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const bytes = (await connection.closed()).toString()
  t.notMatch(bytes, /secret|problem/)
  t.match(failures(), [{ level: 50, err: { message: 'secret' } }])
})

test('a handler that goes on after its failure was answered cannot replace the answer', async (t) => {
  const { app } = await createApp(t, {
    before: renderBy(async () => {
      await new Promise((resolve) => setImmediate(resolve))
      return { body: 'page', contentType: 'text/html' }
    }),
    after: (it) =>
      it
        .get('/sends', (_, reply) => {
          void reply.send(new Error('first'))
          void reply.send('second')
        })
        .get('/throws', async (_, reply) => {
          void reply.send(new Error('first'))
          throw new Error('second secret')
        })
        .get('/returns', async (_, reply) => {
          reply.callNotFound()
          return 'second'
        }),
  })
  for (const url of ['/sends', '/throws', '/returns']) {
    const answer = await app.inject({ url, headers: inertiaHeaders })
    t.equal(answer.body, 'page', url)
    t.equal(answer.statusCode, url === '/returns' ? 404 : 500)
  }
})
