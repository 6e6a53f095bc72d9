/** `expectAccess`: the committed file, and the routes tried against it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineModule, modules } from '@fastify-modular/core'
import { type Access, publicRoutes } from '@fastify-modular/public-routes'
import { expectAccess } from '@fastify-modular/public-routes/testing'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { gatedApp, headerProvider } from '../support/application.ts'
import { ran } from '../support/declared-application.ts'

type Change = (app: FastifyInstance) => void

async function sample(
  t: Test,
  {
    before = () => {},
    edit = 'Notes.Edit',
    mount = () => {},
  }: Partial<{ before: Change; edit: Access; mount: Change }> = {},
) {
  const app = await gatedApp(t, { defaults: false })
  for (const name of ['Notes.Edit', 'Notes.Import', 'Ops.Read']) app.permissions.add(name)
  before(app)
  await app.register(modules, {
    modules: [
      defineModule({
        name: 'notes',
        access: 'signed-in',
        plugin: async (scope) => {
          scope.get('/notes/:id', ran)
          scope.put('/notes/:id', { config: { access: edit } }, ran)
          scope.post('/import/*', { config: { access: { allOf: ['Notes.Edit', 'Notes.Import'] } } }, ran)
          scope.get(
            '/either/:year(^\\d{4}$)',
            { config: { access: { anyOf: ['Notes.Edit', 'Ops.Read'] } } },
            ran,
          )
          mount(scope)
        },
      }),
    ],
  })
  app.get('/open', { config: { access: 'public' } }, ran)
  return app
}

/** A file that the sample was written to. */
async function snapshot(t: Test, app: FastifyInstance, source?: string): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'fastify-modular-access-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = pathToFileURL(join(folder, 'access.json'))
  process.env['UPDATE_SNAPSHOTS'] = '1'
  try {
    await expectAccess(app, file, source === undefined ? {} : { source })
  } finally {
    delete process.env['UPDATE_SNAPSHOTS']
  }
  return file
}

test('an application agrees with the file that it wrote', async (t) => {
  const file = await snapshot(t, await sample(t))
  await expectAccess(await sample(t), file)
  t.match(await readFile(file, 'utf8'), '{"route":"PUT /notes/:id","access":"Notes.Edit"}')
})

const changes: readonly (readonly [string, Parameters<typeof sample>[1], string])[] = [
  [
    'a permission that was weakened',
    { edit: 'signed-in' },
    '- PUT /notes/:id was Notes.Edit and is signed-in',
  ],
  ['a permission that was swapped', { edit: 'Ops.Read' }, '- PUT /notes/:id was Notes.Edit and is Ops.Read'],
  ['a route that was opened', { edit: 'public' }, '- PUT /notes/:id was Notes.Edit and is public'],
  [
    'a rule that was added',
    { before: (app) => app.publicRoutes.addSubtree('/notes') },
    '- GET /notes/:id was signed-in and is public',
  ],
  [
    'a rule that opens some paths',
    { before: (app) => app.publicRoutes.addRegex('/notes/7$') },
    '- GET /notes/:id was signed-in and is signed-in, rules open some paths',
  ],
  ['a route that was added', { mount: (app) => void app.get('/new', ran) }, '- GET /new is new: signed-in'],
]

for (const [name, change, message] of changes) {
  test(`${name} is a difference, in words`, async (t) => {
    const file = await snapshot(t, await sample(t))
    const changed = await sample(t, change)
    await t.rejects(expectAccess(changed, file), { code: 'FMOD_PUBLIC_ROUTES_ACCESS_CHANGED', message })
  })
}

test('requests alone show a difference, whatever the table says', async (t) => {
  const file = await snapshot(t, await sample(t))
  const faults: readonly (readonly [Access, string])[] = [
    ['signed-in', 'PUT /notes/:id should be Notes.Edit, and for a caller without permissions it is: let in'],
    ['public', 'PUT /notes/:id should be Notes.Edit, and for an anonymous caller it is: let in'],
    ['Ops.Read', 'PUT /notes/:id should be Notes.Edit, and for a caller with Notes.Edit it is: forbidden'],
    [
      { anyOf: ['Notes.Edit', 'Ops.Read'] },
      'PUT /notes/:id should be Notes.Edit, and for a caller with every permission but Notes.Edit it is: let in',
    ],
    [
      { allOf: ['Notes.Edit', 'Ops.Read'] },
      'PUT /notes/:id should be Notes.Edit, and for a caller with Notes.Edit it is: forbidden',
    ],
  ]
  for (const [edit, fault] of faults) {
    await t.rejects(expectAccess(await sample(t, { edit }), file), { message: fault })
  }
})

test('a route that is gone is a difference', async (t) => {
  const file = await snapshot(t, await sample(t, { mount: (app) => void app.get('/old', ran) }))
  await t.rejects(expectAccess(await sample(t), file), { message: '- GET /old is gone: it was signed-in' })
})

test('source limits the file and the comparison to one module', async (t) => {
  const file = await snapshot(t, await sample(t), 'notes')
  t.notMatch(await readFile(file, 'utf8'), '/open')
  const changed = await sample(t)
  changed.get('/other', ran)
  await expectAccess(changed, file, { source: 'notes' })
})

test('a module without routes is reported: its name may be misspelt', async (t) => {
  const file = await snapshot(t, await sample(t), 'notes')
  await t.rejects(expectAccess(await sample(t), file, { source: 'note' }), {
    message: '- no route belongs to the module "note"',
  })
})

test('without a file every route is new', async (t) => {
  await t.rejects(expectAccess(await sample(t), pathToFileURL('/nowhere/access.json')), {
    message: /- PUT \/notes\/:id is new: Notes.Edit\n.*UPDATE_SNAPSHOTS=1/s,
  })
})

/** Routes that the router chooses by more than a plain path. */
const special: Change = (app) => {
  const config = { access: 'Notes.Edit' }
  app.get('/year/:year(^(?:19|20)\\d{2}$)', { config }, ran)
  app.get('/file/:name(^[^.]{3,}).:ext(^(?!exe)(?:png|jpe?g)$)', { config }, ran)
  app.get('/wild/*', { config }, ran)
  app.get('/café/:drink?', { config }, ran)
  app.get('/at/:hour(^\\d{2})h:minute(^\\d{2}$)m', { config }, ran)
  app.get('/versioned', { constraints: { version: '1.2.0' }, config }, ran)
  app.get('/versioned', { constraints: { version: '2.0.0' }, config: { access: 'Ops.Read' } }, ran)
  app.get('/hosted', { constraints: { host: 'admin.example.com' }, config }, ran)
  app.get('/hosted', { constraints: { host: /^[a-z]+\.example\.org$/ }, config: { access: 'public' } }, ran)
  app.route({
    method: ['GET', 'POST'],
    url: '/both',
    config: { access: { GET: 'Ops.Read', POST: { anyOf: ['Notes.Edit', 'Notes.Import'] } } },
    handler: ran,
  })
}

test('regular expressions, wildcards, optional parameters and constraints: each route is tried', async (t) => {
  const file = await snapshot(t, await sample(t, { before: special }))
  await expectAccess(await sample(t, { before: special }), file)
  const text = await readFile(file, 'utf8')
  t.match(text, '{"route":"GET /versioned","constraints":"version 2.0.0","access":"Ops.Read"}')
  t.match(text, '{"route":"HEAD /both","access":"Ops.Read and (Notes.Edit or Notes.Import)"}')
})

test('a route from before the gate is tried, too, and marked', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/early/:id(^\\d+$)', { config: { access: 'signed-in' } }, ran)
  await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false })
  const file = await snapshot(t, app)
  t.match(
    await readFile(file, 'utf8'),
    String.raw`{"route":"GET /early/:id(^\\d+$)","access":"signed-in","note":"before the gate"}`,
  )
})

test('a route for which no path can be made is reported', async (t) => {
  const custom: Change = (app) => {
    app.get('/odd/:x(^(?=b)a$)', ran)
    app.addConstraintStrategy({
      name: 'region',
      storage: () => {
        const handlers = new Map<unknown, unknown>()
        return {
          get: (key) => handlers.get(key) ?? null,
          set: (key, handler) => void handlers.set(key, handler),
        }
      },
      deriveConstraint: (request) => request.headers['x-region'],
      validate: () => {},
    } as Parameters<FastifyInstance['addConstraintStrategy']>[0])
    app.get('/regional', { constraints: { region: 'eu' } }, ran)
  }
  const folder = await mkdtemp(join(tmpdir(), 'fastify-modular-access-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = pathToFileURL(join(folder, 'access.json'))
  await writeFile(
    file,
    JSON.stringify([
      { route: 'GET /odd/:x(^(?=b)a$)', access: 'signed-in' },
      { route: 'GET /regional', constraints: 'region eu', access: 'signed-in' },
    ]),
  )
  await t.rejects(expectAccess(await sample(t, { before: custom }), file), {
    message:
      /- GET \/odd\/.* could not be tried: no path was found that leads to it\n- GET \/regional \(region eu\) could not be tried/,
  })
})
