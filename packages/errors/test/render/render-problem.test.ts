import { test } from 'tap'
import { ConflictException, defineProblem } from '@fastify-modular/core'
import { createThrowing } from '../support/app.js'
import { problemOf } from '../support/expect.js'

class OutOfCredit extends defineProblem({ status: 402, code: 'OUT_OF_CREDIT', title: 'Out of credit' }) {}

test('E72: extensions never replace standard members, and bad ones are left out', async (t) => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const extensions = {
    status: 200,
    type: 'https://evil.example',
    title: 'evil',
    detail: 'evil',
    instance: '/evil',
    code: 'EVIL',
    requestId: 'evil',
    traceId: 'evil',
    '"injected': 1,
    __proto: 1,
    'a-b': 1,
    circular,
    big: 1n,
    fn: () => 1,
    huge: 'x'.repeat(100_000),
    good: { nested: ['ü', '\u2028', '\ud800'] },
  }
  const { app } = await createThrowing(t, new OutOfCredit('none', extensions))
  const body = problemOf(t, await app.inject('/'), 402, 'Out of credit')
  t.equal(body.type, 'urn:problem:out-of-credit')
  t.same(Object.keys(body).toSorted(), [
    'code',
    'detail',
    'good',
    'instance',
    'requestId',
    'status',
    'title',
    'type',
  ])
})

test('extensions that cannot be listed do not cost the answer', async (t) => {
  const trap = (): never => {
    throw new Error('secret')
  }
  const { app } = await createThrowing(
    t,
    new ConflictException('taken', new Proxy({}, { ownKeys: trap, get: trap })),
  )
  t.equal(problemOf(t, await app.inject('/'), 409, 'Conflict').detail, 'taken')
})
