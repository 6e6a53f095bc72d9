/** `request.admission`: how the gate let each request in, over raw sockets. */
import { publicRoutes, type RequestAdmission } from '@fastify-modular/public-routes'
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { headerProvider, listen } from '../support/application.ts'
import { rawRequest } from '../support/raw-request.ts'

interface Seen {
  readonly before: RequestAdmission | null
  readonly after: RequestAdmission | null
}

/** What hooks saw of the last request. */
async function start(t: Test) {
  const app = Fastify()
  t.teardown(() => app.close())
  const last: { seen: Seen | null; before: RequestAdmission | null } = { seen: null, before: null }
  app.addHook('onRequest', (request, _reply, done) => {
    last.before = request.admission ?? null
    done()
  })
  await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false })
  app.addHook('onRequest', (request, _reply, done) => {
    last.seen = { before: last.before, after: request.admission }
    done()
  })
  app.publicRoutes.addRegex('/notes/.*/share$', { methods: ['GET'] }).addExact('/exact', { methods: ['GET'] })
  app.get('/notes/:id', async () => 'ran')
  app.get('/notes/:id/share', async () => 'ran')
  app.post('/notes/:id/share', async () => 'ran')
  app.get('/exact', async () => 'ran')
  app.get('/declared', { config: { access: 'public' } }, async () => 'ran')
  app.get('/private', async () => 'ran')
  const port = await listen(app)
  return async (method: string, target: string, user?: string): Promise<Seen | null> => {
    last.seen = null
    await rawRequest({ port, method, target, ...(user !== undefined && { headers: { 'x-user': user } }) })
    return last.seen
  }
}

const openedBy = (admission: RequestAdmission | null | undefined): string | undefined =>
  admission?.by === 'rule'
    ? admission.rule.route.pattern
    : admission?.by === 'declaration'
      ? admission.source
      : undefined

type Row = readonly [method: string, target: string, by: 'rule' | 'declaration' | 'caller', pattern?: string]

const rows: readonly Row[] = [
  ['GET', '/private', 'caller'],
  ['HEAD', '/private', 'caller'],
  ['GET', '/exact', 'rule', '/exact'],
  ['HEAD', '/exact', 'rule', '/exact'],
  ['GET', '/exact?page=2', 'rule', '/exact'],
  ['GET', '/declared', 'declaration', 'route config'],
  ['HEAD', '/declared', 'declaration', 'route config'],
  ['GET', '/notes/42/share', 'rule', '/notes/.*/share$'],
  ['HEAD', '/notes/42/share', 'rule', '/notes/.*/share$'],
  ['POST', '/notes/42/share', 'caller'],
  ['GET', '/notes/42', 'caller'],
  ['GET', '/notes/42#/share', 'caller'],
  ['GET', '/notes/42?/share', 'caller'],
  ['GET', '/notes/42%2Fshare', 'caller'],
  ['GET', '/notes/%34%32/share', 'caller'],
  ['GET', '//notes/42/share', 'caller'],
  ['GET', '/missing', 'caller'],
]

test('decision 65: request.admission says how a signed-in request was let in, and is null before the gate', async (t) => {
  const send = await start(t)
  for (const [method, target, by, pattern] of rows) {
    const seen = await send(method, target, 'alice')
    t.equal(seen?.before, null, `${method} ${target}: before`)
    t.equal(seen?.after?.by, by, `${method} ${target}`)
    t.equal(openedBy(seen?.after), pattern, `${method} ${target}: what opens it`)
  }
})

test('decision 65: an anonymous request is let in by the same rule, or not at all', async (t) => {
  const send = await start(t)
  for (const [method, target, by] of rows) {
    const [anonymous, known] = [await send(method, target), await send(method, target, 'alice')]
    t.equal(anonymous?.after ?? null, by !== 'caller' ? known?.after : null, `${method} ${target}`)
  }
})

test('request.admission is one frozen object for each rule: requests cannot change what others see', async (t) => {
  const send = await start(t)
  for (const target of ['/private', '/exact', '/declared', '/notes/42/share']) {
    const [one, other] = [await send('GET', target, 'alice'), await send('GET', target, 'bob')]
    t.ok(one?.after)
    t.equal(one?.after, other?.after, target)
    t.ok(Object.isFrozen(one?.after) && (one?.after?.by !== 'rule' || Object.isFrozen(one.after.rule)))
  }
})
