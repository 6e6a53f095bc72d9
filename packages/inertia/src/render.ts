/** From component and props to the bytes of an answer. */
import {
  logFailure,
  type PageRenderer,
  type PageRequest as BarePageRequest,
  varyWith,
} from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findFlash, type FlashStore, forgetFlash } from './flash.ts'
import { type Page, type PageFlags, pageUrl } from './page.ts'
import { always } from './prop-kinds.ts'
import { evaluate, ignoreUnread, type Props, readSelection, resolveProps } from './props.ts'
import { compileRoot, type NonceSource, type RootTemplate } from './root-html.ts'
import { isInertia, type Site } from './visits.ts'

/** A page to render. Without `shared` the page is exactly `props`: no shared props, no `errors`, nothing flashed. */
type PageRequest = BarePageRequest & PageFlags

/** Props for every page, or a function of the request that gives them: `(request) => ({ user: request.caller?.name })`. */
type SharedProps = Props | ((request: FastifyRequest) => Props | Promise<Props>)

/** What goes into every page. */
export interface RendererOptions {
  /** Props of every page. */
  readonly share?: SharedProps
  /** The document of a first visit. @default a bare document, without scripts */
  readonly rootTemplate?: RootTemplate
  /** For a Content-Security-Policy with nonces: `(request, reply) => reply.cspNonce.script`. */
  readonly nonce?: NonceSource
  /**
   * Encrypts every page in the browser's history unless the page says otherwise. Each document makes the pages before it
   * unreadable, because it may be another person's. @default false
   */
  readonly encryptHistory?: boolean
  /**
   * Where errors of forms and messages wait for the next page: `cookieFlash({ secret })`, or a store over your session. With it
   * a form whose input is refused is shown again, with `props.errors`; see `reply.inertiaBack`.
   * @default none: a refused form is answered as any other failure
   */
  readonly flash?: FlashStore
}

/** The renderer that `reply.inertia` and `app.inertia` share. */
export function createRenderer(options: RendererOptions & Site): Required<Pick<PageRenderer, 'version'>> & {
  render(request: FastifyRequest, reply: FastifyReply, page: PageRequest): ReturnType<PageRenderer['render']>
} {
  const { version, basePath, share, nonce, flash } = options
  const toDocument = compileRoot(options.rootTemplate)

  async function buildPage(
    request: FastifyRequest,
    reply: FastifyReply,
    requested: PageRequest,
  ): Promise<Page> {
    const { component, status, encryptHistory = options.encryptHistory } = requested
    const own = ignoreUnread(requested.props)
    // With a document the tab may pass to another person, whom "Back" must not show the pages of the one before.
    const isHandover = !isInertia(request) && (encryptHistory || options.encryptHistory)
    // Errors of 500 and above are about the server: what waits for the page is left for the next attempt.
    const isNext = requested.shared && status < 500
    const left = flash && isNext ? await findFlash(flash, request, reply) : null
    const { clearHistory, preserveFragment } = requested
    const about = {
      url: pageUrl(request, basePath, requested.url),
      version: version(),
      ...(encryptHistory && { encryptHistory }),
      ...((clearHistory || left?.clearHistory || isHandover) && { clearHistory: true }),
      ...((preserveFragment || left?.preserveFragment) && { preserveFragment: true }),
    }
    if (!requested.shared)
      return { component, ...(await resolveProps(own, readSelection({}, component))), ...about }
    const shared = ignoreUnread((typeof share === 'function' ? await share(request) : share) ?? {})
    const all: Props = { ...shared, ...own }
    /** Always there, because the client reads it on every page. */
    const errors = always(async () => ({
      ...inErrorBag(left?.bag, left?.errors),
      ...inErrorBag(request.headers['x-inertia-error-bag'], await evaluate(all['errors'])),
    }))
    const onRescue = (err: unknown, prop: string) =>
      logFailure(request.log, 'error', { err, prop }, 'a deferred prop failed and was left out')
    const selection = readSelection(request.headers, component)
    const resolved = await resolveProps({ ...all, errors }, selection, onRescue)
    if (flash && left) await forgetFlash(flash, request, reply) // not before: a page that fails has shown nothing
    const sharedProps = Object.keys(shared)
    const messages = { ...left?.flash, ...requested.flash }
    return {
      component,
      ...resolved,
      ...about,
      ...(sharedProps.length > 0 && { sharedProps }),
      ...(Object.keys(messages).length > 0 && { flash: messages }),
    }
  }

  return {
    version,
    async render(request, reply, requested) {
      const page = await buildPage(request, reply, requested)
      const vary = varyWith(reply, 'X-Inertia') // a cache must not give one representation for the other
      if (isInertia(request)) {
        const headers = { vary, 'x-inertia': 'true' }
        return { body: JSON.stringify(page), contentType: 'application/json; charset=utf-8', headers }
      }
      const body = await toDocument({ page, request, nonce: nonce?.(request, reply) })
      return { body, contentType: 'text/html; charset=utf-8', headers: { vary } }
    },
  }
}

/** Two forms on one page keep their errors apart by the name that the client gives. */
function inErrorBag(bag: unknown, errors: unknown): object {
  if (typeof errors !== 'object' || errors === null || Object.keys(errors).length === 0) return {}
  return typeof bag === 'string' ? { [bag]: errors } : errors
}
