// Fastify with everything: errors, the gate with cookie sessions in memory, Inertia, events, settings, modules.
import { events, hasPermission, modules, NotFoundException } from '@fastify-modular/core'
import { createErrorServerOptions, errors } from '@fastify-modular/errors'
import { inertia } from '@fastify-modular/inertia'
import { publicRoutes } from '@fastify-modular/public-routes'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify from 'fastify'
import { addRoutes } from './routes.mjs'

const sessions = new Map([['1f6f0b4c', { id: 'alice', permissions: ['Things.Read'] }]])

/** Reads the one cookie that matters, without parsing the others. */
function authenticate({ headers: { cookie } }) {
  const at = cookie === undefined ? -1 : cookie.indexOf('session=')
  return at === -1 ? null : sessions.get(cookie.slice(at + 8, at + 16))
}

const definitions = Array.from({ length: 50 }, (_, number) =>
  setting.text(`bench.key-${number}`, {
    displayName: `Key ${number}`,
    scope: SettingScope.Application,
    default: `value ${number}`,
  }),
)

const things = {
  name: 'things',
  publicRoutes: (registry) => void registry.addPrefix('/public/', { methods: ['GET'] }),
  plugin(app, _options, done) {
    addRoutes(app, {
      mayRead: ({ caller }) => hasPermission(caller, 'Things.Read'),
      notFound: () => new NotFoundException('Thing', 42),
    })
    app.get('/refused', () => ({ ok: false }))
    done()
  },
}

/** The application, with the gate and the routes of `addRoutes` behind it. */
export async function createApp() {
  const app = Fastify(createErrorServerOptions())
  await app.register(errors, { errorPage: false })
  await app.register(publicRoutes, { provider: { authenticate }, env: false })
  await app.register(inertia, { version: '1' })
  await app.register(events)
  await app.register(settings, { definitions, store: memoryStore() })
  await app.register(modules, { modules: [things] })
  return app
}
