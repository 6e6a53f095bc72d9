/** Problem details (RFC 9457): what a caller may know about a failure. One code has one type in every package that answers. */
import { STATUS_CODES } from 'node:http'
import { ErrorMessages } from '../domain-exceptions.ts'

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

/** The type of a code: `NOT_FOUND` → `urn:problem:not-found`. */
export function problemType(code: string, typeBase = defaultTypeBase): string {
  return typeBase + code.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
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
