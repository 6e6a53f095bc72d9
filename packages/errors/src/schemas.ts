/** Problem bodies in OpenAPI documents. They describe; bodies are sent as text, which no schema can filter. */
import { isErrorStatus, statusTitle } from '@fastify-modular/core/problem'
import type { FastifyInstance } from 'fastify'
import { FMOD_ERRORS_INVALID_STATUS } from './misuse-errors.ts'
import { codeOf, type ProblemSlug } from './problems.ts'

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
  readonly content: { readonly 'application/problem+json': { readonly schema: object } }
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
    return [status, responseOf(status, baseOf(status))]
  })
  return Object.fromEntries(responses) as Record<S, ProblemResponse> // its keys are the statuses
}

/** Problems that the packages themselves report. */
const common = {
  argument: 400,
  validation: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'too-many-requests': 429,
  'service-unavailable': 503,
} as const

/**
 * Responses for a route's schema, by what may go wrong: `{ 200: note, ...problemsOf(app, 'not-found', 'out-of-credit') }`.
 * Several of one status are a `oneOf`, which clients tell apart by `code`. They describe; no body is filtered by them.
 * @throws {FMOD_ERRORS_UNKNOWN_PROBLEM} a slug is neither common nor defined before
 */
export function problemsOf(
  { problems }: Pick<FastifyInstance, 'problems'>,
  ...slugs: readonly (ProblemSlug | keyof typeof common)[]
): Record<number, ProblemResponse> {
  const kinds = slugs.map((slug) => {
    const { status, properties = {} } = isCommon(slug) ? { status: common[slug] } : problems.definition(slug)
    const fixed = { type: problems.typeBase + slug, status, code: codeOf(slug) }
    const consts = Object.entries(fixed).map(([name, value]) => [name, { enum: [value] }])
    const all = { ...Object.fromEntries(consts), ...properties }
    return {
      status,
      schema: {
        allOf: [baseOf(status)],
        type: 'object',
        required: ['type', 'status', 'code'],
        properties: all,
      },
    }
  })
  const statuses = [...new Set(kinds.map(({ status }) => status))]
  return Object.fromEntries(
    statuses.map((status) => {
      const schemas = kinds.filter((kind) => kind.status === status).map(({ schema }) => schema)
      return [status, responseOf(status, schemas.length === 1 ? { ...schemas[0] } : { oneOf: schemas })]
    }),
  )
}

function isCommon(slug: string): slug is keyof typeof common {
  return Object.hasOwn(common, slug)
}

function baseOf(status: number): { readonly $ref: string } {
  return { $ref: status === 400 || status === 422 ? 'ValidationProblemDetails#' : 'ProblemDetails#' }
}

function responseOf(status: number, schema: object): ProblemResponse {
  const headers = headersOf[status]
  const content = { 'application/problem+json': { schema } }
  return { description: statusTitle(status), ...(headers && { headers }), content }
}
