/** What services throw when a request cannot be served. Each class carries the HTTP status it means (S 7.1). */
import type { Static, TSchema } from '@sinclair/typebox'
import { domainException as brand } from './symbols.ts'

/** Constants of the specification (S 7.1): the only texts that a caller sees when no better message is known. */
export const ErrorMessages = {
  UnexpectedError: 'An unexpected error occurred. Please try again later.',
  ValidationError: 'One or more validation errors occurred.',
  NotFound: 'The requested resource was not found.',
  Forbidden: 'You do not have permission to access this resource.',
  Conflict: 'A conflict occurred.',
  Unauthorized: 'Sign in to access this resource.',
  TooManyRequests: 'Too many requests. Please try again later.',
  ServiceUnavailable: 'The service is temporarily unavailable. Please try again later.',
} as const

/** Error lists by field (or by setting key): `{ name: ['is required'] }`. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>

/** What a domain exception has beside its message. */
export interface DomainExceptionInit {
  readonly statusCode: number
  /** Machine-readable, upper case: `NOT_FOUND`. API: never renamed. */
  readonly code: string
  /** Stable per code (RFC 9457, 3.1.3). */
  readonly title: string
  /** Members added to the problem body (RFC 9457, 3.2). */
  readonly extensions?: Readonly<Record<string, unknown>> | undefined
  /** Response headers such as `retry-after` and `www-authenticate`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly cause?: unknown
}

/** The base of all domain exceptions; extend it for your own. */
export abstract class DomainException extends Error implements DomainExceptionInit {
  /**
   * Stack frames captured by exceptions of status 4xx; they are answers, not defects, and a stack costs more than
   * the rest of the answer. Raise it while debugging. 5xx always keep the full stack.
   * @default 0
   */
  static stackFrames = 0

  readonly [brand] = true
  readonly statusCode: number
  readonly code: string
  readonly title: string
  readonly extensions?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>

  constructor(message: string, init: DomainExceptionInit) {
    const limit = Error.stackTraceLimit
    if (init.statusCode < 500) Error.stackTraceLimit = DomainException.stackFrames
    try {
      super(message, init.cause === undefined ? undefined : { cause: init.cause })
    } finally {
      Error.stackTraceLimit = limit // also for a message that is not a string and cannot become one
    }
    this.name = new.target.name
    this.statusCode = init.statusCode
    this.code = init.code
    this.title = init.title
    if (init.extensions) this.extensions = init.extensions
    if (init.headers) this.headers = init.headers
  }
}

/** Whether a value is a domain exception, of this or another copy of the package. Never throws. */
export function isDomainException(value: unknown): value is DomainException {
  try {
    return typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true
  } catch {
    return false // a proxy or getter that throws is not one of ours
  }
}

/** What all exceptions of one class say. */
export interface ProblemKind<Status extends number, Code extends string, Schema> {
  /** 400–599; any other is answered by 500. */
  readonly status: Status
  /** Machine-readable, upper case: `OUT_OF_CREDIT`. API: never renamed. The type of the problem is made of it. */
  readonly code: Code
  /** Stable per code (RFC 9457, 3.1.3). */
  readonly title: string
  /** The JSON Schema of the members that are added to the problem body. Documents show it; nothing is checked by it. */
  readonly extensions?: Schema
}

/** A class of domain exceptions as `defineProblem` returns it: its statics say what all its instances are. */
export interface DefinedProblem<Status extends number, Code extends string, Extensions> {
  new (
    ...given: Partial<Extensions> extends Extensions
      ? [message: string, extensions?: Extensions, more?: More]
      : [message: string, extensions: Extensions, more?: More]
  ): DomainException &
    (Partial<Extensions> extends Extensions
      ? { readonly extensions?: Extensions }
      : { readonly extensions: Extensions })
  readonly prototype: DomainException & { readonly extensions?: Extensions }
  readonly status: Status
  readonly code: Code
  readonly title: string
  readonly extensions?: object | undefined
}

/** What one exception of a defined class may have besides. */
type More = Pick<DomainExceptionInit, 'headers' | 'cause'>

/** The extensions that a schema describes; any where there is none of TypeBox. */
type ExtensionsOf<Schema> = Schema extends TSchema ? Static<Schema> : Readonly<Record<string, unknown>>

/**
 * The base class of one kind of problem:
 * `class OutOfCredit extends defineProblem({ status, code, title, extensions: Type.Object({ balance: Type.Number() }) }) {}`,
 * then `throw new OutOfCredit('Your balance is 30.', { balance: 30 })`. The message of a 4xx is shown to the caller.
 */
export function defineProblem<const Status extends number, const Code extends string, Schema = undefined>(
  kind: ProblemKind<Status, Code, Schema>,
): DefinedProblem<Status, Code, ExtensionsOf<Schema>>
export function defineProblem(
  kind: ProblemKind<number, string, object>,
): DefinedProblem<number, string, Readonly<Record<string, unknown>>> {
  const { status, code, title } = kind
  return class Defined extends DomainException {
    static readonly status = status
    static readonly code = code
    static readonly title = title
    static readonly extensions = kind.extensions

    constructor(
      message: string,
      extensions?: Readonly<Record<string, unknown>>,
      { headers, cause }: More = {},
    ) {
      super(message, { statusCode: status, code, title, extensions, headers, cause })
    }
  }
}

/** 400. The input breaks rules; `errors` lists them by field and travels in the `errors` extension. */
export class ValidationException extends defineProblem({
  status: 400,
  code: 'VALIDATION',
  title: 'Validation Error',
}) {
  readonly errors: FieldErrors

  constructor(errors: FieldErrors | string = {}) {
    const byField = typeof errors === 'string' ? {} : errors
    const message = typeof errors === 'string' ? errors : ErrorMessages.ValidationError
    super(message, { errors: byField })
    this.errors = byField
  }
}

/** 400. One argument cannot be used; the fallback where no validator looked. */
export class ArgumentException extends defineProblem({
  status: 400,
  code: 'ARGUMENT',
  title: 'Validation Error',
}) {
  readonly param?: string

  constructor(message: string, param?: string) {
    super(message)
    if (param !== undefined) this.param = param
  }
}

/** 404. No such resource: `new NotFoundException('Product', 42)`. */
export class NotFoundException extends defineProblem({
  status: 404,
  code: 'NOT_FOUND',
  title: 'Resource not found',
}) {
  readonly resource: string
  readonly id: string

  constructor(resource: string, id: unknown) {
    const printable = toPrintable(id)
    super(`${resource} with ID ${printable} not found`)
    this.resource = resource
    this.id = printable
  }
}

/** 403. The caller is known and may not do this. The message is shown to the caller. */
export class ForbiddenException extends defineProblem({
  status: 403,
  code: 'FORBIDDEN',
  title: 'Forbidden',
}) {
  constructor(message: string = ErrorMessages.Forbidden) {
    super(message)
  }
}

/** 409. The state of the resource does not allow this: a stale version, a duplicate key. */
export class ConflictException extends defineProblem({
  status: 409,
  code: 'CONFLICT',
  title: 'Conflict',
}) {
  constructor(message: string = ErrorMessages.Conflict, extensions?: Readonly<Record<string, unknown>>) {
    super(message, extensions)
  }
}

/** 401. The caller is not signed in. `challenge` is the value of `WWW-Authenticate` (RFC 9110, 11.6.1). */
export class UnauthorizedException extends defineProblem({
  status: 401,
  code: 'UNAUTHORIZED',
  title: 'Unauthorized',
}) {
  constructor(message: string = ErrorMessages.Unauthorized, challenge = 'Bearer') {
    super(message, undefined, { headers: { 'www-authenticate': challenge } })
  }
}

/** 429. `retryAfter` is in seconds. */
export class TooManyRequestsException extends defineProblem({
  status: 429,
  code: 'TOO_MANY_REQUESTS',
  title: 'Too Many Requests',
}) {
  constructor(retryAfter: number, message: string = ErrorMessages.TooManyRequests) {
    super(message, undefined, { headers: { 'retry-after': toSeconds(retryAfter) } })
  }
}

/** 503. A dependency is down; `retryAfter` is in seconds. The message goes to the log, not to the caller. */
export class ServiceUnavailableException extends defineProblem({
  status: 503,
  code: 'SERVICE_UNAVAILABLE',
  title: 'Service Unavailable',
}) {
  constructor(message: string = ErrorMessages.ServiceUnavailable, retryAfter?: number, cause?: unknown) {
    super(message, undefined, {
      cause,
      ...(retryAfter !== undefined && { headers: { 'retry-after': toSeconds(retryAfter) } }),
    })
  }
}

/** RFC 9110, 10.2.3: whole seconds; what is not a number becomes 0, what is infinite one year. */
function toSeconds(seconds: number): string {
  return String(Math.min(Math.max(0, Math.ceil(seconds) || 0), 31_536_000))
}

/** An identifier comes from outside: control characters go, 200 characters remain, and nothing throws. */
function toPrintable(id: unknown): string {
  return textOf(id)
    .slice(0, 200)
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]/gu, '')
}

function textOf(id: unknown): string {
  try {
    return typeof id === 'object' && id !== null ? (JSON.stringify(id) ?? '?') : String(id)
  } catch {
    return '?' // circular, a BigInt within, a hostile toJSON
  }
}
