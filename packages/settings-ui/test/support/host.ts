/** A small application with settings, gate, errors and the pages, for browsers: a cookie names the caller. */
import type { AddressInfo } from 'node:net'
import { type Caller, type Module, modules } from '@fastify-modular/core'
import { errors } from '@fastify-modular/errors'
import { publicRoutes } from '@fastify-modular/public-routes'
import { settings, type SettingsOptions } from '@fastify-modular/settings'
import { settingsUi, type SettingsUiOptions } from '@fastify-modular/settings-ui'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance } from 'fastify'
import { definitions } from './definitions.js'

export const callers: Readonly<Record<string, Caller>> = {
  ada: { id: 'ada', name: 'Ada', isAdmin: true },
  eve: { id: 'eve', name: 'Eve', permissions: ['Settings.Update'] },
  vera: { id: 'vera', name: 'Vera' },
}

export interface HostOptions {
  readonly settings?: SettingsOptions
  readonly ui?: SettingsUiOptions
  readonly modules?: readonly Module[]
}

/** What tests hang their cleaning up on. */
interface Test {
  teardown(close: () => unknown): unknown
}

/** The application, ready but not listening. */
export async function createHost(t: Test, options: HostOptions = {}): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(cookie)
  await app.register(errors)
  await app.register(publicRoutes, {
    provider: {
      authenticate: (request) => callers[request.cookies['user'] ?? ''] ?? null,
      loginUrl: '/login',
    },
  })
  await app.register(settings, {
    definitions: [definitions],
    selfService: true,
    overrides: { 'app.site': 'locked-site' },
    ...options.settings,
  })
  await app.register(settingsUi, { title: 'Test host', selfService: true, ...options.ui })
  await app.register(modules, { modules: options.modules ?? [] })
  app.get<{ Querystring: { returnTo?: string; as?: string } }>(
    '/login',
    { config: { access: 'public' } },
    (request, reply) => {
      const { as, returnTo = '/' } = request.query
      if (as) return reply.setCookie('user', as, { path: '/' }).redirect(returnTo)
      return reply
        .type('text/html')
        .send('<!doctype html><html lang="en"><title>Sign in</title><h1>Sign in</h1>')
    },
  )
  await app.ready()
  return app
}

/** The application on a port of this machine. */
export async function startHost(
  t: Test,
  options: HostOptions = {},
): Promise<{ url: string; app: FastifyInstance }> {
  const app = await createHost(t, options)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, app }
}
