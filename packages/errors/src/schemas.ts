/** Problem bodies in OpenAPI documents. They describe; bodies are sent as text, which no schema can filter. */
import type { DefinedProblem } from '@fastify-modular/core'
import { safeRead } from '@fastify-modular/core/internal'
import { isErrorStatus, problemType, statusTitle } from '@fastify-modular/core/problem'
import type { FastifyInstance } from 'fastify'
import { errorCodes } from './misuse-errors.ts'

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

/** A class whose statics say what its instances are: one of `@fastify-modular/core`, or made by `defineProblem`. */
type ProblemClass = Pick<DefinedProblem<number, string, object>, 'status' | 'code' | 'extensions'>

type StatusOf<Kind> = Kind extends number ? Kind : Kind extends ProblemClass ? Kind['status'] : never

/**
 * Responses for a route's schema, by what may go wrong: `{ 200: note, ...problemResponses(app, 404, OutOfCredit) }`. Classes
 * of one status are a `oneOf`, which clients tell apart by `code`; beside the status itself any other problem may be
 * answered too. They describe; no body is filtered by them.
 * @throws {FMOD_ERRORS_INVALID_RESPONSE} a status is not an error's, or a class is not made by `defineProblem`
 */
export function problemResponses<const Kinds extends readonly (number | ProblemClass)[]>(
  { problems: { typeBase } }: Pick<FastifyInstance, 'problems'>,
  ...kinds: Kinds
): Record<StatusOf<Kinds[number]>, ProblemResponse> {
  const byStatus = new Map<number, object[]>()
  for (const kind of new Set<number | ProblemClass>(kinds)) {
    const status = typeof kind === 'number' ? kind : safeRead(kind, 'status')
    if (!isErrorStatus(status) || !(typeof kind === 'number' || safeRead(kind, 'code')))
      throw new errorCodes.FMOD_ERRORS_INVALID_RESPONSE(nameOf(kind))
    const schema = typeof kind === 'number' ? baseOf(status) : schemaOf(kind, typeBase)
    byStatus.set(status, [...(byStatus.get(status) ?? []), schema])
  }
  const responses = [...byStatus].map(([status, schemas]) => {
    const isOpen = schemas.some((schema) => '$ref' in schema)
    const union = isOpen ? { anyOf: schemas } : { oneOf: schemas }
    return [status, responseOf(status, schemas.length === 1 ? { ...schemas[0] } : union)] as const
  })
  return Object.fromEntries(responses) as Record<StatusOf<Kinds[number]>, ProblemResponse> // its keys are the statuses
}

function schemaOf({ status, code, extensions }: ProblemClass, typeBase: string): object {
  const fixed = { type: problemType(code, typeBase), status, code }
  const consts = Object.entries(fixed).map(([name, value]) => [name, { enum: [value] }] as const)
  const { properties = {}, required = [] }: { properties?: object; required?: readonly string[] } = {
    ...extensions,
  }
  return {
    allOf: [baseOf(status)],
    type: 'object',
    required: ['type', 'status', 'code', ...required],
    properties: { ...properties, ...Object.fromEntries(consts) },
  }
}

function nameOf(kind: unknown): string {
  return typeof kind === 'function' ? `the class ${kind.name}` : String(kind)
}

function baseOf(status: number): { readonly $ref: string } {
  return { $ref: status === 400 || status === 422 ? 'ValidationProblemDetails#' : 'ProblemDetails#' }
}

function responseOf(status: number, schema: object): ProblemResponse {
  const headers = headersOf[status]
  const content = { 'application/problem+json': { schema } }
  return { description: statusTitle(status), ...(headers && { headers }), content }
}
