import { test } from 'tap'
import { gatedApp, Sink } from '../support/application.ts'
import { gate, loggingApp } from '../support/logging-application.ts'

test('decision 37: while the provider is down people get the page that the application shows for failures', async (t) => {
  const app = await gatedApp(t, {
    provider: {
      authenticate: () => {
        throw new Error('password=hunter2')
      },
    },
  })
  const sink = new Sink()
  app.get('/protected', sink.handler('protected'))
  app.setErrorHandler((error: { statusCode?: number; cause?: unknown }, _, reply) => {
    t.match(error.cause, { message: 'password=hunter2' }, 'for the log')
    return reply.code(error.statusCode ?? 500).send('the page')
  })
  for (const headers of [{ accept: 'text/html' }, { 'x-inertia': 'true' }]) {
    const answer = await app.inject({ url: '/protected', headers: { ...headers, 'x-number': '1' } })
    t.equal(answer.statusCode, 503)
    t.equal(answer.body, 'the page')
    t.match(answer.headers, { 'retry-after': '5', 'cache-control': 'no-store', vary: /cookie/ })
  }
  t.equal(sink.ranFor(1), undefined)
  const classifiesNobody = await gatedApp(t, {
    provider: { authenticate: async () => Promise.reject(new Error('down')) },
    classify: () => {
      throw new Error('down too')
    },
  })
  t.equal((await classifiesNobody.inject('/protected')).headers['content-type'], 'application/problem+json')
})

/** What providers throw that loggers cannot serialise, or should not: HTTP clients keep the request with its credentials. */
const failures = {
  'a frozen error': () => Object.freeze(new Error('down')),
  'a getter that throws': () =>
    Object.defineProperty(new Error('down'), 'stack', {
      get: () => {
        throw new Error('trap')
      },
    }),
  'the error of an HTTP client': () =>
    Object.assign(new Error('down'), { config: { headers: { authorization: 'Bearer hunter2' } } }),
}

for (const [what, makeFailure] of Object.entries(failures)) {
  test(`a provider that fails with ${what} leaves public paths open and protected ones closed`, async (t) => {
    const providers = {
      thrown: () => {
        throw makeFailure()
      },
      rejected: async () => Promise.reject(makeFailure()),
    }
    for (const [how, authenticate] of Object.entries(providers)) {
      const { app, lines } = loggingApp(t)
      await gate(app, { provider: { authenticate } })
      app.get('/public', { config: { access: 'public' } }, () => 'public')
      app.get('/protected', () => 'protected')
      t.equal((await app.inject('/public')).body, 'public', how)
      t.equal((await app.inject('/protected')).statusCode, 503, how)
      const logged = lines().filter(({ msg }) => msg === 'the authentication provider failed')
      t.equal(logged.length, 2, `${how}: each failure is logged`)
      t.notMatch(JSON.stringify(logged), 'hunter2', how)
    }
  })
}
