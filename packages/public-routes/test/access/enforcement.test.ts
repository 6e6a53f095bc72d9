/** Declared access at the gate, over raw sockets. */
import { type Caller, defineModule, modules } from '@fastify-modular/core'
import {
  type Access,
  type AccessByMethod,
  publicRoutes,
  type PublicRoutesOptions,
} from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { listen } from '../support/application.ts'
import { rawExchange, rawRequest } from '../support/raw-request.ts'

const callers: Readonly<Record<string, Caller>> = {
  alice: { id: 'alice' },
  editor: { id: 'editor', permissions: ['Notes.Edit'] },
  group: { id: 'group', permissions: ['Notes.*'] },
  all: { id: 'all', permissions: ['*'] },
  admin: { id: 'admin', isAdmin: true },
  importer: { id: 'importer', permissions: ['Notes.Edit', 'Notes.Import'] },
  near: { id: 'near', permissions: ['Notes.Edi', 'Notes.Edit.More', 'notes.edit', 'Note*'] },
}

async function start(
  t: Test,
  addRoutes: (app: FastifyInstance) => void,
  options: Partial<PublicRoutesOptions> = {},
) {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(publicRoutes, {
    provider: { authenticate: ({ headers }) => callers[String(headers['x-user'])] ?? null },
    env: false,
    defaults: false,
    permissions: { 'Notes.Edit': 'Edit notes', 'Notes.Import': {}, 'Ops.Read': {} },
    ...options,
  })
  addRoutes(app)
  const port = await listen(app)
  const send = (method: string, target: string, user?: string, headers: Record<string, string> = {}) =>
    rawRequest({
      port,
      method,
      target,
      headers: { ...headers, ...(user !== undefined && { 'x-user': user }) },
    })
  return { app, port, send }
}

const ran = async () => 'ran'

/** Every form that a declaration has, with the status of each caller. */
const forms: readonly {
  readonly access: Access
  readonly statuses: Readonly<Record<string, number>>
}[] = [
  { access: 'public', statuses: { anonymous: 200, alice: 200, near: 200, admin: 200 } },
  { access: 'signed-in', statuses: { anonymous: 401, alice: 200, near: 200, admin: 200 } },
  {
    access: 'Notes.Edit',
    statuses: { anonymous: 401, alice: 403, near: 403, editor: 200, group: 200, all: 200, admin: 200 },
  },
  {
    access: { allOf: ['Notes.Edit', 'Notes.Import'] },
    statuses: { anonymous: 401, alice: 403, editor: 403, importer: 200, group: 200, all: 200, admin: 200 },
  },
  {
    access: { anyOf: ['Notes.Import', 'Ops.Read'] },
    statuses: { anonymous: 401, alice: 403, editor: 403, importer: 200, group: 200, all: 200, admin: 200 },
  },
]

function declare(app: FastifyInstance, access: Access) {
  app.get('/static', { config: { access } }, ran)
  app.get('/items/:id', { config: { access } }, ran)
  app.get('/files/*', { config: { access } }, ran)
  app.post('/items', { config: { access } }, ran)
}

for (const { access, statuses } of forms) {
  test(`access ${JSON.stringify(access)} is enforced on every kind of route and on derived HEAD routes`, async (t) => {
    const { send } = await start(t, (app) => declare(app, access))
    for (const [name, status] of Object.entries(statuses)) {
      for (const target of ['/static', '/static?page=2', '/items/42', '/files/a/b']) {
        for (const method of ['GET', 'HEAD']) {
          t.equal((await send(method, target, name)).status, status, `${name}: ${method} ${target}`)
        }
      }
      t.equal((await send('POST', '/items', name)).status, status, `${name}: POST /items`)
    }
  })
}

test('a 403 is a problem that names what is missing, and only to known callers', async (t) => {
  const { send } = await start(t, (app) => {
    app.get('/edit', { config: { access: 'Notes.Edit' } }, ran)
    app.get('/both', { config: { access: { allOf: ['Notes.Edit', 'Notes.Import'] } } }, ran)
    app.get('/one', { config: { access: { anyOf: ['Notes.Import', 'Ops.Read'] } } }, ran)
  })
  const refused = await send('GET', '/edit', 'alice')
  t.equal(refused.headers.get('content-type'), 'application/problem+json')
  t.equal(refused.headers.get('cache-control'), 'no-store')
  t.match(JSON.parse(refused.body), {
    status: 403,
    code: 'FORBIDDEN',
    type: 'urn:problem:forbidden',
    detail: 'This needs the permission Notes.Edit.',
  })
  t.match(
    (await send('GET', '/both', 'alice')).body,
    'This needs the permissions Notes.Edit and Notes.Import.',
  )
  t.match((await send('GET', '/both', 'editor')).body, 'This needs the permission Notes.Import.')
  t.match(
    (await send('GET', '/one', 'alice')).body,
    'This needs one of the permissions Notes.Import, Ops.Read.',
  )
  const anonymous = await send('GET', '/edit')
  t.equal(anonymous.status, 401)
  t.notMatch(anonymous.body, 'Notes')
})

test('a browser that navigates gets the 403 page of the application', async (t) => {
  const { send } = await start(t, (app) => {
    app.setErrorHandler((err: Error & { statusCode?: number }, _request, reply) =>
      reply
        .code(err.statusCode ?? 500)
        .type('text/html')
        .send(`<h1>${err.message}</h1>`),
    )
    app.get('/edit', { config: { access: 'Notes.Edit' } }, ran)
  })
  const page = await send('GET', '/edit', 'alice', { accept: 'text/html' })
  t.equal(page.status, 403)
  t.equal(page.headers.get('cache-control'), 'no-store')
  t.match(page.body, '<h1>This needs the permission Notes.Edit.</h1>')
})

test('a refused request is answered before its body is read', async (t) => {
  const { port } = await start(t, (app) => {
    app.post('/edit', { config: { access: 'Notes.Edit' } }, ran)
  })
  const head = 'POST /edit HTTP/1.1\r\nhost: localhost\r\nx-user: alice\r\nconnection: close\r\n'
  const answer = await rawExchange(
    port,
    `${head}content-type: application/json\r\ncontent-length: 1000000\r\n\r\n`,
  )
  t.equal(answer.status, 403)
})

test('access by method leaves the other methods to the default', async (t) => {
  const { send } = await start(t, (app) => {
    app.route({
      method: ['GET', 'POST', 'DELETE'],
      url: '/share/:id',
      config: { access: { GET: 'public', POST: 'Notes.Edit' } },
      handler: ran,
    })
  })
  const expected = [
    ['GET', undefined, 200],
    ['POST', undefined, 401],
    ['POST', 'alice', 403],
    ['POST', 'editor', 200],
    ['DELETE', undefined, 401],
    ['DELETE', 'alice', 200],
  ] as const
  for (const [method, user, status] of expected) {
    t.equal((await send(method, '/share/1', user)).status, status, `${method} as ${user ?? 'anonymous'}`)
  }
})

test('a hook that changes the method does not get around the permission of the route', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['x-method'] !== undefined) request.raw.method = String(request.headers['x-method'])
    done()
  })
  await app.register(publicRoutes, {
    provider: { authenticate: ({ headers }) => callers[String(headers['x-user'])] ?? null },
    permissions: { 'Notes.Edit': 'Edit notes' },
  })
  app.post('/edit', { config: { access: 'Notes.Edit' } }, ran)
  const port = await listen(app)
  const status = async (method: string, user: string) =>
    (
      await rawRequest({
        port,
        method: 'POST',
        target: '/edit',
        headers: { 'x-user': user, 'x-method': method },
      })
    ).status
  for (const method of ['GET', 'PUT', 'NONE', 'post']) {
    t.equal(await status(method, 'alice'), 403, method)
    t.equal(await status(method, 'nobody'), 401, method)
  }
})

test('permissions that are not text let no caller in', async (t) => {
  const broken = { id: 'broken', permissions: [42, null], isAdmin: 'yes' }
  const { send } = await start(
    t,
    (app) => {
      app.get('/edit', { config: { access: 'Notes.Edit' } }, ran)
    },
    { provider: { authenticate: () => JSON.parse(JSON.stringify(broken)) } },
  )
  t.equal((await send('GET', '/edit')).status, 403)
})

/** Routes that serve GET and POST, with the statuses of HEAD: anonymous, without permissions, with all of them. */
const headStatuses: readonly (readonly [string, AccessByMethod, readonly number[]])[] = [
  ['/own', { GET: 'public', POST: 'Notes.Edit' }, [401, 403, 200]],
  ['/half', { GET: 'public' }, [401, 200, 200]],
  ['/open', { GET: 'public', POST: 'public' }, [200, 200, 200]],
  ['/option', {}, [401, 403, 200]],
  ['/none', {}, [401, 200, 200]],
  ['/mixed', { GET: 'public' }, [401, 403, 200]],
  ['/opened', { GET: 'public' }, [200, 200, 200]],
  ['/in/module', { GET: 'Notes.Edit' }, [401, 403, 200]],
]

test('HEAD of a route that serves other methods as well needs what any of them needs', async (t) => {
  const add = (app: FastifyInstance, isInside: boolean) => {
    for (const [url, access] of headStatuses.filter(([url]) => url.startsWith('/in/') === isInside)) {
      const config = Object.keys(access).length === 0 ? {} : { access }
      app.route({ method: ['GET', 'POST'], url, config, handler: ran })
    }
  }
  const { send } = await start(
    t,
    (app) => {
      add(app, false)
      const plugin = async (scope: FastifyInstance) => add(scope, true)
      void app.register(modules, { modules: [defineModule({ name: 'in', access: 'Notes.Import', plugin })] })
    },
    { access: { 'GET /option': 'Ops.Read', 'POST /mixed': 'Ops.Read', 'POST /opened': 'public' } },
  )
  for (const [url, , statuses] of headStatuses) {
    const sent = await Promise.all([undefined, 'alice', 'all'].map((user) => send('HEAD', url, user)))
    t.same(
      sent.map(({ status }) => status),
      statuses,
      url,
    )
  }
  t.equal((await send('HEAD', '/in/module', 'editor')).status, 403)
  t.equal((await send('HEAD', '/in/module', 'importer')).status, 200)
})
