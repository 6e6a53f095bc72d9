/** The answer when no other can be given (S 7.2.3, decision 46): a constant page, or constant JSON for those who want it. */
import type { FastifyRequest } from 'fastify'
import { httpProblem } from '../problem.ts'
import { refusesHtml } from './negotiate.ts'
import type { Answer } from './take-over.ts'

/** Tells which constant a request gets. Never throws. */
export type LastResort = (request: FastifyRequest) => Answer

/** Makes both constants at boot. */
export function createLastResort(errorPage: Buffer): LastResort {
  const page: Answer = {
    status: 500,
    contentType: 'text/html; charset=utf-8',
    body: errorPage,
    headers: { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:" },
  }
  const problem: Answer = {
    ...page,
    contentType: 'application/problem+json',
    body: Buffer.from(JSON.stringify(httpProblem(500))),
    headers: {},
  }
  return ({ headers }) => (headers['x-inertia'] === undefined && refusesHtml(headers) ? problem : page)
}
