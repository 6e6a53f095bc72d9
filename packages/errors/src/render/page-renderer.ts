/** What renders pages: the application's Inertia adapter, or a small stand-in where it has none (decision 55). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { safeRead } from '../values/safe-read.ts'
import { fillIn } from './error-page.ts'

/** A page of the front end. */
export interface PageRequest {
  readonly component: string
  readonly props: Record<string, unknown>
  /** The HTTP status that it will be sent with. */
  readonly status: number
  /** Whether the props that all pages share join these. */
  readonly shared: boolean
}

/** A page as it is sent. */
export interface RenderedPage {
  readonly body: string | Buffer
  readonly contentType: string
  readonly headers?: Record<string, string>
}

/** What an adapter decorates as `app.inertia`; any object with these two functions will do. */
export interface PageRenderer {
  render(request: FastifyRequest, reply: FastifyReply, page: PageRequest): Promise<RenderedPage>
  /** The version of the client's assets. */
  version(): string | null
}

/** The application's renderer, looked up when it is used: it may be registered after this package, or in a child scope. */
export function rendererOf(app: FastifyInstance): PageRenderer | undefined {
  const found = safeRead(app, 'inertia')
  return typeof safeRead(found, 'render') === 'function' ? (found as PageRenderer) : undefined
}

/** Page JSON without a version for the Inertia client, a self-contained document for everyone else. */
export function createStandIn(template: string): PageRenderer {
  return {
    version: () => null,
    render(request, _reply, { component, props, status }) {
      if (request.headers['x-inertia'] !== undefined) {
        const body = JSON.stringify({ component, props, url: addressOf(request), version: null })
        return Promise.resolve({ body, contentType: 'application/json', headers: { 'x-inertia': 'true' } })
      }
      const body = fillIn(template, {
        status,
        title: String(props['title']),
        message: String(props['message']),
      })
      return Promise.resolve({ body, contentType: 'text/html; charset=utf-8' })
    },
  }
}

/**
 * Path and query that the client files the page under. It assigns them to the address bar, so they must not leave the
 * site (`//evil.example`), and a refresh must not GET the address of a form: other methods get the home page's.
 */
function addressOf({ method, originalUrl }: FastifyRequest): string {
  const isOwn = /^\/(?![/\\])[\x21-\x7e]*$/.test(originalUrl)
  return isOwn && (method === 'GET' || method === 'HEAD') ? originalUrl : '/'
}
