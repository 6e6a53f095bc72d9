// Boots an application of many modules, or the same routes in plain Fastify plugins, and tells what CPU time that took.
// A process of its own each time: a boot runs once, in cold code.
import { defineModule, events, modules } from '@fastify-modular/core'
import { errors } from '@fastify-modular/errors'
import { publicRoutes } from '@fastify-modular/public-routes'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify from 'fastify'

const [, , kind, text] = process.argv
const count = Number(text)
const times = (length, make) => Array.from({ length }, (_, number) => make(number))

function addRoutes(module) {
  return (app, _options, done) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      app.route({ method, url: `/api/${module}/items`, handler: (_request, reply) => void reply.send('ok') })
    }
    done()
  }
}

function makeModule(number) {
  const name = `module-${number}`
  const definitions = times(10, (index) =>
    setting.text(`${name}.key-${index}`, {
      displayName: `Key ${index}`,
      scope: SettingScope.Application,
      default: 'x',
    }),
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

const boots = {
  async bare(app) {
    for (let number = 0; number < count; number++) await app.register(addRoutes(`module-${number}`))
  },
  async ours(app) {
    await app.register(errors, { errorPage: false })
    await app.register(publicRoutes, { provider: { authenticate: () => null }, env: false })
    await app.register(events)
    await app.register(settings, { store: memoryStore() })
    await app.register(modules, { modules: times(count, makeModule) })
  },
}

const start = process.cpuUsage()
const app = Fastify()
await boots[kind](app)
await app.ready()
const { user, system } = process.cpuUsage(start)
process.send((user + system) / 1000)
await app.close()
process.disconnect()
