/** The table against the truth: what anonymous requests reach, each route by each method over a raw socket. */
import { type Access, type AccessByMethod, publicRoutes } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { headerProvider, listen, Sink } from '../support/application.ts'
import { rawRequest } from '../support/raw-request.ts'

type Part = (app: FastifyInstance, sink: Sink) => unknown

const declares = (url: string, access?: Access | AccessByMethod): Part =>
  function declaring(app, sink) {
    app.get(url, { config: access === undefined ? {} : { access } }, sink.handler(url))
  }

/** Routes of every shape, open and closed. */
const parts: Readonly<Record<string, Part>> = {
  'an open GET': declares('/open', 'public'),
  'a GET that is open for GET': declares('/open-get', { GET: 'public' }),
  'a closed GET': declares('/closed'),
  'a GET that says it is closed': declares('/closed-too', 'signed-in'),
  'an open parameter': declares('/items/:id', 'public'),
  'an open optional parameter': declares('/maybe/:id?', 'public'),
  'an open regular expression': declares('/numbers/:n(^\\d+$)', 'public'),
  'an open wildcard': declares('/files/*', 'public'),
  'a closed wildcard': declares('/private/*'),
  'an open POST': (app, sink) => app.post('/leak', { config: { access: 'public' } }, sink.handler('/leak')),
  'a route of two methods, open for one': (app, sink) =>
    app.route({
      method: ['GET', 'POST'],
      url: '/two',
      config: { access: 'public' },
      handler: sink.handler('/two'),
    }),
  'the root of a prefix': (app, sink) =>
    app.register(
      async (scope) => {
        scope.get('/', { config: { access: 'public' } }, sink.handler('/section'))
      },
      { prefix: '/section' },
    ),
  'a route for one host': (app, sink) =>
    app.get(
      '/here',
      { config: { access: 'public' }, constraints: { host: 'localhost' } },
      sink.handler('/here'),
    ),
  'a HEAD written by hand beside a GET that a rule opens': (app, sink) => {
    app.head('/by-hand', sink.handler('/by-hand'))
    app.get('/by-hand', sink.handler('/by-hand'))
  },
  'a GET without HEAD': (app, sink) =>
    app.get('/headless', { config: { access: 'public' }, exposeHeadRoute: false }, sink.handler('/headless')),
  'a GET that a rule opens': declares('/by-rule'),
  'a parameter that a rule opens': declares('/named/:id'),
  'a parameter in the middle that an expression opens': declares('/shared/:id/link'),
  'a tree that a rule opens': declares('/tree/leaf'),
}

interface Surroundings {
  readonly app: FastifyInstance
  readonly sink: Sink
  /** Of every route. */
  readonly urls: ReadonlySet<string>
}

async function boot(): Promise<Surroundings> {
  const app = Fastify()
  const sink = new Sink()
  const urls = new Set<string>()
  app.addHook('onRoute', ({ url }) => void urls.add(url))
  await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false })
  app.publicRoutes
    .addExact('/by-rule', { methods: ['GET'] })
    .addExact('/by-hand', { methods: ['GET'] })
    .addPrefix('/named/', { methods: ['GET'] })
    .addRegex('/shared/[^/]+/link$', { methods: ['GET'] })
    .addSubtree('/tree', { methods: ['GET'] })
  for (const part of Object.values(parts)) await part(app, sink)
  return { app, sink, urls }
}

/** `GET /items/:id` for each handler that ran for an anonymous request. */
async function reached({ app, sink, urls }: Surroundings): Promise<readonly string[]> {
  const port = await listen(app)
  const found = new Set<string>()
  let number = 0
  for (const url of urls) {
    for (const target of targetsOf(url)) {
      for (const method of app.supportedMethods) {
        number++
        await rawRequest({ port, method, target, headers: { 'x-number': String(number) } })
        const handler = sink.ranFor(number)
        if (handler !== undefined) found.add(`${method} ${handler}`)
      }
    }
  }
  return [...found].toSorted()
}

function targetsOf(url: string): readonly string[] {
  const filled = url.replace('*', 'x/y').replace(/:\w+(?:\([^/]*\))?\??/, '42')
  return url.endsWith('?') ? [filled, filled.replace('/42', '')] : [filled]
}

test('the table lists exactly what anonymous requests reach', async (t) => {
  const surroundings = await boot()
  t.teardown(() => surroundings.app.close())
  const truth = await reached(surroundings)
  const listed = surroundings.app.access
    .table()
    .filter(({ access }) => access === 'public')
    .map(({ method, url }) => `${method} ${url.replace(/\/$/, '')}`)
  t.same([...new Set(listed)].toSorted(), truth)
  t.ok(truth.includes('POST /leak') && truth.includes('HEAD /open'), 'the requests do reach what is open')
  t.notOk(truth.some((line) => line.includes('closed') || line.includes('private')))
})
