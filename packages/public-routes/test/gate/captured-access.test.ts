/**
 * `request.admission` is worked out when it is first read, from the request as it reached the gate and not from later
 * changes.
 */
import { publicRoutes, type AuthProvider, type RequestAdmission } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { test, type Test } from 'tap'
import { callerNamed, gatedApp, headerProvider, lenientRouter, listen } from '../support/application.ts'
import { rawRequest } from '../support/raw-request.ts'

type Change = (request: FastifyRequest) => void

/** What hooks and providers do to a request. */
const changes: Readonly<Record<string, Change>> = {
  nothing: () => {},
  'the URL to a public one': ({ raw }) => void (raw.url = '/exact'),
  'the URL to a public one of the same route': ({ raw }) => void (raw.url = '/notes/42/share'),
  'the URL to a protected one': ({ raw }) => void (raw.url = '/private'),
  'the URL to one that is not canonical': ({ raw }) => void (raw.url = '//exact'),
  'no URL at all': ({ raw }) => void delete raw.url,
  'the method to GET': ({ raw }) => void (raw.method = 'GET'),
  'the method to HEAD': ({ raw }) => void (raw.method = 'HEAD'),
  'the method to POST': ({ raw }) => void (raw.method = 'POST'),
  'the values of its parameters': ({ params }) =>
    void Object.assign(params ?? {}, { id: '42', what: 'share' }),
  'its parameters to numbers': ({ params }) => void Object.assign(params ?? {}, { id: 42 }),
  'its parameters to others': (request) => void (request.params = { id: '42', what: 'share' }),
  'no parameters at all': (request) => void (request.params = null),
  'the configuration of its route': ({ routeOptions }) =>
    void Object.assign(routeOptions.config, { access: 'public' }),
  'its headers': ({ headers }) => void Object.assign(headers, { 'x-user': 'admin', host: 'elsewhere' }),
  'its caller': (request) => void (request.caller = null),
}

const byRegex = '/notes/[^/]+/share$'

/** What opens each request: the pattern of a rule, or how else it is let in; `caller` for those that are not public. */
const requests: readonly (readonly [method: string, target: string, by: string])[] = [
  ['GET', '/exact', '/exact'],
  ['HEAD', '/exact', '/exact'],
  ['POST', '/exact', 'caller'],
  ['GET', '/exact?page=2', '/exact'],
  ['GET', '/EXACT', 'caller'],
  ['GET', '/declared/42', 'declaration'],
  ['HEAD', '/declared/42', 'declaration'],
  ['GET', '/private', 'caller'],
  ['GET', '/notes/42/share', byRegex],
  ['HEAD', '/notes/42/share', byRegex],
  ['POST', '/notes/42/share', 'caller'],
  ['GET', '/notes/42/other', 'caller'],
  ['GET', '/notes/%34%32/share', 'caller'],
  ['GET', '//notes/42/share', 'caller'],
  ['GET', '/notes/42#/share', 'caller'],
  ['GET', '/notes/42?/share', 'caller'],
  ['GET', '/notes/42%2Fshare/x', 'caller'],
  ['GET', '/optional', '/optional'],
  ['GET', '/optional/42', '/optional'],
  ['GET', '/missing', 'caller'],
  ['GET', '/public/missing', '/public/'],
]

interface Setting {
  /** Applied to each request between the gate and the first look at `request.admission`. */
  readonly change?: Change
  readonly provider?: AuthProvider
  /** Where `request.admission` is looked at first. */
  readonly look?: (app: FastifyInstance, look: Change) => void
}

const lookInHook = (app: FastifyInstance, look: Change): void =>
  void app.addHook('onRequest', (request, _reply, done) => {
    look(request)
    done()
  })

/** Sends each request over a raw socket; returns the pattern of the rule that opened it, or how else it was let in. */
async function accesses(
  t: Test,
  { change = () => {}, provider = headerProvider, look = lookInHook }: Setting,
) {
  const app = Fastify({ routerOptions: { ...lenientRouter, ignoreTrailingSlash: false } })
  t.teardown(() => app.close())
  const seen = new Map<string, RequestAdmission | null>()
  await app.register(publicRoutes, { provider, env: false, defaults: false })
  app.publicRoutes
    .addExact('/exact', { methods: ['GET'] })
    .addPrefix('/public/')
    .addPrefix('/optional')
  app.publicRoutes.addRegex('/notes/[^/]+/share$', { methods: ['GET'] })
  app.addHook('onRequest', (request, _reply, done) => {
    change(request)
    done()
  })
  look(app, (request) => {
    const name = String(request.headers['x-name'])
    if (!seen.has(name)) seen.set(name, request.admission)
  })
  const handler = async (request: FastifyRequest) => request.caller?.id ?? 'anonymous'
  app.route({ method: ['GET'], url: '/exact', handler })
  app.post('/exact', handler)
  app.get('/declared/:id', { config: { access: 'public' } }, handler)
  app.get('/private', handler)
  app.route({ method: ['GET'], url: '/notes/:id/:what', handler })
  app.post('/notes/:id/:what', handler)
  app.get('/optional/:id?', handler)
  const port = await listen(app)
  return async (user: string | undefined) => {
    seen.clear()
    const signedIn = user === undefined ? {} : { 'x-user': user }
    for (const [method, target] of requests) {
      await rawRequest({ port, method, target, headers: { ...signedIn, 'x-name': `${method} ${target}` } })
    }
    return new Map(
      [...seen].map(([name, admission]) => [
        name,
        admission?.by === 'rule' ? admission.rule.route.pattern : (admission?.by ?? null),
      ]),
    )
  }
}

test('decision 65: request.admission says how a request was let in; an anonymous one by the same rule, or not at all', async (t) => {
  const send = await accesses(t, {})
  const expected = requests.map(([method, target, by]) => [`${method} ${target}`, by])
  t.same(Object.fromEntries(await send('alice')), Object.fromEntries(expected))
  const open = expected.filter(([, by]) => by !== 'caller')
  t.same(Object.fromEntries(await send(undefined)), Object.fromEntries(open))
})

for (const [what, change] of Object.entries(changes)) {
  test(`a hook that changes ${what} does not change request.admission`, async (t) => {
    const [plain, changed] = [await accesses(t, {}), await accesses(t, { change })]
    const expected = await plain('alice')
    t.equal(expected.size, requests.length)
    t.same(await changed('alice'), expected, 'signed in')
    t.same(await changed(undefined), await plain(undefined), 'anonymous')
  })
}

for (const [what, change] of Object.entries(changes)) {
  test(`a provider that changes ${what} opens nothing and hides nothing`, async (t) => {
    const synchronous: AuthProvider = {
      authenticate(request) {
        const caller = callerNamed(request.headers['x-user'])
        change(request)
        return caller
      },
    }
    const asynchronous: AuthProvider = {
      authenticate: async (request) => synchronous.authenticate(request, new AbortController().signal),
    }
    const plain = await accesses(t, {})
    for (const provider of [synchronous, asynchronous]) {
      const changed = await accesses(t, { provider })
      t.same(await changed('alice'), await plain('alice'), 'signed in')
      t.same(await changed(undefined), await plain(undefined), 'anonymous')
    }
  })
}

const places: Readonly<Record<string, Setting['look']>> = {
  'the preHandler': (app, look) => void app.addHook('preHandler', async (request) => look(request)),
  onSend: (app, look) => void app.addHook('onSend', async (request) => look(request)),
  onResponse: (app, look) => void app.addHook('onResponse', async (request) => look(request)),
}

for (const [place, look] of Object.entries(places)) {
  test(`request.admission is the same when ${place} is the first to read it, after a hook changed the URL`, async (t) => {
    const plain = await (await accesses(t, {}))('alice')
    const change = changes['the URL to a public one of the same route']
    const late = await (await accesses(t, { ...(look && { look }), ...(change && { change }) }))('alice')
    for (const [name, access] of late) t.equal(access, plain.get(name), name)
    t.ok(late.size > requests.length / 2, `${late.size} requests came so far`)
  })
}

test('validation that turns a parameter into a number does not change request.admission', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  app.publicRoutes.addRegex('/items/[0-9]+$')
  const schema = { params: { type: 'object', properties: { id: { type: 'integer' } } } }
  app.get('/items/:id', { schema }, async ({ params, admission }) => ({ params, by: admission?.by }))
  const { body } = await app.inject({ url: '/items/42', headers: { 'x-user': 'alice' } })
  t.same(JSON.parse(body), { params: { id: 42 }, by: 'rule' })
})

test('scopes, not-found handlers and error handlers read the same request.admission', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const routes = async (scope: FastifyInstance) => {
    scope.setNotFoundHandler(async ({ admission }, reply) =>
      reply.code(404).send({ by: admission?.by ?? null }),
    )
    scope.setErrorHandler(async (_err, { admission }, reply) =>
      reply.code(500).send({ by: admission?.by ?? null }),
    )
    scope.get('/open/:id', async ({ admission }) => ({ by: admission?.by ?? null }))
    scope.get('/closed/:id', async ({ admission }) => ({ by: admission?.by ?? null }))
    scope.get('/open/fails/:id', async () => {
      throw new Error('broken')
    })
  }
  await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false })
  app.publicRoutes.addRegex('/late/open/.*')
  await app.register(routes, { prefix: '/late' })
  const headers = { 'x-user': 'alice' }
  for (const [path, status, by] of [
    ['open/1', 200, 'rule'],
    ['closed/1', 200, 'caller'],
    ['open/fails/1', 500, 'rule'],
    ['open/x/y/missing', 404, 'rule'],
    ['closed/x/y/missing', 404, 'caller'],
  ] as const) {
    const response = await app.inject({ url: `/late/${path}`, headers })
    t.same([response.statusCode, response.json()], [status, { by }], `/late/${path}`)
  }
})

test('request.admission cannot be assigned: no hook makes a request public for the hooks after it', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  app.get('/private', async (request) => {
    t.throws(() => Object.assign(request, { admission: { by: 'rule' } }), TypeError)
    return request.admission
  })
  t.same((await app.inject({ url: '/private', headers: { 'x-user': 'alice' } })).json(), { by: 'caller' })
})

test('request.admission is null before the gate, then one frozen object for each rule', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const before: unknown[] = []
  const after: (RequestAdmission | null)[] = []
  app.addHook('onRequest', async ({ admission }) => void before.push(admission ?? null))
  const provider = { authenticate: () => ({ id: 'editor', permissions: ['Notes.Edit'] }) }
  const permissions = { 'Notes.Edit': 'Edit notes' }
  await app.register(publicRoutes, { provider, env: false, defaults: false, permissions, guests: true })
  app.addHook('onRequest', async ({ admission }) => void after.push(admission))
  app.publicRoutes.addRegex('/items/[0-9]+$')
  app.get('/items/:id', async () => 'ran')
  app.get('/private', async () => 'ran')
  app.get('/open', { config: { access: 'public' } }, async () => 'ran')
  app.get('/edit', { config: { access: 'Notes.Edit' } }, async () => 'ran')
  await app.ready()
  for (const url of ['/items/1', '/private', '/open', '/edit']) {
    before.length = after.length = 0
    await app.inject(url)
    await app.inject(url)
    t.same(before, [null, null])
    const [one, other] = after
    t.equal(one, other, url)
    t.ok(Object.isFrozen(one) && (one?.by !== 'rule' || Object.isFrozen(one.rule)))
    if (url === '/edit') t.same(one, { by: 'caller', permission: 'Notes.Edit' })
    if (url === '/open') t.same(one, { by: 'declaration', source: 'route config' })
  }
})

test('request.admission is null where the gate turned the request away', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const seen: (RequestAdmission | null)[] = []
  await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false, guests: true })
  app.addHook('onResponse', async ({ admission }) => void seen.push(admission))
  app.get('/private', async () => 'ran')
  await app.ready()
  seen.length = 0 // the self-test of the gate ends like a request, too
  t.equal((await app.inject('/private')).statusCode, 401)
  t.same(seen, [null])
})
