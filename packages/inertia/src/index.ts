/** @fastify-modular/inertia: a small server adapter for the Inertia client, version 3. */
import type { HistoryFlags } from './page.ts'
import type { Props } from './props.ts'
import type { PageRenderer } from './render.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Renders pages for code that sends the answer itself. */
    readonly inertia: PageRenderer
  }
  interface FastifyReply {
    /** Sends a page: JSON to the client, a full document on a first visit. */
    inertia(component: string, props?: Props, flags?: HistoryFlags): FastifyReply
    /** Leaves the Inertia application for a URL outside it, for a page that is not Inertia's, or for a file. */
    inertiaLocation(url: string): FastifyReply
  }
}

export type { HistoryFlags, Page } from './page.ts'
export { inertia, inertia as default, type InertiaOptions } from './plugin.ts'
export { always, type Props, type SharedProps } from './props.ts'
export type { PageRenderer, PageRequest, RenderedPage } from './render.ts'
export type { NonceSource, RootParts, RootTemplate } from './root-html.ts'
export type { AssetVersion } from './visits.ts'
