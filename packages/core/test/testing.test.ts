import Fastify from 'fastify'
import { test } from 'tap'
import { type Caller, events } from '@fastify-modular/core'
import { findTestCaller } from '@fastify-modular/core/internal'
import { eventsOf, injectAs, enableTestCallers } from '@fastify-modular/core/testing'
import { NoteShared } from './events/fixtures/events.js'

const alice: Caller = { id: 'alice' }

test('injectAs makes one request as a caller, and the token is worth nothing afterwards', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  enableTestCallers(app)
  const find = findTestCaller(app)
  const seen: unknown[] = []
  app.get('/', async (request) => {
    seen.push(request.headers['x-fastify-modular-test-caller'])
    return find?.(request)?.id ?? 'anonymous'
  })
  t.equal((await injectAs(app, alice, '/')).body, 'alice')
  t.equal((await app.inject('/')).body, 'anonymous')
  const headers = { 'x-fastify-modular-test-caller': String(seen[0]) }
  t.equal((await app.inject({ url: '/', headers })).body, 'anonymous', 'a used token')
  t.equal(
    (await app.inject({ url: '/', headers: { 'x-fastify-modular-test-caller': 'alice' } })).body,
    'anonymous',
    'a guessed one',
  )
})

test('the helpers take an application of HTTP/2', async (t) => {
  const app = Fastify({ http2: true })
  t.teardown(() => app.close())
  enableTestCallers(app)
  const find = findTestCaller(app)
  app.get('/', async (request) => find?.(request)?.id ?? 'anonymous')
  using record = eventsOf(app)
  t.equal((await injectAs(app, alice, '/')).body, 'alice')
  t.same(record.published, [])
})

test('an application without enableTestCallers has no test callers', async (t) => {
  const app = Fastify()
  t.equal(findTestCaller(app), undefined)
  await t.rejects(injectAs(app, alice, '/'), {
    code: 'FMOD_CORE_DECORATOR_MISSING',
    message: /test-callers.*enableTestCallers\(app\)/,
  })
})

test('injectAs in an application without a gate says that the request had no caller', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  enableTestCallers(app)
  app.get('/', async () => 'anonymous')
  await t.rejects(injectAs(app, alice, '/'), {
    code: 'FMOD_CORE_TEST_CALLERS_IGNORED',
    message: /public-routes/,
  })
})

test('eventsOf records what was published and waits for handlers', async (t) => {
  class OneHandler {
    static event = NoteShared
    async handle(): Promise<void> {}
  }
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(events, { handlers: [OneHandler] })
  const record = eventsOf(app)
  await app.ready()
  await app.events.publish(new NoteShared({ noteId: '1', by: 'a' }))
  await record.waitFor('app.OneHandler', 1, 20_000)
  t.same([record.published, record.handled], [['notes.shared'], ['app.OneHandler']])
  await t.rejects(
    record.waitFor('app.OtherHandler', 1, 20),
    /app\.OtherHandler did not finish.*Handled: app\.OneHandler/,
  )
  record[Symbol.dispose]()
  await app.events.publish(new NoteShared({ noteId: '2', by: 'a' }))
  t.same(record.published, ['notes.shared'], 'a disposed record is finished')
})

test('eventsOf records an application that is ready already', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(events)
  await app.ready()
  using record = eventsOf(app)
  await app.events.publish(new NoteShared({ noteId: '1', by: 'a' }))
  t.same(record.published, ['notes.shared'])
})
