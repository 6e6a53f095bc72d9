/** Problem bodies in OpenAPI documents. They describe; bodies are sent as text, which no schema can filter. */
import { isErrorStatus, statusTitle } from '@fastify-modular/core/problem'
import { FMOD_ERRORS_INVALID_STATUS } from './misuse-errors.ts'

/** The body of every problem (RFC 9457). Shared with the application as `ProblemDetails#`. */
export const problemDetailsSchema = {
  $id: 'ProblemDetails',
  title: 'ProblemDetails',
  description: 'What went wrong (RFC 9457).',
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'The kind of problem.' },
    title: { type: 'string', description: 'The same for every problem of the type.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'About this occurrence.' },
    instance: { type: 'string', format: 'uri-reference', description: 'The path of the request.' },
    code: { type: 'string', description: 'Names the problem for programs.' },
    requestId: { type: 'string', description: 'Names the request in the log of the server.' },
    traceId: { type: 'string', pattern: '^[0-9a-f]{32}$' },
  },
  additionalProperties: true,
} as const

/** A problem with messages by field. Shared with the application as `ValidationProblemDetails#`. */
export const validationProblemDetailsSchema = {
  $id: 'ValidationProblemDetails',
  title: 'ValidationProblemDetails',
  description: 'What is wrong with the input, by field.',
  allOf: [{ $ref: 'ProblemDetails#' }],
  type: 'object',
  properties: {
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'Messages by field, or by setting key.',
    },
  },
} as const

/** A response of a route's schema. */
export interface ProblemResponse {
  readonly description: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content: { readonly 'application/problem+json': { readonly schema: { readonly $ref: string } } }
}

const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds' } }
const headersOf: Readonly<Record<number, ProblemResponse['headers']>> = {
  401: { 'WWW-Authenticate': { type: 'string', description: 'How to sign in' } },
  429: retryAfter,
  503: retryAfter,
}

/**
 * Responses for a route's schema: `schema: { response: { 200: note, ...problemResponses(400, 404) } }`.
 * @throws {FMOD_ERRORS_INVALID_STATUS} a status is not an error's
 */
export function problemResponses<S extends number>(...statuses: readonly S[]): Record<S, ProblemResponse> {
  const responses = statuses.map((status) => {
    if (!isErrorStatus(status)) throw new FMOD_ERRORS_INVALID_STATUS(String(status))
    const $ref = status === 400 || status === 422 ? 'ValidationProblemDetails#' : 'ProblemDetails#'
    const headers = headersOf[status]
    const content = { 'application/problem+json': { schema: { $ref } } }
    return [status, { description: statusTitle(status), ...(headers && { headers }), content }]
  })
  return Object.fromEntries(responses) as Record<S, ProblemResponse> // its keys are the statuses
}
