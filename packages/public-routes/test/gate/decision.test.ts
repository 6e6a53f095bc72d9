import type { Caller } from '@fastify-modular/core'
import type { RequestAdmission } from '@fastify-modular/public-routes'
import Fastify from 'fastify'
import { test } from 'tap'
import { createGate } from '#src/gate/gate.js'

const alice: Caller = { id: 'alice' }

interface Behaviour {
  readonly authenticate: () => Caller | null | Promise<Caller | null>
  readonly findOpening?: () => RequestAdmission | null
}

/** An application behind a gate that counts how often it captures a request, and how often it looks for the rule. */
function createCounting({ authenticate, findOpening = () => null }: Behaviour) {
  const counted = { captures: 0, searches: 0 }
  const app = Fastify()
  app.decorateRequest('caller', null)
  app.addHook(
    'onRequest',
    createGate({
      decide() {
        counted.captures += 1
        return {
          needs: null,
          letsIn: { by: 'caller' },
          get publicBecause() {
            counted.searches += 1
            return findOpening()
          },
        }
      },
      authenticate,
      answers: {
        challenge: ({ reply }) => void reply.code(401).send(),
        forbid: ({ reply }) => void reply.code(403).send(),
        refuseForgery: ({ reply }) => void reply.code(403).send(),
        reportUnavailable: ({ reply }) => void reply.code(503).send(),
      },
      isForgeable: null,
      takeProbe: () => false,
    }),
  )
  app.get('/', async (request) => request.caller)
  return { app, counted }
}

const fail = () => {
  throw new Error('the session store is down')
}

const cases: readonly (Behaviour & {
  readonly name: string
  readonly status: number
  readonly known: boolean
})[] = [
  { name: 'a known caller', authenticate: () => alice, status: 200, known: true },
  { name: 'a caller known later', authenticate: async () => alice, status: 200, known: true },
  { name: 'an anonymous caller', authenticate: () => null, status: 401, known: false },
  { name: 'a caller found anonymous later', authenticate: async () => null, status: 401, known: false },
  { name: 'a caller of a provider that fails', authenticate: fail, status: 503, known: false },
  {
    name: 'a caller of a provider that fails later',
    authenticate: async () => fail(),
    status: 503,
    known: false,
  },
]

for (const { name, authenticate, status, known } of cases) {
  test(`decision 53: for ${name} the gate captures the request once and looks for a rule only if it needs one`, async (t) => {
    const { app, counted } = createCounting({ authenticate })
    t.teardown(() => app.close())
    t.equal((await app.inject('/')).statusCode, status)
    t.equal(counted.captures, 1)
    t.equal(counted.searches > 0, !known)
  })
}

test('a decision that fails lets no anonymous request pass, whenever the provider answers', async (t) => {
  for (const authenticate of [() => null, async () => null, fail, async () => fail()]) {
    const { app } = createCounting({
      authenticate,
      findOpening() {
        throw new Error('the rules are broken')
      },
    })
    t.teardown(() => app.close())
    t.equal((await app.inject('/')).statusCode, 500)
  }
})
