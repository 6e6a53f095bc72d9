import type { Caller } from '@fastify-modular/core'
import Fastify from 'fastify'
import { test } from 'tap'
import { createGate } from '#src/gate/gate.js'

const alice: Caller = { id: 'alice', permissions: [], isAdmin: false }

/** An application behind a gate that counts its decisions; no request is public. */
function createCounting(authenticate: () => Caller | null | Promise<Caller | null>) {
  const asked = { times: 0 }
  const app = Fastify()
  app.decorateRequest('caller', null)
  app.addHook(
    'onRequest',
    createGate({
      decide: () => ((asked.times += 1), null),
      authenticate,
      challenge: (_, reply) => void reply.code(401).send(),
      answerUnavailable: (_, reply) => void reply.code(503).send(),
      refusesCrossOrigin: null,
      intercepts: () => false,
    }),
  )
  app.get('/', async (request) => request.caller)
  return { app, asked }
}

test('the gate decides once for each request, whoever calls and however long the provider takes', async (t) => {
  const fail = () => {
    throw new Error('the session store is down')
  }
  const answers: [() => Caller | null | Promise<Caller | null>, number][] = [
    [() => alice, 200],
    [() => null, 401],
    [async () => alice, 200],
    [async () => null, 401],
    [fail, 503],
    [async () => fail(), 503],
  ]
  for (const [authenticate, status] of answers) {
    const { app, asked } = createCounting(authenticate)
    t.equal((await app.inject('/')).statusCode, status)
    t.equal(asked.times, 1)
    await app.close()
  }
})
