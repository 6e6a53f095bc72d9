/** The inertia plugin: pages as answers. */
import {
  checkCoreVersion,
  option,
  optionProblems,
  type OptionsSchema,
  Type,
  supportedFastify,
} from '@fastify-modular/core/internal'
import type { FastifyPluginAsync, FastifyReply, onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { FMOD_INERTIA_INVALID_OPTION, FMOD_INERTIA_REGISTERED_TWICE } from './misuse-errors.ts'
import type { HistoryFlags } from './page.ts'
import type { Props, SharedProps } from './props.ts'
import { createRenderer, type RenderedPage } from './render.ts'
import type { NonceSource, RootTemplate } from './root-html.ts'
import {
  adaptRedirects,
  answerStale,
  type AssetVersion,
  inertiaLocation,
  isInertia,
  isStale,
  versionSource,
} from './visits.ts'

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

const schema: OptionsSchema<InertiaOptions> = Type.Object({
  version: Type.Union([Type.String(), Type.Null(), option.function()], {
    description: 'text, null or a function that returns one of them',
  }),
  share: Type.Union([option.function(), option.record('')], {
    description: 'an object of props or a function of the request',
  }),
  rootTemplate: Type.Union([Type.String(), option.function()], { description: 'HTML or a function' }),
  nonce: option.function('a function of the request and the reply'),
  encryptHistory: option.boolean(),
})

const inertiaPlugin: FastifyPluginAsync<InertiaOptions> = async (app, options) => {
  checkCoreVersion(import.meta.url)
  const problems = optionProblems(schema, options)
  if (problems.length > 0) throw new FMOD_INERTIA_INVALID_OPTION(problems.join('; '))
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
    if (isStale(request, currentVersion)) answerStale(request, reply, currentVersion())
    else done()
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
export const inertia = fp(inertiaPlugin, { name: '@fastify-modular/inertia', fastify: supportedFastify })
