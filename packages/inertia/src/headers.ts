/** The headers by which client and server recognise each other. */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Whether the Inertia client made the request. Its `Accept` header asks for HTML, so only this header tells. */
export function isInertia(request: FastifyRequest): boolean {
  return request.headers['x-inertia'] !== undefined
}

/** The reply's `Vary` with `X-Inertia` added: a cache must not give one representation for the other. */
export function varyByInertia(reply: FastifyReply): string {
  const present = reply.getHeader('vary')
  if (present === undefined) return 'X-Inertia'
  const vary = String(present)
  return /(?:^|,)\s*(?:\*|x-inertia)\s*(?:,|$)/i.test(vary) ? vary : `${vary}, X-Inertia`
}
