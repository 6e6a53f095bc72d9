import { test } from 'tap'
import { NotFoundException } from '@fastify-modular/core'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import { createApp, listen, throwing } from '../support/app.js'
import { problemOf } from '../support/expect.js'

test('trailers of the body that is not sent go with it, also one that would throw', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it.get('/', (_, reply) => {
        reply.trailer('digest', async () => 'sha-256=AAA=')
        reply.trailer('server-timing', throwing(new Error('secret')))
        throw new NotFoundException('Product', 42)
      }),
  })
  const answer = await app.inject('/')
  problemOf(t, answer, 404, 'Resource not found')
  for (const name of ['trailer', 'transfer-encoding']) t.equal(answer.headers[name], undefined, name)
  t.same(answer.trailers, {})
  t.equal(answer.headers['content-length'], String(Buffer.byteLength(answer.body)))
})

test('the status line has the phrase of its status, whatever was set for another one', async (t) => {
  const { app } = await createApp(t, {
    after: (it) => {
      it.get('/phrase', (_, reply) => {
        reply.raw.statusMessage = 'Fine'
        throw new NotFoundException('Product', 42)
      })
      it.get(
        '/head',
        { onSend: async (_, reply) => void reply.header('x-a', 'a\nb') },
        throwing(new NotFoundException('Product', 42)),
      )
    },
  })
  const address = await listen(app)
  const lineOf = async (target: string) => (await rawRequest(address, { target })).head.split('\r\n', 1)[0]
  t.equal(await lineOf('/phrase'), 'HTTP/1.1 404 Not Found')
  t.equal(await lineOf('/head'), 'HTTP/1.1 500 Internal Server Error', 'a header that cannot be written')
})
