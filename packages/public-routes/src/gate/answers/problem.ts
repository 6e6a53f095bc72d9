/** The gate's own answers, as problem details (RFC 9457): the same as those of the exceptions, but nothing is thrown to deny. */
import { ForbiddenException, ServiceUnavailableException, UnauthorizedException } from '@fastify-modular/core'
import { addVary } from '@fastify-modular/core/internal'
import {
  defaultTypeBase,
  type Problem,
  problemMediaType,
  problemOfError,
  problemText,
  problemType,
} from '@fastify-modular/core/problem'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Uniform for existing and missing paths: it names no reason, and no path but that of the request (decision 38). */
export const unauthorized: Problem = Object.freeze(problemOfError(new UnauthorizedException()))
export const crossOrigin: Problem = Object.freeze({
  ...problemOfError(new ForbiddenException('This request comes from another site and is not accepted.')),
  type: problemType('CROSS_ORIGIN'),
  code: 'CROSS_ORIGIN',
})
export const unavailable: Problem = Object.freeze(problemOfError(new ServiceUnavailableException()))

/** Sends a problem with headers that keep it out of caches. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): void {
  forbidCaching(reply)
  reply.code(problem.status)
  reply.header('content-type', problemMediaType)
  // With a serialiser of ours Fastify sends the text as it is and adds no charset (JSON has none); text goes out in one
  // piece with the head, bytes would not.
  reply.serializer(asItIs).send(problemText(underTypeBase(request, problem), request))
}

/** An answer that depends on who asks must not be given to somebody else. */
export function forbidCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
  addVary(reply, 'accept', 'authorization', 'cookie', 'x-inertia')
}

/** The type as the errors plugin would make it, where the application has chosen another place for its types. */
function underTypeBase({ server }: FastifyRequest, problem: Problem): Problem {
  const { problems } = server as { readonly problems?: { readonly typeBase?: string } }
  const { typeBase = defaultTypeBase } = problems ?? {}
  return typeBase === defaultTypeBase ? problem : { ...problem, type: problemType(problem.code, typeBase) }
}

function asItIs(text: string): string {
  return text
}
