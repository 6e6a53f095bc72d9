import { test } from 'tap'
import { gatedApp, Sink } from '../support/application.ts'

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
