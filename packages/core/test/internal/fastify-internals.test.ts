import type { FastifyInstance, FastifyReply } from 'fastify'
import Fastify from 'fastify'
import { test } from 'tap'
import { isRequestLoggingDisabled, removeTrailers } from '@fastify-modular/core/internal'

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
