/** The two shapes of answers, asserted whole. */
import type { LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { loadErrorPage } from '#src/error-page.js'

/** The text that stands for everything a caller must not know. */
export const generic = 'An unexpected error occurred. Please try again later.'

/** The page of last resort that the package brings. */
export const builtInPage = (await loadErrorPage(false)).write({
  status: 500,
  title: 'Internal Server Error',
  message: generic,
})

/** Headers of the Inertia client; its `Accept` asks for HTML. */
export const inertiaHeaders = {
  'x-inertia': 'true',
  'x-inertia-version': 'v1',
  'x-requested-with': 'XMLHttpRequest',
  accept: 'text/html, application/xhtml+xml',
} as const

/** What a browser sends when it goes to a page. */
export const browserHeaders = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
} as const

export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly instance?: string
  readonly code: string
  readonly requestId?: string
  readonly traceId?: string
  readonly errors?: Readonly<Record<string, readonly string[]>>
  readonly [extension: string]: unknown
}

export interface PageBody {
  readonly component: string
  readonly props: { readonly status: number; readonly title: string; readonly message: string }
  readonly url: string
  readonly version: string | null
}

/** Asserts `application/problem+json` with this status and title, and returns the body. */
export function problemOf(
  t: Test,
  answer: LightMyRequestResponse,
  status: number,
  title?: string,
): ProblemBody {
  t.equal(answer.statusCode, status, 'status line')
  t.equal(answer.headers['content-type'], 'application/problem+json')
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(answer.headers['x-content-type-options'], 'nosniff')
  const body = answer.json<ProblemBody>()
  t.equal(body.status, status, 'status member')
  t.match(body.type, /^(?:about:blank$|urn:problem:|https:)/)
  if (title !== undefined) t.equal(body.title, title)
  return body
}

/** Asserts the page JSON of an error page, and returns it; `sent` is the status of the answer. */
export function pageOf(t: Test, answer: LightMyRequestResponse, status: number, sent = status): PageBody {
  t.equal(answer.statusCode, sent, 'status line')
  t.match(answer.headers['content-type'], /^application\/json/)
  t.equal(answer.headers['x-inertia'], 'true')
  t.match(String(answer.headers['vary']), /X-Inertia/)
  const page = answer.json<PageBody>()
  t.equal(page.component, `Error/${status}`)
  t.equal(page.props.status, status)
  return page
}

/** Asserts a whole document, and returns it. */
export function documentOf(t: Test, answer: LightMyRequestResponse, status: number): string {
  t.equal(answer.statusCode, status, 'status line')
  t.match(answer.headers['content-type'], /^text\/html/)
  t.match(answer.body, /<!doctype html>/i)
  return answer.body
}
