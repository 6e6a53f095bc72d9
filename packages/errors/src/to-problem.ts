/** From anything thrown to what its caller may know: pure, total, the same for requests, workers and tests. */
import { type FieldErrors, isDomainException, ValidationException } from '@fastify-modular/core'
import { safeRead, safeText, truncate } from '@fastify-modular/core/internal'
import {
  type ErrorContext,
  isErrorStatus,
  type Problem,
  problemOfError,
  problemOfStatus,
} from '@fastify-modular/core/problem'

/** What is known besides the thrown value. */
export interface ProblemContext extends ErrorContext {
  /** The application's own mappings, tried first. */
  readonly mappings?: { resolve(error: unknown): Problem | undefined }
}

/**
 * The problem that a thrown value stands for: the application's mappings, domain exceptions, failures of
 * schemas, issues of a validator, errors with an HTTP status, and 500 for everything else. Never throws, whatever is thrown at it.
 */
export function toProblem(error: unknown, context: ProblemContext = {}): Problem {
  try {
    const mapped = context.mappings?.resolve(error)
    if (mapped !== undefined) return mapped
    if (isDomainException(error)) return problemOfError(error, context)
    return fromValidation(error, context) ?? fromIssues(error, context) ?? problemOfError(error, context)
  } catch {
    return problemOfStatus(500) // a hostile value found a way that no guard covers
  }
}

const maxMessages = 100
const sections: Readonly<Record<string, string>> = {
  querystring: 'query',
  params: 'params',
  headers: 'headers',
}

/** The failure of a schema as the same problem as a ValidationException, or undefined for any other error. */
function fromValidation(error: unknown, context: ErrorContext): Problem | undefined {
  const failures = safeRead(error, 'validation')
  const part = safeText(error, 'validationContext') // Fastify names the part of the request
  if (part === undefined || !Array.isArray(failures)) return undefined
  const status = safeRead(error, 'statusCode')
  const section = sections[part]
  const errors = fieldErrors(failures.slice(0, maxMessages), (failure) => fieldOf(failure, section))
  const problem = problemOfError(new ValidationException(errors), context)
  // A schemaErrorFormatter may have chosen another 4xx.
  return isErrorStatus(status) && status < 500 ? { ...problem, status } : problem
}

/**
 * What a validator of Standard Schema throws (Zod, Valibot, ArkType) as the same problem, or undefined for any other value. An
 * error with a status or code says itself what it is, and one of serialising an answer is the server's.
 */
function fromIssues(error: unknown, context: ErrorContext): Problem | undefined {
  const issues = safeRead(error, 'issues') ?? safeRead(error, 'arkErrors')
  if (!Array.isArray(issues) || claims.some((name) => safeRead(error, name) !== undefined)) return undefined
  const length = Math.min(issues.length, maxMessages)
  const first = Array.from({ length }, (_, at) => safeRead(issues, at))
  if (length === 0 || !first.every(isIssue)) return undefined
  return problemOfError(new ValidationException(fieldErrors(first, fieldOfIssue)), context)
}

/** Fastify sets `serialization` on what fails while it serialises an answer. */
const claims = ['statusCode', 'status', 'code', 'serialization'] as const

function isIssue(issue: unknown): boolean {
  const path = safeRead(issue, 'path')
  return safeText(issue, 'message') !== undefined && (path === undefined || Array.isArray(path))
}

/** Members of the path are names, or objects that have them as `key`. */
function fieldOfIssue(issue: unknown): string {
  const path = safeRead(issue, 'path')
  const length = Math.min(Number(safeRead(path, 'length') ?? 0), maxMessages)
  const names = Array.from({ length }, (_, at) => {
    const member = safeRead(path, at)
    return String(typeof member === 'object' ? (safeText(member, 'key') ?? safeRead(member, 'key')) : member)
  })
  return length > 0 ? printable(names.join('.')) : '$'
}

/** `{ 'nested.x.1': ['must be integer'] }`; fields outside the body are prefixed: `query.n`, `params.id`. */
function fieldErrors(failures: readonly unknown[], nameOf: (failure: unknown) => string): FieldErrors {
  const errors = Object.create(null) as Record<string, string[]> // a field may be called __proto__
  for (const failure of failures) {
    const messages = (errors[nameOf(failure)] ??= [])
    const message = safeText(failure, 'message')?.replace(repeatedFirst, '').replace(repeated, '')
    messages.push(message === undefined ? 'is not valid' : truncate(message, 500))
  }
  return errors
}

/**
 * Valibot and ArkType say at the end what they were given, which may be a password: ` but received "x"`, `: Received "x"`,
 * ` (was "x")`, ` (SyntaxError: … "x" is not valid JSON)`. A long one may have been cut.
 */
const repeated = /(?:,| but|:) received [^]*$| \(was [^]*[)…]$| \(?SyntaxError: [^]*$/i

/** ArkType says it before a list of what is wrong: `("x") must be...`. Without its end it was cut. */
const repeatedFirst = /\("[^]*(?:"\) (?=must be)|…$)|\([^]*\) (?=must be\.\.\.)/

function fieldOf(failure: unknown, section: string | undefined): string {
  const pointer = safeText(failure, 'instancePath') ?? ''
  const path = pointer.split('/').slice(1).map(unescapePointer)
  const params = safeRead(failure, 'params')
  // These two name the field beside the pointer to its parent.
  const named = safeText(params, 'missingProperty') ?? safeText(params, 'additionalProperty')
  const parts = [section, ...path, named].filter((part) => part !== undefined)
  return parts.length > 0 ? printable(parts.join('.')) : '$'
}

/** RFC 6901, 4. */
function unescapePointer(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Names of fields come from the request. */
function printable(field: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what this removes
  return truncate(field.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ''), 200)
}
