/** Failures of the settings routes as problem details (RFC 9457), for applications without the errors plugin. */
import { STATUS_CODES } from 'node:http'
import { ErrorMessages, isDomainException } from '@fastify-modular/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

/** Answers a failure, or leaves it to the errors plugin where there is one. */
export function answerProblem(
  this: { hasDecorator(name: string): boolean },
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  // Thrown again, it goes to the handler of the scope above.
  if (this.hasDecorator('problems')) throw error
  const problem = toProblem(error, request)
  if (problem.status >= 500) request.log.error({ err: error }, 'settings request failed')
  else request.log.info({ code: problem.code, status: problem.status }, 'settings request refused')
  if (isDomainException(error)) reply.headers({ ...error.headers })
  // A Buffer, because Fastify adds a charset to strings, which this media type does not have.
  reply
    .code(problem.status)
    .type('application/problem+json')
    .header('cache-control', 'no-store')
    .send(Buffer.from(JSON.stringify(problem)))
}

interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  /** The path without its query. */
  readonly instance: string
  readonly requestId: string
  readonly [extension: string]: unknown
}

function toProblem(error: unknown, { id: requestId, url }: FastifyRequest): Problem {
  const [instance = ''] = url.split('?', 1)
  if (isDomainException(error)) {
    const { title, statusCode: status, code, message, extensions } = error
    const detail = status >= 500 ? ErrorMessages.UnexpectedError : message
    return { ...extensions, type: toType(code), title, status, detail, code, instance, requestId }
  }
  const { statusCode, code = 'UNEXPECTED', message } = error as Partial<FastifyError> // Fastify's own: 413, 415, bad JSON
  const isRefusal = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  const status = isRefusal ? statusCode : 500
  const detail = isRefusal && message ? message : ErrorMessages.UnexpectedError
  const title = STATUS_CODES[status] ?? 'Error'
  return {
    type: 'about:blank',
    title,
    status,
    detail,
    code: isRefusal ? code : 'UNEXPECTED',
    instance,
    requestId,
  }
}

/** `NOT_FOUND` is `urn:problem:not-found`. */
function toType(code: string): string {
  return `urn:problem:${code.toLowerCase().replaceAll('_', '-')}`
}
