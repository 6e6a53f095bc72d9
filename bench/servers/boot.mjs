// Boots an application and tells what that took: the boot alone, and the whole process, loading included.
// A process of its own each time: a boot runs once, in cold code.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'

const [, , kind, text] = process.argv
const count = Number(text)
const folder = mkdtempSync(join(tmpdir(), 'bench-boot-'))
const times = (length, make) => Array.from({ length }, (_, number) => make(number))

function addRoutes(module) {
  return (app, _options, done) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      app.route({ method, url: `/api/${module}/items`, handler: (_request, reply) => void reply.send('ok') })
    }
    done()
  }
}

/** Each loads what it needs, and returns what boots. */
const boots = {
  /** The same routes in plain plugins. */
  bare: () => async (app) => {
    for (let number = 0; number < count; number++) await app.register(addRoutes(`module-${number}`))
  },
  /** Modules with ten definitions and three rules each. */
  async modules() {
    const { defineModule, events, modules } = await import('@fastify-modular/core')
    const { errors } = await import('@fastify-modular/errors')
    const { publicRoutes } = await import('@fastify-modular/public-routes')
    const { memoryStore, setting, settings, SettingScope } = await import('@fastify-modular/settings')

    function makeModule(number) {
      const name = `module-${number}`
      const scope = SettingScope.Application
      const definitions = times(10, (index) =>
        setting.text(`${name}.key-${index}`, { displayName: `Key ${index}`, scope, default: 'x' }),
      )
      return defineModule({
        name,
        settings: Object.fromEntries(definitions.map((definition) => [definition.key, definition])),
        publicRoutes: (registry) => {
          registry.addExact(`/api/${name}/items`, { methods: ['GET'] })
          registry.addPrefix(`/api/${name}/files/`, { methods: ['GET'] })
          registry.addRegex(`/api/${name}/[^/]+/share$`, { methods: ['GET'] })
        },
        plugin: addRoutes(name),
      })
    }

    return async (app) => {
      await app.register(errors, { errorPage: false })
      await app.register(publicRoutes, { provider: { authenticate: () => null }, env: false })
      await app.register(events)
      await app.register(settings, { store: memoryStore() })
      await app.register(modules, { modules: times(count, makeModule) })
    }
  },
  /** A small application with every plugin and SQLite. */
  async everything() {
    const { events, modules } = await import('@fastify-modular/core')
    const { sqliteOutbox } = await import('@fastify-modular/core/events/sqlite-outbox')
    const { errors } = await import('@fastify-modular/errors')
    const { inertia } = await import('@fastify-modular/inertia')
    const { publicRoutes } = await import('@fastify-modular/public-routes')
    const { setting, settings, SettingScope } = await import('@fastify-modular/settings')
    const { sqlite } = await import('@fastify-modular/settings/sqlite')
    const { settingsUi } = await import('@fastify-modular/settings-ui')
    const { default: Database } = await import('better-sqlite3')

    const scope = SettingScope.Application
    const title = setting.text('notes.title', { displayName: 'Title', scope, default: 'Notes' })
    const notes = { name: 'notes', settings: { title }, plugin: addRoutes('notes') }
    const database = new Database(join(folder, 'app.db'))
    return async (app) => {
      app.addHook('onClose', () => void database.close()) // the first hook runs last
      await app.register(errors)
      await app.register(publicRoutes, { provider: { authenticate: () => null }, env: false })
      await app.register(inertia, { version: '1' })
      await app.register(events, { transport: sqliteOutbox({ database }) })
      await app.register(settings, { store: sqlite({ database }) })
      await app.register(settingsUi)
      await app.register(modules, { modules: [notes] })
    }
  },
}

const addAll = await boots[kind]()
const start = process.cpuUsage()
const app = Fastify()
await addAll(app)
await app.ready()
const wall = performance.now()
const milliseconds = ({ user, system }) => (user + system) / 1000
const { heapUsed, rss } = process.memoryUsage()
process.send({
  boot: milliseconds(process.cpuUsage(start)),
  cpu: milliseconds(process.cpuUsage()),
  wall,
  heap: heapUsed / 1e6,
  rss: rss / 1e6,
})
await app.close()
rmSync(folder, { recursive: true })
process.disconnect()
