/** A stream and the session of its caller: an open tab is no activity. */
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import cookie from '@fastify/cookie'
import session from '@fastify/session'
import { settings } from '@fastify-modular/settings'
import { until } from '@fastify-modular/test-support/until'
import Fastify from 'fastify'
import { test } from 'tap'
import { definitions } from '../support/app.ts'
import { readStream } from '../support/reader.ts'

const minutes = 60_000

test('an open tab ends with the session, at its idle time-out, and a request of a page prolongs both', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  const begin = Date.now()
  let passed = 0
  mock.method(Date, 'now', () => begin + passed)
  t.teardown(() => mock.reset())
  let answers = 0
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onResponse', async () => void answers++)
  await app.register(cookie)
  await app.register(session, {
    secret: 'a secret of this test alone, long enough',
    rolling: true,
    cookie: { secure: false, maxAge: 30 * minutes },
  })
  app.post('/sign-in', async (request) => {
    request.session.set('user' as never, 'alice' as never)
    return {}
  })
  app.get('/page', async () => ({}))
  await app.register(settings, {
    definitions: [definitions],
    findCaller: ({ session: found }) => (found.get('user' as never) === 'alice' ? { id: 'alice' } : null),
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const signedIn = await app.inject({ method: 'POST', url: '/sign-in' })
  const headers = { cookie: String(signedIn.headers['set-cookie']).split(';', 1)[0] ?? '' }
  const stream = await readStream(app, { headers })
  await stream.next('own')
  let isEnded = false
  void stream.ended().then(() => (isEnded = true))
  /** A minute passes, and its question is answered. */
  const wait = async () => {
    const before = answers
    passed += minutes
    mock.timers.tick(minutes)
    await until(() => answers > before)
    for (let step = 0; step < 10; step++) await turn() // the question is over
  }

  for (let minute = 0; minute < 20; minute++) await wait()
  await app.inject({ url: '/page', headers })
  for (let minute = 0; minute < 28; minute++) await wait()
  t.equal(isEnded, false, '28 minutes after the last request of the page')
  for (let minute = 0; minute < 2; minute++) await wait()
  await stream.ended()
  t.equal((await readStream(app, { headers })).status, 401)
})
