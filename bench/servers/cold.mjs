// A small application from the start of its process until it is ready: Fastify alone, or with every plugin. Everything is
// imported here, so that loading counts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [, , kind] = process.argv
const folder = mkdtempSync(join(tmpdir(), 'bench-cold-'))

const { default: Fastify } = await import('fastify')
const app = Fastify()
if (kind === 'every plugin') await addEverything()
else app.get('/notes', () => [])
await app.ready()

const { user, system } = process.cpuUsage()
const { heapUsed, rss } = process.memoryUsage()
process.send({ cpu: (user + system) / 1000, wall: performance.now(), heap: heapUsed / 1e6, rss: rss / 1e6 })
await app.close()
rmSync(folder, { recursive: true })
process.disconnect()

async function addEverything() {
  const { events, modules } = await import('@fastify-modular/core')
  const { sqliteOutbox } = await import('@fastify-modular/core/events/sqlite-outbox')
  const { errors } = await import('@fastify-modular/errors')
  const { inertia } = await import('@fastify-modular/inertia')
  const { publicRoutes } = await import('@fastify-modular/public-routes')
  const { setting, settings, SettingScope } = await import('@fastify-modular/settings')
  const { sqlite } = await import('@fastify-modular/settings/sqlite')
  const { settingsUi } = await import('@fastify-modular/settings-ui')
  const { default: Database } = await import('better-sqlite3')

  const title = setting.text('notes.title', {
    displayName: 'Title',
    scope: SettingScope.Application,
    default: 'Notes',
  })
  const notes = {
    name: 'notes',
    settings: { title },
    plugin: async (scope) => void scope.get('/notes', () => []),
  }
  const database = new Database(join(folder, 'app.db'))
  app.addHook('onClose', () => void database.close()) // the first hook runs last
  await app.register(errors)
  await app.register(publicRoutes, { provider: { authenticate: () => null }, env: false })
  await app.register(inertia, { version: '1' })
  await app.register(events, { transport: sqliteOutbox({ database }) })
  await app.register(settings, { store: sqlite({ database }) })
  await app.register(settingsUi)
  await app.register(modules, { modules: [notes] })
}
