import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Fastify from 'fastify'
import { test } from 'tap'
import { createConfigReader, isRequestLoggingDisabled, removeTrailers } from '@fastify-modular/core/internal'

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

test('the configuration is read where Fastify keeps it; the getter that allocates is called once', async (t) => {
  const read = createConfigReader()
  const app = Fastify()
  t.teardown(() => app.close())
  let asked = 0
  app.addHook('onRequest', (request, _reply, done) => {
    const { config } = request.routeOptions
    const own = Object.create(request, {
      routeOptions: { get: () => ((asked += 1), { config }) },
    }) as FastifyRequest
    for (const key of Object.getOwnPropertySymbols(request)) {
      Object.defineProperty(own, key, { value: Reflect.get(request, key) })
    }
    t.equal(read(own), config, request.url)
    done()
  })
  app.get('/a', { config: { access: 'public' } }, async () => 'ran')
  app.get('/b/:id', async () => 'ran')
  for (const url of ['/a', '/b/1', '/missing', '/a']) await app.inject(url)
  t.equal(asked, 1)
})

test('a Fastify that keeps it elsewhere, or keeps something else there, is read through the getter', async (t) => {
  const config = { url: '/a', method: 'GET' }
  for (const context of [undefined, { config: { url: '/b', method: 'GET' } }, 'text']) {
    const read = createConfigReader()
    const request = {
      routeOptions: { config },
      [Symbol('fastify.context')]: context,
    } as unknown as FastifyRequest
    t.equal(read(request), config)
    t.equal(read(request), config)
  }
})
