import { expectPublicRoutes, publicRouteLines } from '#src/testing/index.js'
import { defineModule, modules } from '@fastify-modular/core'
import fp from 'fastify-plugin'
import { test } from 'tap'
import { gatedApp } from '../support/application.ts'

const notes = defineModule({
  name: 'notes',
  publicRoutes: (registry) =>
    registry.addRegex('/api/notes/[^/]+/share$', { methods: ['GET'] }).addExact('/old', { methods: ['GET'] }),
  plugin: async (scope) => {
    scope.get('/api/notes/:id/share', async () => 'shared')
    scope.patch('/api/notes/:id/share', async () => 'changed')
    scope.get('/api/notes/:id', async () => 'note')
  },
})

test('print shows each rule with its source and the routes that it opens', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  await app.register(modules, { modules: [notes] })
  app.publicRoutes.addPrefix('/hooks')
  app.post('/hooks/pay', async () => 'paid')
  app.get('/login', { config: { public: true } }, async () => 'login')
  await app.ready()
  t.equal(
    app.publicRoutes.print(),
    [
      'METHOD  MATCH   PATH                     SOURCE          OPENS',
      'GET     regex   /api/notes/[^/]+/share$  module "notes"  GET,HEAD /api/notes/:id/share',
      'GET     exact   /old                     module "notes"  ! no route',
      '*       prefix  /hooks                   application     ! POST /hooks/pay',
      'GET     route   /login                   route config    GET,HEAD /login',
    ].join('\n'),
  )
})

test('expectPublicRoutes passes for the list of what is public, in any order', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  await app.register(modules, { modules: [notes] })
  const lines = await publicRouteLines(app)
  t.same(lines, [
    'GET /api/notes/:id/share — regex /api/notes/[^/]+/share$ (module "notes")',
    'HEAD /api/notes/:id/share — regex /api/notes/[^/]+/share$ (module "notes")',
  ])
  await expectPublicRoutes(app, lines.toReversed())
})

test('expectPublicRoutes shows what was opened and what was closed', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  app.post('/new', { config: { public: true } }, async () => 'new')
  await t.rejects(expectPublicRoutes(app, ['GET /gone — exact /gone (application)']), {
    code: 'FMOD_PUBLIC_ROUTES_SURFACE_CHANGED',
    message: /\n\+ POST \/new — route \/new \(route config\)\n- GET \/gone/,
  })
})

test('expectPublicRoutes with a source looks at one module: its routes, and what its rules open', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  const files = defineModule({
    name: 'files',
    plugin: async (scope) => {
      scope.get('/files', { config: { public: ['GET'] } }, async () => 'files')
      scope.get('/old', async () => 'opened by the rule of notes')
    },
  })
  await app.register(modules, { modules: [notes, files] })
  app.publicRoutes.addExact('/api/notes/list', { methods: ['PATCH'] })
  app.patch('/api/notes/list', async () => 'of no module')
  app.publicRoutes.addRegex('/api/notes/[^/]+$', { methods: ['GET'] })

  const ofNotes = [
    'GET /api/notes/:id — regex /api/notes/[^/]+$ (application)',
    'HEAD /api/notes/:id — regex /api/notes/[^/]+$ (application)',
    'GET /api/notes/:id/share — regex /api/notes/[^/]+/share$ (module "notes")',
    'HEAD /api/notes/:id/share — regex /api/notes/[^/]+/share$ (module "notes")',
    'GET /old — exact /old (module "notes")',
    'HEAD /old — exact /old (module "notes")',
  ]
  await expectPublicRoutes(app, ofNotes, { source: 'notes' })
  t.same(await publicRouteLines(app, { source: 'files' }), [
    'GET /files — route /files (route config)',
    'GET /old — exact /old (module "notes")',
    'HEAD /files — route /files (route config)',
    'HEAD /old — exact /old (module "notes")',
  ])
  await t.rejects(expectPublicRoutes(app, [], { source: 'note' }), {
    code: 'FMOD_PUBLIC_ROUTES_SURFACE_CHANGED',
    message: /there is no module "note"/,
  })
  const plain = await gatedApp(t)
  await t.rejects(expectPublicRoutes(plain, [], { source: 'notes' }), {
    code: 'FMOD_PUBLIC_ROUTES_SURFACE_CHANGED',
    message: /there is no module "notes"/,
  })
})

test('the rules of a module are also those that its plugin adds, in whatever scope', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  const methods = ['POST']
  const admin = defineModule({
    name: 'admin',
    plugin: async (scope) => void scope.post('/admin', async () => 'not opened by itself'),
  })
  const hooks = defineModule({
    name: 'hooks',
    plugin: async (scope) => {
      scope.publicRoutes.addExact('/admin', { methods })
      await scope.register(async (inner) => void inner.publicRoutes.addSubtree('/admin', { methods }))
      await scope.register(fp(async (same) => void same.publicRoutes.addPrefix('/admin', { methods })))
    },
  })
  const unscoped = defineModule({
    name: 'unscoped',
    plugin: fp(async (root) => void root.publicRoutes.addRegex('/adm', { methods })),
  })
  await app.register(modules, { modules: [admin, hooks, unscoped] })
  const openedBy = async (source: string) =>
    (await publicRouteLines(app, { source })).map((line) => / — (\w+) /.exec(line)?.[1])
  t.same(await openedBy('hooks'), ['exact', 'prefix', 'subtree'])
  t.same(await openedBy('unscoped'), ['regex'])
  t.same(await openedBy('admin'), ['exact', 'prefix', 'regex', 'subtree'])
})
