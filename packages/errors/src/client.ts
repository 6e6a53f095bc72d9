/** @fastify-modular/errors/client: problems as programs receive them, in browsers and elsewhere. Imports nothing. */

interface Received<Code extends string> {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** Names the kind of problem. */
  readonly code: Code
  readonly instance?: string
  readonly requestId?: string
  readonly traceId?: string
}

/** A class made by `defineProblem`. */
interface ProblemClass {
  readonly code: string
  readonly prototype: { readonly extensions?: object }
}

/** The problem of a class, with its extensions. */
type ReceivedAs<Class> = Class extends ProblemClass
  ? Received<Class['code']> & NonNullable<Class['prototype']['extensions']>
  : never

type Common =
  | 'ARGUMENT'
  | 'CONFLICT'
  | 'CROSS_ORIGIN'
  | 'FORBIDDEN'
  | 'INTERNAL_SERVER_ERROR'
  | 'NOT_FOUND'
  | 'ROUTE_NOT_FOUND'
  | 'SERVICE_UNAVAILABLE'
  | 'TOO_MANY_REQUESTS'
  | 'UNAUTHORIZED'

/** An answer that is not a problem: it comes from a proxy, or was cut off. */
type Unreadable = 'UNREADABLE'

/**
 * A problem by its `code`: `if (problem.code === 'VALIDATION') show(problem.errors)`. The problems of the application's own
 * classes are part of it: `ReceivedProblem<typeof OutOfCredit>`. A server may send other codes: end with a branch for the rest.
 */
export type ReceivedProblem<Own extends ProblemClass = never> =
  | Received<Common | Unreadable>
  | (Received<'VALIDATION' | 'SETTING_VALIDATION'> & {
      /** Messages by field, or by setting key. */
      readonly errors: Readonly<Record<string, readonly string[]>>
    })
  | ReceivedAs<Own>

/**
 * The problem of a response of `fetch`; null for one below 400. An error that is not a problem, such as a proxy's page, has
 * the code `UNREADABLE`. Never throws, and leaves the body to be read again. Own problems are named by their classes:
 * `readProblem<typeof OutOfCredit>(response)`.
 */
export async function readProblem<Own extends ProblemClass = never>(
  response: Response,
): Promise<ReceivedProblem<Own> | null> {
  const { status, statusText, headers } = response
  if (status < 400) return null
  const title = statusText || `HTTP ${status}`
  const unreadable = { type: 'about:blank', title, status, detail: '', code: 'UNREADABLE' } as const
  try {
    if (!headers.get('content-type')?.startsWith('application/problem+json')) return unreadable
    const body: unknown = await response.clone().json()
    const isProblem =
      typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string'
    return isProblem ? ({ ...unreadable, ...body, status } as ReceivedProblem<Own>) : unreadable
  } catch {
    return unreadable
  }
}
