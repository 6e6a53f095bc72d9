/** The surface against the truth: what anonymous requests reach, each route by each method over a raw socket. */
import { publicRouteLines } from '#src/testing/index.js'
import { publicRoutes } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { headerProvider, listen, Sink } from '../support/application.ts'
import { rawRequest } from '../support/raw-request.ts'

type Part = (app: FastifyInstance, sink: Sink) => unknown

const declares = (url: string, declared: boolean | readonly string[] | undefined): Part =>
  function declaring(app, sink) {
    app.get(url, declared === undefined ? {} : { config: { public: declared } }, sink.handler(url))
  }

/** Routes of every shape, open and closed. */
const parts: Readonly<Record<string, Part>> = {
  'an open GET': declares('/open', true),
  'a GET that is open for GET': declares('/open-get', ['GET']),
  'a closed GET': declares('/closed', undefined),
  'a GET that says it is closed': declares('/closed-too', false),
  'an open parameter': declares('/items/:id', true),
  'an open optional parameter': declares('/maybe/:id?', true),
  'an open regular expression': declares('/numbers/:n(^\\d+$)', true),
  'an open wildcard': declares('/files/*', true),
  'a closed wildcard': declares('/private/*', undefined),
  'an open POST': (app, sink) => app.post('/leak', { config: { public: true } }, sink.handler('/leak')),
  'a route of two methods, open for one': (app, sink) =>
    app.route({
      method: ['GET', 'POST'],
      url: '/two',
      config: { public: ['GET'] },
      handler: sink.handler('/two'),
    }),
  'the root of a prefix': (app, sink) =>
    app.register(
      async (scope) => {
        scope.get('/', { config: { public: true } }, sink.handler('/section'))
      },
      { prefix: '/section' },
    ),
  'a route for one host': (app, sink) =>
    app.get('/here', { config: { public: true }, constraints: { host: 'localhost' } }, sink.handler('/here')),
  'a HEAD written by hand beside a GET that a rule opens': (app, sink) => {
    app.head('/by-hand', sink.handler('/by-hand'))
    app.get('/by-hand', sink.handler('/by-hand'))
  },
  'a GET without HEAD': (app, sink) =>
    app.get('/headless', { config: { public: true }, exposeHeadRoute: false }, sink.handler('/headless')),
  'a GET that a rule opens': declares('/by-rule', undefined),
  'a parameter that a rule opens': declares('/named/:id', undefined),
  'a tree that a rule opens': declares('/tree/leaf', undefined),
}

const names = Object.keys(parts)
const early: Readonly<Record<string, (name: string) => boolean>> = {
  'all after the gate': () => false,
  'all before the gate': () => true,
  'every second one before the gate': (name) => names.indexOf(name) % 2 === 0,
  'every third one after the gate': (name) => names.indexOf(name) % 3 !== 0,
}

interface Surroundings {
  readonly app: FastifyInstance
  readonly sink: Sink
  /** Of every route, registered before or after the gate. */
  readonly urls: ReadonlySet<string>
}

async function boot(isEarly: (name: string) => boolean): Promise<Surroundings> {
  const app = Fastify()
  const sink = new Sink()
  const urls = new Set<string>()
  app.addHook('onRoute', ({ url }) => void urls.add(url))
  for (const [name, part] of Object.entries(parts)) if (isEarly(name)) await part(app, sink)
  await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false })
  app.publicRoutes
    .addExact('/by-rule', { methods: ['GET'] })
    .addExact('/by-hand', { methods: ['GET'] })
    .addRoute('/named/:id', { methods: ['GET'] })
    .addSubtree('/tree', { methods: ['GET'] })
  for (const [name, part] of Object.entries(parts)) if (!isEarly(name)) await part(app, sink)
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

for (const [name, isEarly] of Object.entries(early)) {
  test(`the surface lists exactly what anonymous requests reach, with the routes ${name}`, async (t) => {
    const surroundings = await boot(isEarly)
    t.teardown(() => surroundings.app.close())
    const truth = await reached(surroundings)
    const listed = surroundings.app.publicRoutes
      .surface()
      .flatMap(({ openings }) =>
        openings.map(({ method, record }) => `${method} ${record.url.replace(/\/$/, '')}`),
      )
    t.same([...new Set(listed)].toSorted(), truth)
    t.ok(truth.includes('POST /leak') && truth.includes('HEAD /open'), 'the requests do reach what is open')
    t.notOk(truth.some((line) => line.includes('closed') || line.includes('private')))
  })
}

test('the lines of expectPublicRoutes do not depend on the place of the gate', async (t) => {
  const lines: (readonly string[])[] = []
  for (const isEarly of Object.values(early)) {
    const { app } = await boot(isEarly)
    t.teardown(() => app.close())
    lines.push(await publicRouteLines(app))
  }
  for (const other of lines) t.same(other, lines[0])
})
