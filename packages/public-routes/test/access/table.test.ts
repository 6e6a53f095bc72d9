/** The table of access: every route and method with who may call it, and what says so. */
import cors from '@fastify/cors'
import websocket from '@fastify/websocket'
import { defineModule, modules } from '@fastify-modular/core'
import { publicRoutes } from '@fastify-modular/public-routes'
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { headerProvider } from '../support/application.ts'
import { ran } from '../support/declared-application.ts'

async function sample(t: Test) {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(cors)
  await app.register(publicRoutes, {
    provider: headerProvider,
    env: false,
    access: { '/metrics': 'Ops.Read' },
    permissions: { 'Ops.Read': 'Read metrics' },
  })
  await app.register(websocket)
  await app.register(modules, {
    modules: [
      defineModule({
        name: 'notes',
        permissions: { 'Notes.Edit': 'Edit notes', 'Notes.Import': {} },
        access: 'signed-in',
        plugin: async (scope) => {
          scope.get('/notes', ran)
          scope.route({
            method: ['POST', 'PUT'],
            url: '/notes',
            config: { access: { POST: { allOf: ['Notes.Edit', 'Notes.Import'] } } },
            handler: ran,
          })
          scope.delete('/notes', { config: { access: 'signed-in', checkedByHandler: 'Notes.Edit' } }, ran)
          scope.get('/live', { websocket: true }, () => {})
        },
      }),
    ],
  })
  app.publicRoutes.addRegex('/items/7$', { methods: ['GET'] })
  app.get('/items/:id', { exposeHeadRoute: false }, ran)
  app.get('/metrics', { exposeHeadRoute: false }, ran)
  app.get('/open', { config: { access: 'public' } }, ran)
  app.get('/', { exposeHeadRoute: false }, ran)
  return app
}

test('the table has every route and method, what says who may call it, and the module', async (t) => {
  const app = await sample(t)
  await app.ready()
  const rows = app.access
    .table()
    .map(({ method, url, access, why, module, note }) =>
      [method, url, access, why, module ?? '-', note].join(' | '),
    )
  t.same(rows, [
    'OPTIONS | * | signed-in | undeclared | - | preflight',
    'GET | / | public | rule "* exact /" (framework default) | - | ',
    'GET | /items/:id | signed-in | undeclared | - | ',
    'GET | /live | signed-in | access of module "notes" | notes | websocket',
    'HEAD | /live | signed-in | access of module "notes" | notes | ',
    'GET | /metrics | Ops.Read | option access "/metrics" | - | ',
    'DELETE | /notes | signed-in | route config | notes | ',
    'GET | /notes | signed-in | access of module "notes" | notes | ',
    'HEAD | /notes | signed-in | access of module "notes" | notes | ',
    'POST | /notes | Notes.Edit and Notes.Import | route config | notes | ',
    'PUT | /notes | signed-in | access of module "notes" | notes | ',
    'GET | /open | public | route config | - | ',
    'HEAD | /open | public | route config | - | ',
    '* | (no route) | signed-in | undeclared | - | not found',
  ])
  const byUrl = new Map(app.access.table().map((row) => [`${row.method} ${row.url}`, row]))
  t.same(byUrl.get('GET /items/:id')?.mayBeOpenedBy, ['"GET regex /items/7$" (application)'])
  t.same(byUrl.get('GET /notes')?.mayBeOpenedBy, [])
  t.match(byUrl.get('* (no route)')?.mayBeOpenedBy, ['"* exact /" (framework default)'])
  t.equal(byUrl.get('DELETE /notes')?.checkedByHandler, 'Notes.Edit')
})

test('the printed table marks what handlers check and what rules open in part', async (t) => {
  const app = await sample(t)
  await app.ready()
  const printed = app.access.print()
  t.match(printed, /^METHOD +PATH +ACCESS +MODULE +NOTE +WHY$/m)
  t.match(printed, /^DELETE +\/notes .* Notes\.Edit: checked by the handler +route config$/m)
  t.match(
    printed,
    /^GET +\/items\/:id +signed-in +undeclared; could be opened by "GET regex \/items\/7\$" \(application\)/m,
  )
})

test('the printed table has lines of at most 160 characters, and loses nothing of a long one', async (t) => {
  const app = await sample(t)
  const long = '/very/long'.repeat(30)
  app.get(long, { config: { access: { anyOf: ['Notes.Edit', 'Notes.Import', 'Ops.Read'] } } }, ran)
  app.publicRoutes.addPrefix('/items')
  app.post('/items/:id', ran)
  for (const number of [1, 2, 3, 4, 5])
    app.publicRoutes.addRegex(`/items/${number}[a-z]+$`, { methods: ['GET'] })
  app.get('/items/:id/:part', ran)
  await app.ready()
  const printed = app.access.print()
  const lines = printed.split('\n')
  t.same(
    lines.filter((line) => line.length > 160),
    [],
  )
  const words = printed.replaceAll(/\s+/g, '')
  t.match(words, long)
  t.match(words, /\(noroute\).*couldbeopenedbyframeworkdefaults,rulesoftheapplication:7$/)
  for (const { why, mayBeOpenedBy, note } of app.access.table()) {
    const own =
      note === 'not found' ? [] : mayBeOpenedBy.filter((rule) => !rule.includes('framework default'))
    for (const text of [why, ...own]) t.match(words, text.replaceAll(' ', ''))
  }
})

test('the table is refused before the application is ready', async (t) => {
  const app = await sample(t)
  t.throws(() => app.access.table(), { code: 'FMOD_PUBLIC_ROUTES_NOT_READY' })
})
