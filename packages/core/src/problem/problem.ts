/**
 * Problem details (RFC 9457): what a caller may know about a failure, and the problem of anything thrown. One code has
 * one type in every package that answers.
 */
import { STATUS_CODES } from 'node:http'
import { type DomainException, ErrorMessages, isDomainException } from '../domain-exceptions.ts'
import { isRecord, safeKeys, safeRead, safeText } from '../internal/safe.ts'

/** The level of the log record that a problem leaves. */
export type ProblemLogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/** A failure as its caller sees it. */
export interface Problem {
  /** Stable URI of the kind of problem; `about:blank` when the status says it all. */
  readonly type: string
  /** The same for every problem of the type. */
  readonly title: string
  /** 400–599. */
  readonly status: number
  /** About this occurrence, for the caller. */
  readonly detail: string
  /** Machine-readable: `NOT_FOUND`. */
  readonly code: string
  /** Further members of the body. */
  readonly extensions?: Readonly<Record<string, unknown>>
  /** Response headers, already found harmless. */
  readonly headers?: Readonly<Record<string, string>>
  /** @default by status: 5xx error, 403 and 409 info, other 4xx debug */
  readonly logLevel?: ProblemLogLevel
}

/** The media type of problem details; it has no charset (RFC 9457, 6.1). */
export const problemMediaType = 'application/problem+json'

/** Where problem types live unless the errors plugin names another place: `urn:problem:not-found`. */
export const defaultTypeBase = 'urn:problem:'

/** By code. To make a type, and to hash the new string later, takes 4 % of an answer, in process. */
const types = new Map<string, { readonly typeBase: string; readonly type: string }>()
const maxTypes = 500

/** The type of a code: `NOT_FOUND` → `urn:problem:not-found`. */
export function problemType(code: string, typeBase = defaultTypeBase): string {
  const known = types.get(code)
  if (known?.typeBase === typeBase) return known.type
  const type = typeBase + code.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  if (types.size < maxTypes) types.set(code, { typeBase, type })
  return type
}

/** Whether a value is an integer from 400 to 599. */
export function isErrorStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599
}

/** The phrase of a status; an unknown one is treated as the x00 of its class (RFC 9110, 15). */
export function statusTitle(status: number): string {
  return STATUS_CODES[status] ?? STATUS_CODES[Math.trunc(status / 100) * 100] ?? 'Unknown Status'
}

/** The constant text of a status, shown when no better message is known or allowed. Every 5xx has the same. */
export function statusMessage(status: number): string {
  if (status >= 500) return ErrorMessages.UnexpectedError
  return messages.get(status) ?? statusTitle(status)
}

const messages: ReadonlyMap<number, string> = new Map([
  [401, ErrorMessages.Unauthorized],
  [403, ErrorMessages.Forbidden],
  [404, ErrorMessages.NotFound],
  [409, ErrorMessages.Conflict],
  [429, ErrorMessages.TooManyRequests],
])

const byStatus = new Map<number, Problem>()

/** The problem of a bare status: `about:blank`, titled by its phrase (RFC 9457, 4.2.1). One frozen object for each status. */
export function problemOfStatus(status: number): Problem {
  let problem = byStatus.get(status)
  if (!problem) {
    const title = statusTitle(status)
    const code = title.replaceAll("'", '').replaceAll(/\W+/g, '_').toUpperCase()
    problem = Object.freeze({ type: 'about:blank', title, status, detail: statusMessage(status), code })
    byStatus.set(status, problem)
  }
  return problem
}

/** No route matches the request. Its code differs from that of a missing resource, and so does its type. */
export const routeNotFound: Problem = Object.freeze({ ...problemOfStatus(404), code: 'ROUTE_NOT_FOUND' })

/** What is known besides the thrown value. */
export interface ErrorContext {
  /** Prefix of the type URIs. @default 'urn:problem:' */
  readonly typeBase?: string
  /** The status set on the reply before the failure; it counts where the error names none. */
  readonly replyStatus?: number
}

/** The problem of anything thrown. Never throws; a 5xx never carries the error's message. */
export function problemOfError(error: unknown, { typeBase, replyStatus }: ErrorContext = {}): Problem {
  return isDomainException(error)
    ? problemOfException(error, typeBase)
    : problemOfHttpError(error, replyStatus)
}

/** A domain exception as a problem: its own title and code, and a type made of the code. */
function problemOfException(exception: DomainException, typeBase?: string): Problem {
  // Guarded reads, although the brand is right: a subclass may define members as getters.
  const named = safeRead(exception, 'statusCode')
  const status = isErrorStatus(named) ? named : 500
  const code = safeText(exception, 'code', 100)
  if (!code) return problemOfStatus(status)
  const message = status < 500 ? safeText(exception, 'message') : undefined
  const extensions = safeRead(exception, 'extensions')
  const headers = allowedHeaders(safeRead(exception, 'headers'))
  return {
    type: problemType(code, typeBase),
    title: safeText(exception, 'title', 200) ?? statusTitle(status),
    status,
    detail: message ?? statusMessage(status),
    code,
    ...(isRecord(extensions) && { extensions }),
    ...(headers && { headers }),
  }
}

/** Fastify's own errors, those of `@fastify/error` and http-errors, and bare objects, by their status or else as 500. */
function problemOfHttpError(error: unknown, replyStatus: number | undefined): Problem {
  const status = statusOf(error, replyStatus)
  const problem = problemOfStatus(status)
  const headers = isUpstream(error) ? undefined : allowedHeaders(safeRead(error, 'headers'))
  const shown = status < 500 ? shownMembers(error) : undefined
  return headers || shown ? { ...problem, ...shown, ...(headers && { headers }) } : problem
}

function statusOf(error: unknown, replyStatus: number | undefined): number {
  const own = safeRead(error, 'statusCode')
  if (isErrorStatus(own)) return isUpstream(error) ? 500 : own
  // With a tracing subscriber Fastify copies `error.status` to the reply before the handler runs: then it is upstream's.
  const namesNone = own === undefined && safeRead(error, 'status') === undefined
  return namesNone && isErrorStatus(replyStatus) ? replyStatus : 500
}

/**
 * Whether the error reports the answer of another server: its status and headers are not ours to repeat. undici, axios,
 * got, AWS and Elasticsearch clients are recognised by what they attach.
 */
function isUpstream(error: unknown): boolean {
  return (
    safeText(error, 'code')?.startsWith('UND_ERR') === true ||
    safeRead(error, 'isAxiosError') === true ||
    isRecord(safeRead(error, 'response')) ||
    isRecord(safeRead(error, '$metadata')) ||
    (safeRead(error, 'name') === 'ResponseError' && isRecord(safeRead(error, 'meta')))
  )
}

/** Marks every error class made by `@fastify/error`, whichever copy of it. */
const fastifyError = Symbol.for('fastify-error-generic')

/** The message and code of an error that was made to be shown; any other message may be a secret. */
function shownMembers(error: unknown): Partial<Problem> | undefined {
  const expose = safeRead(error, 'expose')
  const isFastifys = safeRead(error, fastifyError) === true
  if (expose === false || !(expose === true || isFastifys)) return undefined
  const detail = safeText(error, 'message')
  // Codes of drivers and of the system (23505, ENOENT) reveal what the server is made of; @fastify/error's are API.
  const code = isFastifys ? safeText(error, 'code', 100) : undefined
  return { ...(detail && { detail }), ...(code && { code }) }
}

/**
 * Headers that an error may bring along, a validator for 412 among them; errors of upstream clients carry the headers of
 * another server's answer.
 */
const errorHeaders =
  /^(?:etag|www-authenticate|proxy-authenticate|retry-after|allow|accept|accept-post|accept-patch|(?:x-)?ratelimit(?:-[a-z-]+)?)$/i

/** Visible characters, space and tab (RFC 9110, 5.5); Fastify would drop all headers because of one that has others. */
const fieldValue = /^[\t\x20-\x7e\x80-\xff]{0,1000}$/

/** The headers of an error that may be sent; undefined where there are none. Never throws. */
export function allowedHeaders(headers: unknown): Record<string, string> | undefined {
  if (!isRecord(headers)) return undefined
  let allowed: Record<string, string> | undefined
  for (const name of safeKeys(headers)) {
    if (!errorHeaders.test(name)) continue
    const value = safeRead(headers, name)
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && fieldValue.test(text)) (allowed ??= {})[name.toLowerCase()] = text
  }
  return allowed
}
