/** `expectAccess`: the committed file, and the routes tried against it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineModule, modules } from '@fastify-modular/core'
import { expectAccess } from '@fastify-modular/public-routes/testing'
import type { FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { gatedApp } from '../support/application.ts'
import { ran } from '../support/declared-application.ts'

type Change = (app: FastifyInstance) => void

async function sample(
  t: Test,
  {
    before = () => {},
    edit = 'Notes.Edit',
    mount = () => {},
  }: Partial<{ before: Change; edit: string; mount: Change }> = {},
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
  for (const [edit, fault] of [
    ['signed-in', 'PUT /notes/:id should be Notes.Edit, and a caller without permissions gets "let in"'],
    ['public', 'PUT /notes/:id should be Notes.Edit, and an anonymous caller gets "let in"'],
    ['Ops.Read', 'PUT /notes/:id should be Notes.Edit, and a caller with what is needed gets "forbidden"'],
  ]) {
    await t.rejects(expectAccess(await sample(t, { edit: String(edit) }), file), { message: String(fault) })
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

test('a route for which no path can be made is reported', async (t) => {
  const change = { mount: (app: FastifyInstance) => void app.get('/odd/:x(^qqqq$)', ran) }
  const file = await snapshot(t, await sample(t))
  await writeFile(
    file,
    (await readFile(file, 'utf8')).replace('[', '[{"route":"GET /odd/:x(^qqqq$)","access":"signed-in"},'),
  )
  await t.rejects(expectAccess(await sample(t, change), file), {
    message: '- GET /odd/:x(^qqqq$) could not be tried: no path was found that leads to it',
  })
})
