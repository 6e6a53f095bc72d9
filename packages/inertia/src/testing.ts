/** @fastify-modular/inertia/testing: visits of the client by `app.inject`, and the page of any answer. */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Page } from './page.ts'

/** A request as the client makes it, with the version of the assets: `visit(app, { url: '/notes' })`. */
export function visit(app: FastifyInstance, options: InjectOptions): Promise<LightMyRequestResponse> {
  const version = app.inertia.version()
  const headers = { 'x-inertia': 'true', ...(version !== null && { 'x-inertia-version': version }) }
  return app.inject({ ...options, headers: { ...headers, ...options.headers } })
}

/**
 * The page object of an answer, of a visit or within the document of a first visit.
 * @throws {Error} the answer is no page; its status and the beginning of its body are in the message
 */
export function readPage({ statusCode, headers, body }: LightMyRequestResponse): Page {
  const [, embedded] =
    /<script data-page="app" type="application\/json"[^>]*>([^<]*)<\/script>/.exec(body) ?? []
  const text = headers['x-inertia'] === 'true' ? body : embedded
  if (text === undefined) throw new Error(`The answer is not a page: ${statusCode} ${body.slice(0, 200)}`)
  return JSON.parse(text) as Page
}
