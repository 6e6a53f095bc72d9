/** @fastify-modular/inertia: a small server adapter for the Inertia client, versions 2 and 3. */
import type { BackOptions } from './flash.ts'
import type { InertiaPages, PageArguments, PageName } from './page-types.ts'
import type { InertiaRenderer } from './plugin.ts'

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
     * Redirects to the page that the request was sent from, or to another one, with errors by field for its form
     * (`props.errors`) and messages that are shown once (`page.flash`): `{ errors: { title: 'is taken' } }`.
     */
    inertiaBack(options?: BackOptions): FastifyReply
  }
}

export { cookieFlash } from './cookie-flash.ts'
export type { BackOptions, FlashEntry, FlashStore } from './flash.ts'
export type { Page, PageFlags } from './page.ts'
export type { InertiaPages } from './page-types.ts'
export { inertia, inertia as default, type InertiaOptions, type InertiaRenderer } from './plugin.ts'
export * as prop from './prop-kinds.ts'
export type { DeferOptions, MergeOptions, OnceOptions, Prop, PropInput, ScrollPosition } from './prop.ts'
export type { RootTemplate } from './root-html.ts'
