/** `expectAccess`: the committed file, and the routes tried against it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineModule, modules } from '@fastify-modular/core'
import { type Access, publicRoutes } from '@fastify-modular/public-routes'
import { expectAccess, type Sample } from '@fastify-modular/public-routes/testing'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { headerProvider } from '../support/application.ts'
import { ran } from '../support/declared-application.ts'
import { withEnvironment, writing } from '../support/environment.ts'
import { judgeOpening, openingMutants } from '../support/opening-mutants.ts'

type Change = (app: FastifyInstance) => void

async function sample(
  t: Test,
  {
    app = Fastify(),
    before = () => {},
    edit = 'Notes.Edit',
    mount = () => {},
  }: Partial<{ app: FastifyInstance; before: Change; edit: Access; mount: Change }> = {},
) {
  t.teardown(() => app.close())
  const permissions = { 'Notes.Edit': 'Edit notes', 'Notes.Import': {}, 'Ops.Read': {} }
  await app.register(publicRoutes, { env: false, provider: headerProvider, defaults: false, permissions })
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

const samples: Readonly<Record<string, Sample>> = { '/either/:year(^\\d{4}$)': '2024' }

/** A file that the sample was written to. */
async function snapshot(
  t: Test,
  app: Parameters<typeof expectAccess>[0],
  options: { source?: string; samples?: Readonly<Record<string, Sample>> } = { samples },
): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'fastify-modular-access-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = pathToFileURL(join(folder, 'access.json'))
  await withEnvironment(writing, () => expectAccess(app, file, options))
  return file
}

test('an application agrees with the file that it wrote', async (t) => {
  const file = await snapshot(t, await sample(t))
  await expectAccess(await sample(t), file, { samples })
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
    '- GET /notes/:id was signed-in and is signed-in, could be opened by "* regex /notes/7$" (application)',
  ],
  ['a route that was added', { mount: (app) => void app.get('/new', ran) }, '- GET /new is new: signed-in'],
]

for (const [name, change, message] of changes) {
  test(`${name} is a difference, in words`, async (t) => {
    const file = await snapshot(t, await sample(t))
    const changed = await sample(t, change)
    await t.rejects(expectAccess(changed, file, { samples }), {
      code: 'FMOD_PUBLIC_ROUTES_ACCESS_CHANGED',
      message,
    })
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
    await t.rejects(expectAccess(await sample(t, { edit }), file, { samples }), { message: fault })
  }
})

test('a route that is gone is a difference', async (t) => {
  const file = await snapshot(t, await sample(t, { mount: (app) => void app.get('/old', ran) }))
  await t.rejects(expectAccess(await sample(t), file, { samples }), {
    message: '- GET /old is gone: it was signed-in',
  })
})

test('source limits the file and the comparison to one module', async (t) => {
  const file = await snapshot(t, await sample(t), { source: 'notes', samples })
  t.notMatch(await readFile(file, 'utf8'), '/open')
  const changed = await sample(t)
  changed.get('/other', ran)
  await expectAccess(changed, file, { source: 'notes', samples })
})

test('a module without routes is reported: its name may be misspelt', async (t) => {
  const file = await snapshot(t, await sample(t), { source: 'notes', samples })
  await t.rejects(expectAccess(await sample(t), file, { source: 'note' }), {
    message: '- no route belongs to the module "note"',
  })
})

test('without a file every route is new', async (t) => {
  await t.rejects(expectAccess(await sample(t), pathToFileURL('/nowhere/access.json')), {
    message: /- PUT \/notes\/:id is new: Notes.Edit\n.*UPDATE_SNAPSHOTS=1/s,
  })
})

const both: readonly (readonly [update: string | undefined, ci: string | undefined, what: string])[] = [
  ['1', undefined, 'writes the file'],
  ['1', '', 'writes the file'],
  ['1', '0', 'writes the file'],
  ['1', 'false', 'writes the file'],
  ['true', undefined, 'writes the file'],
  ['1', 'true', 'is refused'],
  ['1', '1', 'is refused'],
  ['1', 'woodpecker', 'is refused'],
  ['true', 'true', 'is refused'],
  ['', 'true', 'compares'],
  ['0', 'true', 'compares'],
  ['false', 'true', 'compares'],
  ['no', undefined, 'compares'],
  ['off', undefined, 'compares'],
  ['FALSE', undefined, 'compares'],
  [undefined, 'true', 'compares'],
  [undefined, undefined, 'compares'],
]

for (const [update, ci, what] of both) {
  test(`decision 119: UPDATE_SNAPSHOTS=${update} with CI=${ci} ${what}`, async (t) => {
    const file = await snapshot(t, await sample(t))
    const before = await readFile(file, 'utf8')
    const opened = await sample(t, { edit: 'public' })
    const compared = withEnvironment({ UPDATE_SNAPSHOTS: update, CI: ci }, () =>
      expectAccess(opened, file, { samples }),
    )
    const code = { compares: 'ACCESS_CHANGED', 'is refused': 'SNAPSHOT_IN_CI' }[what]
    if (code === undefined) await compared
    else await t.rejects(compared, { code: `FMOD_PUBLIC_ROUTES_${code}` })
    t.equal((await readFile(file, 'utf8')) === before, code !== undefined)
  })
}

test('an application that speaks HTTP/2 is compared and tried like any other', async (t) => {
  const over2 = async (access: Access) => {
    const app = Fastify({ http2: true })
    t.teardown(() => app.close())
    await app.register(publicRoutes, { env: false, provider: headerProvider, defaults: false })
    app.get('/notes', { config: { access } }, ran)
    return app
  }
  const file = await snapshot(t, await over2('signed-in'))
  await expectAccess(await over2('signed-in'), file)
  await t.rejects(expectAccess(await over2('public'), file), {
    message: '- GET /notes was signed-in and is public',
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

const specialSamples: Readonly<Record<string, Sample>> = {
  ...samples,
  '/year/:year(^(?:19|20)\\d{2}$)': '2024',
  '/file/:name(^[^.]{3,}).:ext(^(?!exe)(?:png|jpe?g)$)': { params: { name: 'photo', ext: 'png' } },
  '/at/:hour(^\\d{2})h:minute(^\\d{2}$)m': '10',
  '/hosted (host /^[a-z]+\\.example\\.org$/)': { headers: { host: 'shop.example.org' } },
}

test('regular expressions, wildcards, optional parameters and constraints: each route is tried', async (t) => {
  const file = await snapshot(t, await sample(t, { before: special }), { samples: specialSamples })
  await expectAccess(await sample(t, { before: special }), file, { samples: specialSamples })
  const text = await readFile(file, 'utf8')
  t.match(text, '{"route":"GET /versioned","constraints":"version 2.0.0","access":"Ops.Read"}')
  t.match(text, '{"route":"HEAD /both","access":"Ops.Read and (Notes.Edit or Notes.Import)"}')
})

test('what follows from another line is not in the file, and is tried all the same', async (t) => {
  const mount: Change = (app) => {
    app.get('/with-head', ran)
    void app.register(async (scope) => void scope.get('/', { config: { access: 'Notes.Edit' } }, ran), {
      prefix: '/twin',
    })
    app.head('/written', { config: { access: 'Ops.Read' } }, ran)
    app.get('/written', ran)
  }
  const file = await snapshot(t, await sample(t, { mount }))
  const text = await readFile(file, 'utf8')
  t.match(text, '"GET /twin"')
  t.match(text, '{"route":"HEAD /written","access":"Ops.Read"}')
  t.notMatch(text, /HEAD \/with-head|HEAD \/twin|\/twin\/"/)
  const changed = JSON.parse(text).map((entry: { route?: string }) =>
    entry.route === 'GET /twin' ? { ...entry, access: 'Ops.Read' } : entry,
  )
  await writeFile(file, JSON.stringify(changed))
  await t.rejects(expectAccess(await sample(t, { mount }), file, { samples }), {
    message:
      /GET \/twin should be Ops\.Read.*HEAD \/twin should be Ops\.Read.*HEAD \/twin\/ should be Ops\.Read/s,
  })
})

const written: Readonly<Record<string, readonly [mount: Change, name: string]>> = {
  'a HEAD route': [(app) => void app.head('/written', ran), 'HEAD /written'],
  'a route with a slash more': [(app) => void app.get('/written/', ran), 'GET /written/'],
}

for (const [what, [mount, name]] of Object.entries(written)) {
  test(`${what} that the application writes itself is new, whatever the GET route of its URL needs`, async (t) => {
    const get: Change = (app) => void app.get('/written', async () => 'other')
    const file = await snapshot(t, await sample(t, { mount: get }))
    const both: Change = (app) => {
      mount(app)
      get(app)
    }
    await t.rejects(expectAccess(await sample(t, { mount: both }), file, { samples }), {
      message: `- ${name} is new: signed-in`,
    })
  })
}

test('a route that cannot be tried is reported, and fails until it has a sample', async (t) => {
  const custom: Change = (app) => {
    app.get('/odd/:x(^[b-d]+$)', ran)
    app.get('/taken/:x', ran)
    for (const value of ['42', 'sample', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', 'a.b', '2024', 'a']) {
      app.get(`/taken/${value}`, ran)
    }
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
  const enough: Readonly<Record<string, Sample>> = {
    ...samples,
    '/odd/:x(^[b-d]+$)': 'bcd',
    '/taken/:x': { params: { x: 'free' } },
    '/regional': { headers: { 'x-region': 'eu' } },
  }
  const file = await snapshot(t, await sample(t, { before: custom }), { samples: enough })
  await expectAccess(await sample(t, { before: custom }), file, { samples: enough })
  for (const [url, fault] of [
    ['/odd/:x(^[b-d]+$)', 'was not tried: its URL has a regular expression: give it a sample'],
    ['/taken/:x', 'was not tried: /taken/a leads to another route: give it a sample'],
    ['/regional', '(region eu) was not tried: /regional leads to another route: give it a sample'],
  ] as const) {
    const { [url]: _, ...missing } = enough
    await t.rejects(expectAccess(await sample(t, { before: custom }), file, { samples: missing }), {
      message: `- GET ${url} ${fault}`,
    })
  }
})

test('what an earlier hook answers is named, not a path that was not found', async (t) => {
  const file = await snapshot(t, await sample(t))
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', async (request, reply) =>
    request.url === '/open' ? reply.code(429).send() : undefined,
  )
  const limited = await sample(t, { app })
  await t.rejects(expectAccess(limited, file, { samples }), {
    message: '- GET /open was not tried: /open was answered with status 429 before the gate',
  })
})

for (const mutant of openingMutants) {
  test(`${mutant.name}: a stranger gets in, and the file differs`, async (t) => {
    const { statuses, original, changed } = await judgeOpening(mutant)
    t.same(statuses, [401, 200])
    t.same(original, [])
    t.ok(
      changed.some((problem) => /^the rule .* is new$/.test(problem)),
      changed.join('; '),
    )
  })
}
