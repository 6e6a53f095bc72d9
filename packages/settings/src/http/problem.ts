/** Failures of the settings routes as problem details (RFC 9457), for applications without the errors plugin. */
import { problemMediaType, problemOfError, problemText } from '@fastify-modular/core/problem'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Answers a failure, or leaves it to the errors plugin where there is one. */
export function answerProblem(
  this: { hasDecorator(name: string): boolean },
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  // Thrown again, it goes to the handler of the scope above.
  if (this.hasDecorator('problems')) throw error
  const problem = problemOfError(error)
  if (problem.status >= 500) request.log.error({ err: error }, 'settings request failed')
  else request.log.info({ code: problem.code, status: problem.status }, 'settings request refused')
  if (problem.headers) reply.headers(problem.headers)
  // A Buffer, because Fastify adds a charset to strings, which this media type does not have.
  reply
    .code(problem.status)
    .type(problemMediaType)
    .header('cache-control', 'no-store')
    .send(Buffer.from(problemText(problem, request)))
}
