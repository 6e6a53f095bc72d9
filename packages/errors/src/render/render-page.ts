/** An error page of the front end: component `Error/{status}` with the props of S 2.9. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorPageProps } from '../problem.ts'
import { type PageRenderer, rendererOf } from './page-renderer.ts'
import type { Answer } from './take-over.ts'

export interface PageSettings {
  /** Renders where the application has no Inertia adapter. */
  readonly standIn: PageRenderer
  /** Milliseconds after which a renderer has failed. */
  readonly timeout: number
}

export interface PageOptions {
  /** The HTTP status of the answer. */
  readonly status: number
  /** Whether the props that all pages share join the three: only for full renders (decision 55). */
  readonly shared: boolean
}

/**
 * Renders the page.
 * @throws what the renderer throws, or an error when it is not done in time
 */
export async function renderPage(
  request: FastifyRequest,
  reply: FastifyReply,
  props: ErrorPageProps,
  { status, shared }: PageOptions,
  { standIn, timeout }: PageSettings,
): Promise<Answer> {
  const renderer = rendererOf(request.server) ?? standIn
  const page = { component: `Error/${props.status}`, props: withRequestId(request, props), status, shared }
  const rendered = await inTime(renderer.render(request, reply, page), timeout)
  const { body, contentType, headers } = rendered
  if (typeof body !== 'string' && !Buffer.isBuffer(body))
    throw new TypeError('The page renderer returned no body')
  return { status, contentType, body, headers }
}

/** A document about a defect names the request, for people who ask for help; visits get three props (decision 44). */
function withRequestId({ headers, id }: FastifyRequest, props: ErrorPageProps): Record<string, unknown> {
  const isNamed = props.status >= 500 && headers['x-inertia'] === undefined
  return isNamed ? { ...props, requestId: String(id) } : { ...props }
}

async function inTime<T>(promise: Promise<T>, timeout: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The error page was not rendered within ${timeout} ms`)),
      timeout,
    )
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
