/** What the tests of this package share: one application with the plugin, and requests as the client makes them. */
import Fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import { inertia, type InertiaOptions, type Page } from '@fastify-modular/inertia'

export const version = 'v1'

export async function createApp(
  options: InertiaOptions = {},
  routes: (app: FastifyInstance) => void = () => {},
): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(inertia, { version, ...options })
  routes(app)
  return app
}

/** A request of the client, with the version of its assets. */
export function visit(app: FastifyInstance, options: InjectOptions): Promise<LightMyRequestResponse> {
  return app.inject({
    ...options,
    headers: { 'x-inertia': 'true', 'x-inertia-version': version, ...options.headers },
  })
}

/** The page object inside the document of a first visit. */
export function embeddedPage(html: string): Page {
  const match =
    /<script data-page="app" type="application\/json"[^>]*>([^<]*)<\/script><div id="app"><\/div>/.exec(html)
  return JSON.parse(match?.[1] ?? 'null') as Page
}
