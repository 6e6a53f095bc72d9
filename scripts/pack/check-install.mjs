// Installs the tarballs as a stranger does, with npm and from the registry, beside several versions of Fastify, and
// starts an application with all of them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture, npmInstall } from '../command.mjs'

const [nodeMajor] = process.versions.node.split('.').map(Number)

/** Each with the first Node that it runs on. */
const fastifyVersions = [
  { version: '5.0.0', node: 20 },
  { version: '5', node: 20 },
  { version: '6.0.0-alpha.4', node: 22 },
]

/** Throws with the output of npm or of the application. Packages are `{ filename }`. */
export async function checkInstall(folder, packages) {
  const tarballs = packages.map(({ filename }) => filename)
  for (const { version, node } of fastifyVersions) {
    if (nodeMajor < node) {
      console.log(`not installed beside Fastify ${version}: it needs Node ${node}+`)
      continue
    }
    const app = join(folder, `fastify-${version}`)
    mkdirSync(app, { recursive: true })
    // `^6.0.0` accepts no pre-release; an application that tries one overrides the peers in the same way.
    const overrides = { fastify: '$fastify' }
    const manifest = {
      name: 'stranger',
      private: true,
      type: 'module',
      dependencies: { fastify: version },
      overrides,
    }
    writeFileSync(join(app, 'package.json'), JSON.stringify(manifest))
    await npmInstall(['--no-audit', '--no-fund', ...tarballs], { cwd: app })
    await capture('npm', ['ls', '--all'], { cwd: app }) // fails for a peer that is missing or of another version
    writeFileSync(join(app, 'app.mjs'), application)
    const answer = await capture(process.execPath, ['app.mjs'], { cwd: app })
    console.log(`installed beside Fastify ${answer.trim()}`)
  }
}

/** Every plugin in the documented order; SQLite where Node brings it along, since no driver is installed. */
const application = `
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import Fastify from 'fastify'
import { defineModule, events, modules, NotFoundException } from '@fastify-modular/core'
import { createErrorServerOptions, errors } from '@fastify-modular/errors'
import { inertia } from '@fastify-modular/inertia'
import { publicRoutes } from '@fastify-modular/public-routes'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import { sqlite } from '@fastify-modular/settings/sqlite'
import { settingsUi } from '@fastify-modular/settings-ui'

const title = setting.text('app.title', { displayName: 'Title', scope: SettingScope.Application, default: 'Hello', public: true })
const hello = defineModule({
  name: 'hello',
  settings: { title },
  publicRoutes: (registry) => registry.addExact('/hello', { methods: ['GET'] }),
  plugin: async (app) => {
    app.get('/hello', () => ({ text: app.settings.get(title) }))
    app.get('/page', (request, reply) => reply.inertia('Page', {}))
    app.get('/gone', () => {
      throw new NotFoundException('Page', 1)
    })
  },
})
const caller = { id: 'ada', permissions: ['*'], isAdmin: true }
const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined

const app = Fastify(createErrorServerOptions())
await app.register(errors)
await app.register(publicRoutes, { provider: { authenticate: ({ headers }) => (headers.authorization ? caller : null) } })
await app.register(inertia)
await app.register(events)
await app.register(settings, { store: hasSqlite ? sqlite({ file: 'settings.db' }) : memoryStore() })
await app.register(settingsUi)
await app.register(modules, { modules: [hello] })
await app.listen({ port: 0, host: '127.0.0.1' })

const { port } = app.server.address()
const send = async (path, options) => (await fetch('http://127.0.0.1:' + port + path, options)).status
const headers = { authorization: 'yes', 'content-type': 'application/json', accept: 'application/json' }
assert.equal(await send('/hello'), 200)
assert.equal(await send('/page'), 401)
assert.equal(await send('/page', { headers }), 200)
assert.equal(await send('/gone', { headers }), 404)
assert.equal(await send('/settings/manage', { headers: { ...headers, accept: 'text/html' } }), 200)
assert.equal(await send('/api/settings', { method: 'PUT', headers, body: JSON.stringify({ key: 'app.title', scope: 1, value: 'Hi' }) }), 204)
assert.equal(app.settings.get(title), 'Hi')
await app.close()
console.log(app.version + (hasSqlite ? ', with node:sqlite' : ''))
`
