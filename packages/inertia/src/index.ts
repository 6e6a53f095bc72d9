/** @fastify-modular/inertia: a small server adapter for the Inertia client, versions 2 and 3. */
import type { InertiaPages, PageArguments, PageName } from './page-types.ts'
import type { InertiaRenderer } from './plugin.ts'
import type { Props } from './props.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Renders pages for code that sends the answer itself. */
    readonly inertia: InertiaRenderer
  }
  interface FastifyReply {
    /** Sends a page: JSON to the client, a full document on a first visit. */
    inertia<C extends PageName<InertiaPages>>(
      component: C,
      ...rest: PageArguments<InertiaPages, C>
    ): FastifyReply
    /** Leaves the Inertia application for a URL outside it, for a page that is not Inertia's, or for a file. */
    inertiaLocation(url: string): FastifyReply
    /**
     * Redirects to the page that the request was sent from, with errors by field for its form (`props.errors`) and messages
     * that are shown once (`page.flash`).
     */
    inertiaBack(errors?: Readonly<Record<string, unknown>>, flash?: Props): FastifyReply
  }
}

export type { PageRenderer, RenderedPage } from '@fastify-modular/core/internal'
export { cookieFlash, type CookieFlashOptions } from './cookie-flash.ts'
export type { FlashEntry, FlashStore } from './flash.ts'
export type { HistoryFlags, Page } from './page.ts'
export type { InertiaPages, PageArguments, PageName } from './page-types.ts'
export { inertia, inertia as default, type InertiaOptions, type InertiaRenderer } from './plugin.ts'
export {
  always,
  deepMerge,
  defer,
  type DeferOptions,
  type Lazy,
  merge,
  type MergeOptions,
  once,
  type OnceOptions,
  optional,
  prepend,
  type Prop,
  type PropInput,
  scroll,
  type ScrollPosition,
} from './prop-kinds.ts'
export type { PropLabels, Props } from './props.ts'
export type { PageRequest, SharedProps } from './render.ts'
export type { NonceSource, RootParts, RootTemplate } from './root-html.ts'
export type { AssetVersion } from './visits.ts'
