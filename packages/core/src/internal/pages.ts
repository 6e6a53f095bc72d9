/** Pages of a front end that one package renders and others send, such as error pages. */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A page of the front end. */
export interface PageRequest {
  readonly component: string
  readonly props: Readonly<Record<string, unknown>>
  /** The HTTP status that it will be sent with. */
  readonly status: number
  /** Whether the props that all pages share join these. */
  readonly shared: boolean
}

/** A page as it is sent. */
export interface RenderedPage {
  readonly body: string | Buffer
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** What an adapter decorates as `app.inertia`; any object with the first two functions will do. */
export interface PageRenderer {
  render(request: FastifyRequest, reply: FastifyReply, page: PageRequest): Promise<RenderedPage>
  /** The version of the client's assets. */
  version(): string | null
  /**
   * Keeps the errors of a form for the page that the form is on, and returns the address of that page, to which the answer
   * redirects; null where there is none, or errors go no such way.
   * @param errors messages by field
   */
  keepErrors?(
    request: FastifyRequest,
    reply: FastifyReply,
    errors: Readonly<Record<string, unknown>>,
  ): Promise<string | null>
}
