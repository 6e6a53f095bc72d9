import type { Caller } from '@fastify-modular/core'
import { combineProviders, type AuthProvider, type AuthResult } from '@fastify-modular/public-routes'
import type { FastifyRequest } from 'fastify'
import { test } from 'tap'
import { gatedApp, Sink } from './support/application.ts'

const alice: Caller = { id: 'alice' }
const never = () => new Promise<Caller>(() => {})
const fails = (): never => {
  throw new Error('down')
}

type Outcome = 'caller' | 'anonymous' | 'failure'

const answers: readonly [string, () => unknown, Outcome][] = [
  ['a caller', () => alice, 'caller'],
  ['a promise of a caller', async () => alice, 'caller'],
  ['null', () => null, 'anonymous'],
  ['undefined', () => undefined, 'anonymous'],
  ['false', () => false, 'anonymous'],
  ['a promise of null', async () => null, 'anonymous'],
  ['a throw', fails, 'failure'],
  [
    'a throw of nothing',
    () => {
      throw undefined
    },
    'failure',
  ],
  ['a rejection', async () => fails(), 'failure'],
  ['a rejection with nothing', () => Promise.reject(undefined), 'failure'],
  ['a promise that never settles', never, 'failure'],
  ['true', () => true, 'failure'],
  ['a name', () => 'alice', 'failure'],
  ['an object without an id', () => ({ isAdmin: true }), 'failure'],
  ['an empty id', () => ({ id: '', isAdmin: true }), 'failure'],
  ['a caller without permissions', () => ({ id: 'alice', isAdmin: true }), 'caller'],
  ['a caller of whom nothing but the id is known', () => ({ id: 'alice' }), 'caller'],
  ['permissions that are one text', () => ({ id: 'alice', permissions: 'Notes.*' }), 'failure'],
  ['permissions that are null', () => ({ id: 'alice', permissions: null }), 'failure'],
  ['an array', () => [alice], 'failure'],
  [
    'a thenable that throws',
    () => ({
      // oxlint-disable-next-line unicorn/no-thenable -- a hostile one
      then() {
        throw new Error('broken')
      },
    }),
    'failure',
  ],
  [
    'a thenable that settles twice',
    () => ({
      // oxlint-disable-next-line unicorn/no-thenable -- a hostile one
      then(ok: (caller: unknown) => void) {
        ok(null)
        ok(alice)
      },
    }),
    'anonymous',
  ],
]

for (const [name, authenticate, outcome] of answers) {
  test(`decision 37: a provider that answers with ${name} means ${outcome}`, async (t) => {
    const sink = new Sink()
    const provider = { authenticate: () => authenticate() as AuthResult }
    const app = await gatedApp(t, { provider, timeout: 30 })
    app.get('/protected', sink.handler('protected'))
    app.get('/public', { config: { access: 'public' } }, sink.handler('public'))

    const guarded = await app.inject({ url: '/protected', headers: { 'x-number': 'guarded' } })
    t.equal(guarded.statusCode, { caller: 200, anonymous: 401, failure: 503 }[outcome])
    t.equal(sink.ranFor('guarded'), outcome === 'caller' ? 'protected' : undefined)

    const open = await app.inject({ url: '/public', headers: { 'x-number': 'open' } })
    t.equal(open.statusCode, 200, 'a public path never depends on the provider')
    t.same(open.json(), { handler: 'public', caller: outcome === 'caller' ? 'alice' : null })
  })
}

test('decision 37: a provider that is down is answered with a 503 problem and Retry-After, and nothing of its error', async (t) => {
  const app = await gatedApp(t, {
    provider: {
      authenticate: () => {
        throw new Error('password=hunter2')
      },
    },
  })
  const answer = await app.inject('/protected')
  t.equal(answer.statusCode, 503)
  t.equal(answer.headers['retry-after'], '5')
  t.equal(answer.headers['content-type'], 'application/problem+json')
  t.equal(answer.headers['cache-control'], 'no-store')
  t.match(answer.json(), {
    status: 503,
    title: 'Service Unavailable',
    code: 'SERVICE_UNAVAILABLE',
    requestId: /^req-/,
  })
  t.notMatch(answer.body, /hunter2/)
})

test('decision 37: an answer that comes after the time-out changes nothing', async (t) => {
  const sink = new Sink()
  let answerLate: (caller: Caller) => void = () => {}
  const late = new Promise<Caller>((resolve) => (answerLate = resolve))
  const app = await gatedApp(t, { provider: { authenticate: () => late }, timeout: 20 })
  app.get('/protected', sink.handler('protected'))
  const answer = await app.inject({ url: '/protected', headers: { 'x-number': '1' } })
  answerLate(alice)
  await late
  await new Promise(setImmediate)
  t.equal(answer.statusCode, 503)
  t.equal(sink.ranFor(1), undefined)
})

test('the signal aborts when the time-out passes', async (t) => {
  let aborted: unknown
  const authenticate = (_: FastifyRequest, signal: AbortSignal) =>
    new Promise<null>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted = signal.reason
        reject(new Error('aborted'))
      })
    })
  const app = await gatedApp(t, { provider: { authenticate }, timeout: 20 })
  t.equal((await app.inject('/protected')).statusCode, 503)
  t.match(aborted, { message: /did not answer within 20 ms/ })
})

test('a provider that does not declare the signal gets one that never aborts', async (t) => {
  let signal: unknown
  const authenticate = (...given: unknown[]) => {
    signal = given[1]
    return null
  }
  const app = await gatedApp(t, { provider: { authenticate } })
  await app.inject('/protected')
  t.match(signal, { aborted: false })
})

const knows = (
  name: string,
  answer: () => AuthResult | Promise<AuthResult>,
  called: string[] = [],
): AuthProvider => ({
  authenticate: (_request: FastifyRequest) => {
    called.push(name)
    return answer()
  },
  challenge: () => name,
})
const request = {} as FastifyRequest
const { signal } = new AbortController()

test('combined providers are called in order until one knows the caller', async (t) => {
  const called: string[] = []
  const combined = combineProviders([
    knows('a', () => null, called),
    knows('b', () => alice, called),
    knows('c', () => alice, called),
  ])
  t.equal(combined.authenticate(request, signal), alice, 'synchronous as its parts')
  t.same(called, ['a', 'b'])
})

test('combined providers may be asynchronous', async (t) => {
  const combined = combineProviders([
    knows('a', async () => null),
    knows('b', () => null),
    knows('c', async () => alice),
  ])
  t.equal(await combined.authenticate(request, signal), alice)
  t.equal(await combineProviders([knows('a', async () => null)]).authenticate(request, signal), null)
  t.equal(combineProviders([]).authenticate(request, signal), null)
})

test('a provider that fails does not keep another from recognising the caller', async (t) => {
  t.equal(combineProviders([knows('a', fails), knows('b', () => alice)]).authenticate(request, signal), alice)
  t.equal(
    await combineProviders([knows('a', async () => fails()), knows('b', async () => alice)]).authenticate(
      request,
      signal,
    ),
    alice,
  )
})

test('a failure counts when no other provider knows the caller', async (t) => {
  t.throws(
    () => combineProviders([knows('a', fails), knows('b', () => null)]).authenticate(request, signal),
    { message: 'down' },
  )
  await t.rejects(
    async () =>
      combineProviders([knows('a', async () => fails()), knows('b', async () => null)]).authenticate(
        request,
        signal,
      ),
    { message: 'down' },
  )
  await t.rejects(
    async () =>
      combineProviders([knows('a', fails), knows('b', async () => null)]).authenticate(request, signal),
    { message: 'down' },
  )
})

test('combined providers share a login URL, all public paths and all challenges', async (t) => {
  const combined = combineProviders([
    { authenticate: () => null, publicPaths: ['/a'] },
    { authenticate: () => null, loginUrl: '/login', publicPaths: ['/b'], challenge: () => 'ApiKey' },
    { authenticate: () => null, loginUrl: '/other' },
  ])
  t.equal(combined.loginUrl, '/login')
  t.same(combined.publicPaths, ['/a', '/b'])
  t.equal(combined.challenge?.(request), 'Bearer, ApiKey')
})
