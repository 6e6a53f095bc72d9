/**
 * Thousands of hostile requests over raw sockets. `CORPUS_EXTRA` adds random compositions and `CORPUS_SEED` draws
 * others: `CORPUS_EXTRA=60000 CORPUS_SEED=2 node dist-test/gate/corpus.test.js`.
 */
import type { Caller } from '@fastify-modular/core'
import { publicRoutes } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify'
import { test, type Test } from 'tap'
import { callerNamed, headerProvider, lenientRouter, listen, Sink } from '../support/application.ts'
import { hostileRequests, type HostileRequest } from '@fastify-modular/test-support/hostile-requests'
import { rawRequest } from '../support/raw-request.ts'

const extra = Number(process.env['CORPUS_EXTRA'] ?? 3000)
const seed = Number(process.env['CORPUS_SEED'] ?? 1)
const paths = {
  protected: ['/api/secret/42', '/api/settings/theme', '/admin'],
  public: ['/open', '/static/a.css', '/api/items/7/tilejson'],
}

const lenient: FastifyServerOptions = { routerOptions: lenientRouter }

function addRoutes(app: FastifyInstance, sink: Sink): void {
  app.get('/open', sink.handler('public open'))
  app.get('/static/*', sink.handler('public static'))
  app.get('/api/items/:id/tilejson', sink.handler('public tilejson'))
  app.all('/admin', sink.handler('admin'))
  app.all('/api/secret/:id', sink.handler('secret'))
  app.get('/api/settings/:key', sink.handler('setting'))
  app.patch('/api/items/:id/tilejson', sink.handler('change'))
  app.patch('/api/items/:id', sink.handler('change'))
}

/** The rules that every gate below is given. */
const rules = {
  exact: ['/', '/open'],
  prefix: ['/static/'],
  suffix: ['/tilejson'],
}

const permissions = { 'Secret.Read': 'Read secrets' }

async function soundGate(app: FastifyInstance): Promise<void> {
  await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false, permissions })
  for (const path of rules.exact) app.publicRoutes.addExact(path, { methods: ['GET'] })
  for (const path of rules.prefix) app.publicRoutes.addPrefix(path, { methods: ['GET'] })
  for (const path of rules.suffix) app.publicRoutes.addSuffix(path, { methods: ['GET'] })
}

const secret = { config: { access: 'Secret.Read' } }
const open = { config: { access: 'public' } }

/** The same routes, each of which declares its access. */
function addDeclaredRoutes(app: FastifyInstance, sink: Sink): void {
  app.get('/open', open, sink.handler('public open'))
  app.get('/static/*', open, sink.handler('public static'))
  app.route({
    method: ['GET', 'PATCH'],
    url: '/api/items/:id/tilejson',
    config: { access: { GET: 'public', PATCH: 'Secret.Read' } },
    handler: async (request) =>
      sink.handler(request.method === 'GET' ? 'public tilejson' : 'change')(request),
  })
  app.all('/admin', secret, sink.handler('admin'))
  app.all('/api/secret/:id', secret, sink.handler('secret'))
  app.get('/api/settings/:key', secret, sink.handler('setting'))
  app.patch('/api/items/:id', secret, sink.handler('change'))
}

async function declaringGate(app: FastifyInstance): Promise<void> {
  const authenticate = ({ headers }: FastifyRequest): Caller | null => {
    const known = callerNamed(headers['x-user'])
    return known?.id === 'alice' ? { ...known, permissions: ['Secret.*'] } : known
  }
  await app.register(publicRoutes, { provider: { authenticate }, env: false, defaults: false, permissions })
}

/** Guards as applications write them, each of which reads the path in its own way. */
function naiveGate(pathOf: (url: string) => string) {
  return async (app: FastifyInstance): Promise<void> => {
    app.addHook('onRequest', (request, reply, done) => {
      const path = pathOf(request.url)
      const isPublic =
        request.method === 'GET' &&
        (rules.exact.includes(path) ||
          rules.prefix.some((prefix) => path.startsWith(prefix)) ||
          rules.suffix.some((suffix) => path.endsWith(suffix)))
      if (isPublic || request.headers['x-user'] !== undefined) done()
      else reply.code(401).send('no')
    })
  }
}

interface Tally {
  requests: number
  readonly bypasses: string[]
  readonly serverErrors: string[]
  readonly badRedirects: string[]
}

interface Attack {
  readonly gate: (app: FastifyInstance) => Promise<void>
  readonly server: FastifyServerOptions
  /** Number of random compositions. */
  readonly more: number
  readonly routes?: (app: FastifyInstance, sink: Sink) => void
  /** Sent with every hostile request. */
  readonly headers?: Readonly<Record<string, string>>
}

async function attack(
  t: Test,
  { gate, server, more, routes = addRoutes, headers = {} }: Attack,
): Promise<Tally> {
  const sink = new Sink()
  const app = Fastify(server)
  t.teardown(() => app.close())
  await gate(app)
  routes(app, sink)
  const port = await listen(app)
  await checkControls(t, port)

  const tally: Tally = { requests: 0, bypasses: [], serverErrors: [], badRedirects: [] }
  const requests = hostileRequests(paths, more, seed)
  await Promise.all(Array.from({ length: 24 }, () => send({ port, requests, sink, tally, headers })))
  await checkControls(t, port)
  return tally
}

/** Otherwise a gate that refuses every request, or a server that does not answer, would pass. */
async function checkControls(t: Test, port: number): Promise<void> {
  for (const target of paths.public)
    t.equal((await rawRequest({ port, target })).status, 200, `anonymous ${target}`)
  for (const target of [...paths.protected, '/static/my%20file%C3%A9.css']) {
    t.equal(
      (await rawRequest({ port, target, headers: { 'x-user': 'alice' } })).status,
      200,
      `alice ${target}`,
    )
  }
  for (const target of paths.protected)
    t.equal((await rawRequest({ port, target })).status, 401, `anonymous ${target}`)
}

async function send({
  port,
  requests,
  sink,
  tally,
  headers: always,
}: {
  readonly port: number
  readonly requests: Iterator<HostileRequest>
  readonly sink: Sink
  readonly tally: Tally
  readonly headers: Readonly<Record<string, string>>
}): Promise<void> {
  for (let next = requests.next(); next.done !== true; next = requests.next()) {
    const { method, target, headers } = next.value
    // A missing path of a known caller is answered after its body, which the corpus announces and does not send.
    if ('x-user' in always && ('content-length' in headers || 'transfer-encoding' in headers)) continue
    const number = ++tally.requests
    const answer = await rawRequest({
      port,
      method,
      target,
      headers: { ...headers, ...always, 'x-number': String(number) },
    })
    const request = `${method} ${target} ${JSON.stringify(headers)} → ${answer.status}`
    const ran = sink.ranFor(number)
    if (ran !== undefined && !ran.startsWith('public')) tally.bypasses.push(`${request} ran ${ran}`)
    if (answer.status >= 500) tally.serverErrors.push(request)
    const location = answer.headers.get('location')
    if (location !== undefined && !location.startsWith('/login'))
      tally.badRedirects.push(`${request} ${location}`)
  }
}

for (const [name, server] of [
  ['a default router', {}],
  ['a lenient router', lenient],
] as const) {
  test(`property 10: no hostile request runs a protected handler behind ${name}`, async (t) => {
    const tally = await attack(t, { gate: soundGate, server, more: extra })
    t.ok(tally.requests > 2000, `${tally.requests} requests`)
    t.same(tally.bypasses, [])
    t.same(tally.serverErrors, [])
    t.same(tally.badRedirects, [])
    t.comment(`${tally.requests} requests, ${tally.bypasses.length} bypasses`)
  })
}

for (const [caller, headers] of [
  ['an anonymous caller', {}],
  ['a caller without the permission', { 'x-user': 'mallory' }],
] as const) {
  test(`no hostile request of ${caller} runs a handler whose route declares a permission`, async (t) => {
    const hostile = { gate: declaringGate, routes: addDeclaredRoutes, server: lenient, headers }
    const tally = await attack(t, { ...hostile, more: Math.min(extra, 1000) })
    t.ok(tally.requests > 2000, `${tally.requests} requests`)
    t.same(tally.bypasses, [])
    t.same(tally.serverErrors, [])
    t.same(tally.badRedirects, [])
    t.comment(`${tally.requests} requests, ${tally.bypasses.length} bypasses`)
  })
}

const naive: readonly [string, (url: string) => string][] = [
  ['the raw URL', (url) => url],
  ['the URL up to the query', (url) => url.split('?', 1)[0] ?? ''],
]

for (const [name, pathOf] of naive) {
  test(`the corpus has teeth: a gate that reads ${name} is bypassed`, async (t) => {
    const tally = await attack(t, { gate: naiveGate(pathOf), server: lenient, more: Math.min(extra, 1000) })
    t.ok(tally.bypasses.length > 20, `${tally.bypasses.length} of ${tally.requests} requests`)
    t.comment(`${tally.requests} requests, ${tally.bypasses.length} bypasses`)
  })
}
