/** Who makes a request, for handlers that anonymous callers never reach. */
import { type Caller, UnauthorizedException } from '@fastify-modular/core'
import type { FastifyRequest } from 'fastify'

/** The caller. @throws {UnauthorizedException} nobody is signed in: the gate is missing or the route became public */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new UnauthorizedException()
  return request.caller
}
