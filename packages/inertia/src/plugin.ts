/** The inertia plugin: pages as answers. */
import {
  accessOfPlugin,
  branded,
  canonicalPath,
  isApiTarget,
  isNavigation,
  isRead,
  option,
  optionProblems,
  type OptionsSchema,
  type PageRenderer,
  refuseOptions,
  refuseSecond,
  safeRead,
  supportedFastify,
  Type,
} from '@fastify-modular/core/internal'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type BackOptions, type FlashStore, leaveFlash } from './flash.ts'
import { errorCodes } from './misuse-errors.ts'
import { createFindBack, isPlainPath, type PageFlags } from './page.ts'
import { addPrecognition } from './precognition.ts'
import type { Props } from './props.ts'
import { createRenderer, type RendererOptions } from './render.ts'
import {
  adaptRedirects,
  type AssetVersion,
  createLocation,
  isInertia,
  refuseStale,
  type Site,
  versionSource,
} from './visits.ts'

export interface InertiaOptions extends RendererOptions {
  /** Changes whenever the client's assets change, for example a hash of the bundler's manifest. @default null, no check */
  readonly version?: AssetVersion
  /** The path that a proxy takes away in front of this application: `/tools/app`. @default '' */
  readonly basePath?: string
  /**
   * Whether a request with the header `Precognition` is told what is wrong with its input, in place of being handled. Needs the
   * errors plugin. @default false
   */
  readonly precognition?: boolean
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
  flash: option.that(
    (store) => typeof safeRead(store, 'put') === 'function' && typeof safeRead(store, 'get') === 'function',
    'a store with put and get, such as cookieFlash({ secret })',
  ),
  basePath: option.that(
    (path) =>
      path === '' || (typeof path === 'string' && !path.endsWith('/') && canonicalPath(path) !== null),
    'a path such as /tools/app, without a slash at its end',
  ),
  precognition: option.boolean(),
})

const inertiaPlugin: FastifyPluginAsync<InertiaOptions> = async (app, options) => {
  refuseOptions('the inertia plugin', optionProblems(schema, options))
  const advice = 'Register it once, before the routes that render pages.'
  refuseSecond(app, { decorator: 'inertia', plugin: 'inertia', advice })
  const { basePath = '', flash } = options
  const site: Site = { version: versionSource(options.version ?? null), basePath }
  const findBack = createFindBack(basePath)

  const renderer: InertiaRenderer = {
    ...createRenderer({ ...options, ...site }),
    async keepErrors(request, reply, errors) {
      if (!flash || !isInertia(request) || isRead(request) || isApi(request)) return null
      const path = findBack(request)
      if (path !== null) await leaveFlash(flash, { request, reply, path, errors })
      return path
    },
  }
  app.decorate('inertia', branded(renderer))
  app.decorateReply('inertia', renderReply)
  app.decorateReply('inertiaLocation', createLocation(site))
  app.decorateReply('inertiaBack', createBack(flash, findBack))
  app.addHook('onRequest', function inertiaVisit(request, reply, done) {
    // The one hook of this package, because requests of all other clients pay for it as well.
    const isVisit = isInertia(request)
    if (!isVisit && !isNavigation(request.headers)) return done()
    adaptRedirects(reply, site)
    if (!isVisit || !refuseStale(request, reply, site)) done()
  })
  if (options.precognition) addPrecognition(app)
  if (flash?.check) app.addHook('onReady', async () => flash.check?.(app))
}

/** The decorator `app.inertia`. */
export type InertiaRenderer = ReturnType<typeof createRenderer> & Required<Pick<PageRenderer, 'keepErrors'>>

/** A program that says X-Inertia is still a program: the API of settings answers it by problems. */
function isApi({ url, server }: FastifyRequest): boolean {
  return isApiTarget(url) || accessOfPlugin in server
}

/** `return reply.inertiaBack({ errors: { title: 'Enter a title.' } })`: back to the form, or by `/` where no page is known. */
function createBack(flash: FlashStore | undefined, findBack: ReturnType<typeof createFindBack>) {
  return function inertiaBack(this: FastifyReply, { to, ...left }: BackOptions = {}) {
    if (!flash)
      throw new errorCodes.FMOD_INERTIA_INVALID_FLASH(
        'reply.inertiaBack needs the option flash of the inertia plugin',
      )
    const { request } = this
    const target = to ?? findBack(request) ?? '/'
    const [path = ''] = target.split('#')
    if (!isPlainPath(target.replace('#', '?')))
      throw new errorCodes.FMOD_INERTIA_INVALID_FLASH(
        'the option to of reply.inertiaBack is not a canonical path',
      )
    if (isRead(request) && path === request.originalUrl)
      throw new errorCodes.FMOD_INERTIA_INVALID_FLASH(
        `reply.inertiaBack would redirect GET ${path} to itself`,
      )
    leaveFlash(flash, { request, reply: this, path, ...left })
      .then(() => this.redirect(target, 303))
      .catch((thrown: unknown) => this.send(toError(thrown)))
    return this
  }
}

/** `return reply.inertia('Notes/Index', { notes })`: sends the page with the status set so far. */
function renderReply(
  this: FastifyReply,
  component: string,
  props: Props = {},
  flags: PageFlags = {},
): FastifyReply {
  const page = { ...flags, component, props, status: this.statusCode, shared: true }
  this.server.inertia
    .render(this.request, this, page)
    .then(({ body, contentType, headers = {} }) => this.headers(headers).type(contentType).send(body))
    .catch((thrown: unknown) => this.send(toError(thrown)))
  return this
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
