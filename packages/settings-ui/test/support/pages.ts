/** Pages as requests without a browser get them. */
import { settings } from '@fastify-modular/settings'
import { settingsUi, type SettingsUiOptions } from '@fastify-modular/settings-ui'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { definitions } from './definitions.js'

/** The headers of a browser that a caller uses. */
export const as = (user: string, headers = {}) => ({
  headers: { cookie: `user=${user}`, accept: 'text/html', ...headers },
})

/** The configuration within a page. */
export function configOf(html: string): Record<string, unknown> {
  return JSON.parse(/id="fm-config">(.*?)<\/script>/s.exec(html)?.[1] ?? 'null')
}

/** The look of the host that a page asks for. */
export async function themeOf(app: FastifyInstance, html: string): Promise<string> {
  const [, theme] = configOf(html)['styles'] as string[]
  const { pathname, search } = new URL(String(theme), 'http://x/settings/manage')
  return (await app.inject({ url: pathname + search })).payload
}

/** Without a gate; ready, or not. */
export async function boot(
  t: { teardown(close: () => unknown): unknown },
  ui: SettingsUiOptions,
  routes = true,
  logger: FastifyServerOptions['logger'] = false,
) {
  const app: FastifyInstance = Fastify({ logger })
  t.teardown(() => app.close())
  app.register(settings, {
    definitions: [definitions],
    findCaller: () => null,
    ...(!routes && { routes: false }),
  })
  app.register(settingsUi, ui)
  await app.ready()
  return app
}
