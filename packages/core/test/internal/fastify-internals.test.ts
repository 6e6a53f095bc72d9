import type { FastifyInstance, FastifyReply } from 'fastify'
import Fastify from 'fastify'
import { test } from 'tap'
import { createHeaderCheck, isRequestLoggingDisabled, removeTrailers } from '@fastify-modular/core/internal'

test('whether a reply has headers is read where Fastify keeps them, also those of the raw response', async (t) => {
  const check = createHeaderCheck()
  const app = Fastify()
  t.teardown(() => app.close())
  let asked = 0
  app.addHook('onRequest', (_request, reply, done) => {
    const { getHeaders } = reply
    reply.getHeaders = () => ((asked += 1), getHeaders.call(reply))
    done()
  })
  app.get('/none', (_, reply) => reply.send({ has: check(reply) }))
  app.get('/reply', (_, reply) => reply.header('x-a', '1').send({ has: check(reply) }))
  app.get('/raw', (_, reply) => {
    reply.raw.setHeader('x-a', '1')
    return reply.send({ has: check(reply) })
  })
  const has = async (url: string) => (await app.inject(url)).json<{ has: boolean }>().has
  t.same([await has('/none'), await has('/reply'), await has('/raw')], [false, true, true])
  t.equal(asked, 0)
})

test('a Fastify that keeps them elsewhere, or keeps something else there, may have headers', async (t) => {
  for (const kept of [undefined, 'text']) {
    const check = createHeaderCheck()
    const reply = {
      raw: { getHeaderNames: () => [] },
      [Symbol('fastify.reply.headers')]: kept,
    } as unknown as FastifyReply
    t.equal(check(reply), true)
    t.equal(check(reply), true)
  }
})

test('all trailers of a reply are removed, whichever copy of Fastify made it', (t) => {
  const replyOf = (key: symbol | undefined, removed: string[]) =>
    ({
      removeTrailer: (name: string) => removed.push(name),
      ...(key && { [key]: { etag: true, digest: true } }),
    }) as unknown as FastifyReply
  const copies = [Symbol('fastify.reply.trailers'), Symbol('fastify.reply.trailers')]
  for (const key of [...copies, undefined, ...copies]) {
    const removed: string[] = []
    removeTrailers(replyOf(key, removed))
    t.same(removed, key ? ['etag', 'digest'] : [])
  }
  t.end()
})

test('whether requests are logged is read from the log controller, or from the options where there is none', (t) => {
  const serverOf = (initialConfig: object, controller?: object) =>
    Object.create({ initialConfig, [Symbol('fastify.logController')]: controller }) as FastifyInstance
  const servers: [FastifyInstance, boolean][] = [
    [Fastify(), false],
    [serverOf({ disableRequestLogging: true }), true],
    [serverOf({ disableRequestLogging: false }, { disableRequestLogging: true }), true],
    [serverOf({}, { disableRequestLogging: true }), true],
    [serverOf({}, { disableRequestLogging: false }), false],
    [serverOf({}), false],
  ]
  t.same(
    servers.map(([server]) => isRequestLoggingDisabled({ server })),
    servers.map(([, expected]) => expected),
  )
  t.end()
})
