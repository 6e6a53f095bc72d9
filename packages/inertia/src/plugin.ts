/** The inertia plugin: pages as answers. */
import type { FastifyPluginAsync, FastifyReply, onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { isInertia } from './headers.ts'
import { FMOD_INERTIA_REGISTERED_TWICE } from './misuse-errors.ts'
import type { HistoryFlags } from './page.ts'
import type { Props } from './props.ts'
import { adaptRedirects, inertiaLocation } from './redirects.ts'
import { createRenderer, type RenderedPage } from './render.ts'
import type { NonceSource, RootTemplate } from './root-html.ts'
import type { SharedProps } from './shared-props.ts'
import { type AssetVersion, refusesStale, versionSource } from './version.ts'

export interface InertiaOptions {
  /** Changes whenever the client's assets change, for example a hash of the bundler's manifest. @default null, no check */
  readonly version?: AssetVersion
  /** Props of every page. */
  readonly share?: SharedProps
  /** The document of a first visit. @default a bare document, without scripts */
  readonly rootTemplate?: RootTemplate
  /** For a Content-Security-Policy with nonces: `(request, reply) => reply.cspNonce.script`. */
  readonly nonce?: NonceSource
  /** Encrypts every page in the browser's history unless the page says otherwise. @default false */
  readonly encryptHistory?: boolean
}

const inertiaPlugin: FastifyPluginAsync<InertiaOptions> = async (app, options) => {
  if (app.hasDecorator('inertia')) throw new FMOD_INERTIA_REGISTERED_TWICE()
  const version = versionSource(options.version ?? null)

  app.decorate('inertia', createRenderer({ ...options, version }))
  app.decorateReply('inertia', renderReply)
  app.decorateReply('inertiaLocation', inertiaLocation)
  app.addHook('onRequest', receiveVisits(version))
}

/** The one hook of this package, because requests of all other clients pay for it as well. */
function receiveVisits(currentVersion: () => string | null): onRequestHookHandler {
  return function inertiaVisit(request, reply, done) {
    if (!isInertia(request)) return done()
    adaptRedirects(reply)
    if (!refusesStale(request, reply, currentVersion)) done()
  }
}

/** `return reply.inertia('Notes/Index', { notes })`: sends the page with the status set so far. */
function renderReply(
  this: FastifyReply,
  component: string,
  props: Props = {},
  flags: HistoryFlags = {},
): FastifyReply {
  const page = { ...flags, component, props, status: this.statusCode, shared: true }
  this.server.inertia
    .render(this.request, this, page)
    .then((rendered) => sendPage(this, rendered))
    .catch((thrown: unknown) => this.send(toError(thrown)))
  return this
}

function sendPage(reply: FastifyReply, { body, contentType, headers = {} }: RenderedPage): FastifyReply {
  return reply.headers(headers).type(contentType).send(body)
}

/** Fastify answers an Error as a failure, with its status; a thrown string it would send as the body. */
function toError(thrown: unknown): Error {
  try {
    if (thrown instanceof Error) return thrown
  } catch {
    // a proxy
  }
  return new Error('The page could not be rendered', { cause: thrown })
}

/** Serves Inertia pages: decorates `reply.inertia`, `reply.inertiaLocation` and `app.inertia`. */
export const inertia = fp(inertiaPlugin, { name: '@fastify-modular/inertia', fastify: '5.x' })
