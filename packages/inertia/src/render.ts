/** From component and props to the bytes of an answer. */
import { varyWith } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type HistoryFlags, type Page, pageUrl } from './page.ts'
import { type Props, readPartialReload, resolveProps, type SharedProps, withSharedProps } from './props.ts'
import { compileRoot, type NonceSource, type RootTemplate } from './root-html.ts'
import { isInertia } from './visits.ts'

/** A page to render. */
export interface PageRequest extends HistoryFlags {
  readonly component: string
  readonly props: Props
  /** The HTTP status that the caller of `render` sends. */
  readonly status: number
  /** Whether shared props and `errors` join; without them the page is exactly `props`. */
  readonly shared: boolean
}

/** A rendered page. */
export interface RenderedPage {
  readonly body: string | Buffer
  readonly contentType: string
  readonly headers?: Record<string, string>
}

/** The decorator `app.inertia`: renders pages for code that sends the answer itself, such as an error handler. */
export interface PageRenderer {
  /** Page JSON for the client, the full document for a first visit. */
  render(request: FastifyRequest, reply: FastifyReply, page: PageRequest): Promise<RenderedPage>
  /** The current version of the assets. */
  version(): string | null
}

export interface RendererOptions {
  readonly version: () => string | null
  readonly share?: SharedProps | undefined
  readonly rootTemplate?: RootTemplate | undefined
  readonly nonce?: NonceSource | undefined
  readonly encryptHistory?: boolean | undefined
}

/** The renderer that `reply.inertia` and `app.inertia` share. */
export function createRenderer(options: RendererOptions): PageRenderer {
  const { version, share, nonce, encryptHistory = false } = options
  const toDocument = compileRoot(options.rootTemplate)

  async function buildPage(request: FastifyRequest, requested: PageRequest): Promise<Page> {
    const { component, shared } = requested
    const partial = shared ? readPartialReload(request.headers, component) : null
    const props = shared ? await withSharedProps(request, share, requested.props) : requested.props
    return {
      component,
      props: await resolveProps(props, partial),
      url: pageUrl(request),
      version: version(),
      ...((requested.encryptHistory ?? encryptHistory) && { encryptHistory: true }),
      ...(requested.clearHistory && { clearHistory: true }),
      ...(requested.preserveFragment && { preserveFragment: true }),
    }
  }

  return {
    version,
    async render(request, reply, requested) {
      const page = await buildPage(request, requested)
      const vary = varyWith(reply, 'X-Inertia') // a cache must not give one representation for the other
      if (isInertia(request)) {
        const headers = { vary, 'x-inertia': 'true' }
        return { body: JSON.stringify(page), contentType: 'application/json; charset=utf-8', headers }
      }
      const body = toDocument(page, nonce?.(request, reply))
      return { body, contentType: 'text/html; charset=utf-8', headers: { vary } }
    },
  }
}
