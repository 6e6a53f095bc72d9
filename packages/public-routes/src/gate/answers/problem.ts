/** The gate's own answers, as problem details (RFC 9457) put together from prepared text: nothing is thrown to deny. */
import { ErrorMessages } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A problem but for its request id. */
export interface PreparedProblem {
  readonly status: number
  readonly start: string
}

/** Uniform for existing and missing paths: it names neither the path nor the reason (decision 38). */
export const unauthorized = prepare(401, 'Unauthorized', ErrorMessages.Unauthorized, 'UNAUTHORIZED')
export const crossOrigin = prepare(
  403,
  'Forbidden',
  'This request comes from another site and is not accepted.',
  'CROSS_ORIGIN',
)
export const unavailable = prepare(
  503,
  'Service Unavailable',
  ErrorMessages.UnexpectedError, // as every 5xx (decision 42)
  'SERVICE_UNAVAILABLE',
)

/** Sends a problem with headers that keep it out of caches. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: PreparedProblem): void {
  forbidCaching(reply)
  reply.code(problem.status)
  reply.header('content-type', 'application/problem+json')
  // With a serialiser of ours Fastify sends the text as it is and adds no charset (JSON has none); text goes out in one
  // piece with the head, bytes would not.
  reply.serializer(asItIs).send(`${problem.start}${JSON.stringify(request.id)}}`)
}

/** An answer that depends on who asks must not be given to somebody else. */
export function forbidCaching(reply: FastifyReply): void {
  const vary = reply.getHeader('vary')
  reply.header('cache-control', 'no-store')
  reply.header('vary', vary === undefined ? variesBy : `${String(vary)}, ${variesBy}`)
}

const variesBy = 'accept, authorization, cookie, x-inertia'

function prepare(status: number, title: string, detail: string, code: string): PreparedProblem {
  const members = JSON.stringify({ type: 'about:blank', title, status, detail, code })
  return { status, start: `${members.slice(0, -1)},"requestId":` }
}

function asItIs(text: string): string {
  return text
}
