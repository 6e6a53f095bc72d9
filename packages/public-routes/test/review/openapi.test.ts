/** The access of routes in the document of @fastify/swagger. */
import swagger from '@fastify/swagger'
import { accessTransform, publicRoutes, type PublicRoutesOptions } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { gatedApp, headerProvider } from '../support/application.ts'
import { ran } from '../support/declared-application.ts'

const provider = {
  ...headerProvider,
  openapi: {
    session: { type: 'apiKey', in: 'cookie', name: 'session' },
    bearer: { type: 'http', scheme: 'bearer' },
  },
}
const openapi = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  components: { securitySchemes: { own: { type: 'http', scheme: 'basic' } } },
} as const
const permissions = { 'Notes.Edit': 'Edit notes', 'Notes.Import': {}, 'Shop.Read': {} }
const known = [{ session: [] }, { bearer: [] }]

const shared = { type: 'object', properties: { id: { type: 'string' } } } as const

function addRoutes(app: FastifyInstance) {
  app.get('/open', { config: { access: 'public' } }, ran)
  app.get('/notes/:id', { schema: { response: { 200: shared } } }, ran)
  app.put('/notes/:id', { schema: { response: { 200: shared } }, config: { access: 'Notes.Edit' } }, ran)
  app.get('/files/*', { config: { access: { anyOf: ['Notes.Edit', 'Notes.Import'] } } }, ran)
  app.get('/year/:year(^\\d{4}$)', { config: { access: 'signed-in', checkedByHandler: 'Notes.Edit' } }, ran)
  app.route({
    method: ['GET', 'POST'],
    url: '/share',
    config: { access: { GET: 'public', POST: 'Notes.Edit' } },
    handler: ran,
  })
  app.publicRoutes.addRegex('/items/7$', { methods: ['GET'] })
  app.get('/items/:id', ran)
  app.get(
    '/own',
    {
      schema: { security: [{ own: [] }], response: { 401: { description: 'Own', type: 'string' } } },
      config: { access: 'Notes.Edit' },
    },
    ran,
  )
}

type Register = (app: FastifyInstance) => PromiseLike<unknown>
const gate =
  (options: Partial<PublicRoutesOptions> = {}): Register =>
  (app) =>
    app.register(publicRoutes, { provider, env: false, defaults: false, permissions, ...options })
const docs: Register = (app) => app.register(swagger, { openapi, transformObject: accessTransform(app) })

interface Operation {
  readonly security?: unknown
  readonly 'x-permission'?: string
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly description?: string }>>
}
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly securitySchemes: object; readonly responses: object }
}

async function boot(t: Test, ...plugins: readonly Register[]) {
  const app = Fastify()
  t.teardown(() => app.close())
  for (const register of plugins) await register(app)
  addRoutes(app)
  await app.ready()
  return { app, document: app.swagger() as unknown as Described }
}

/** Security and permission of each operation, and its refusals. */
function summary({ paths }: Described) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { security, responses, 'x-permission': permission = '-' }]) => {
      const refusals = ['401', '403'].filter((status) => status in responses)
      return `${method} ${path} ${JSON.stringify(security)} ${permission} ${refusals.join()}`
    }),
  )
}

const expected = [
  'get /open [] - ',
  `get /notes/{id} ${JSON.stringify(known)} - 401`,
  `put /notes/{id} ${JSON.stringify(known)} Notes.Edit 401,403`,
  `get /files/{*} ${JSON.stringify(known)} Notes.Edit or Notes.Import 401,403`,
  `get /year/{year} ${JSON.stringify(known)} Notes.Edit 401,403`,
  'get /share [] - ',
  `post /share ${JSON.stringify(known)} Notes.Edit 401,403`,
  `get /items/{id} ${JSON.stringify([...known, {}])} - 401`,
  'get /own [{"own":[]}] Notes.Edit 401,403',
]

test('every operation has security, x-permission and refusals, whether swagger or the gate is registered first', async (t) => {
  t.same(summary((await boot(t, docs, gate())).document), expected)
  const { app, document } = await boot(t, gate(), docs)
  t.same(summary(document), expected)
  t.same(Object.keys(document.components.securitySchemes).toSorted(), ['bearer', 'own', 'session'])
  t.same(Object.keys(document.components.responses), ['Unauthorized', 'Forbidden'])
  t.equal(app.swagger(), app.swagger(), 'kept')
  t.match(app.swagger({ yaml: true }), /^ +x-permission: Notes.Edit$/m)
})

test('what a schema says counts', async (t) => {
  const { document } = await boot(t, gate(), docs)
  t.match(document.paths['/own']?.['get'], {
    security: [{ own: [] }],
    responses: { 401: { description: 'Own' } },
  })
})

test('no schema of a route is changed, so that answers stay the same', async (t) => {
  const { app } = await boot(t, gate(), docs)
  t.same(shared, { type: 'object', properties: { id: { type: 'string' } } })
  const refused = await app.inject({ method: 'PUT', url: '/notes/1', headers: { 'x-user': 'alice' } })
  t.equal(refused.statusCode, 403)
  t.match(refused.json(), { code: 'FORBIDDEN', detail: 'This needs the permission Notes.Edit.' })
})

test("without schemes of the provider, the document's own security counts", async (t) => {
  const app = await gatedApp(t)
  await app.register(swagger, {
    openapi: {
      ...openapi,
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
      servers: [{ url: 'https://example.com/v1' }],
    },
    transformObject: accessTransform(app),
  })
  app.get('/v1/notes', ran)
  await app.ready()
  t.match(app.swagger().paths, { '/notes': { get: { security: [{ token: [] }] } } })
})

test('the root of a prefixed plugin has its access, too', async (t) => {
  const shop: Register = async (app) => {
    await app.register(
      async (scope) => {
        scope.get('/', { config: { access: 'Shop.Read' } }, ran)
        scope.post('/', { config: { access: 'public' } }, ran)
      },
      { prefix: '/shop' },
    )
  }
  const { document } = await boot(t, gate(), docs, shop)
  t.same(
    summary(document).filter((line) => line.includes('/shop')),
    [`get /shop/ ${JSON.stringify(known)} Shop.Read 401,403`, 'post /shop/ [] - '],
  )
})
