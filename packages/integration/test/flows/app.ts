/** A small application of the server plugins; its requests are followed through the packages. */
import { type Caller, defineModule, events, modules, NotFoundException } from '@fastify-modular/core'
import { createErrorServerOptions, errors } from '@fastify-modular/errors'
import { publicRoutes } from '@fastify-modular/public-routes'
import {
  setting,
  SettingChanged,
  settings,
  SettingScope,
  type SettingsStore,
} from '@fastify-modular/settings'
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'

const admin: Caller = { id: 'admin', isAdmin: true }

const put = (value: string) => ({
  method: 'PUT' as const,
  url: '/api/settings',
  headers: { authorization: 'admin' },
  payload: { key: 'notes.title', scope: SettingScope.Application, value },
})

/** The requests of the flows; `put` and `tried` write `title`, the latter to be kept within five seconds. */
export const requests = {
  publicRequest: { method: 'GET', url: '/notes/shared' },
  refusedRequest: { method: 'GET', url: '/api/settings' },
  exception: { method: 'GET', url: '/notes/missing' },
  put,
  tried: (value: string) => ({ ...put(value), query: { confirmWithin: '5' } }),
} as const

export const title = setting.text('notes.title', {
  displayName: 'Title',
  scope: SettingScope.Application,
  default: 'Notes',
})

/** Returns the application, ready for requests. `onEvent` is called by the handler of the event `settings.changed`. */
export async function startApp(
  store: SettingsStore,
  onEvent: () => void = () => {},
): Promise<FastifyInstance> {
  class TitleHandler {
    static readonly event = SettingChanged
    handle(): void {
      onEvent()
    }
  }
  const notes = defineModule({
    name: 'notes',
    settings: { title },
    publicRoutes: (registry) => void registry.addPrefix('/notes/', { methods: ['GET'] }),
    handlers: [TitleHandler],
    plugin: async (scope) => {
      scope.get<{ Params: { id: string } }>('/notes/:id', ({ params }) => {
        if (params.id !== 'shared') throw new NotFoundException('Note', params.id)
        return { title: scope.settings.get(title) }
      })
    },
  })
  const app = Fastify(createErrorServerOptions())
  await app.register(errors)
  await app.register(publicRoutes, {
    provider: { authenticate: ({ headers }) => (headers.authorization === 'admin' ? admin : null) },
  })
  await app.register(events)
  await app.register(settings, { store })
  await app.register(modules, { modules: [notes] })
  await app.ready()
  return app
}

/** Makes a request. @throws {Error} the answer has another status */
export async function expectStatus(
  app: FastifyInstance,
  request: InjectOptions,
  status: number,
): Promise<void> {
  const { statusCode, body } = await app.inject(request)
  if (statusCode !== status) throw new Error(`Expected ${status}, not ${statusCode}: ${body}`)
}
