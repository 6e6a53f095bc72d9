/** What a caller may know about a failure (RFC 9457), and the problems that bare HTTP statuses stand for. */
import { STATUS_CODES } from 'node:http'
import { ErrorMessages } from '@fastify-modular/core'

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

/** What an error page says: the props of component `Error/{status}` (S 2.9). */
export interface ErrorPageProps {
  readonly status: number
  readonly title: string
  readonly message: string
  /** What the log knows the request by; only documents about a 5xx name it. */
  readonly requestId?: string
}

/** Where types live unless `typeBase` says otherwise: `urn:problem:not-found`. */
export const defaultTypeBase = 'urn:problem:'

/** Members that no extension can override (RFC 9457, 3.1, and those this package adds). */
export const standardMembers: ReadonlySet<string> = new Set([
  'type',
  'title',
  'status',
  'detail',
  'instance',
  'code',
  'requestId',
  'traceId',
])

/** An integer that is an error status (decision 43). */
export function isErrorStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599
}

/** The phrase of a status; an unknown one is treated as the x00 of its class (RFC 9110, 15). */
export function statusTitle(status: number): string {
  return STATUS_CODES[status] ?? STATUS_CODES[Math.trunc(status / 100) * 100] ?? 'Unknown Status'
}

/** The constant text of a status, shown when no better message is known or allowed (decision 42). */
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

const httpProblems = new Map<number, Problem>()

/** The problem of a bare status: `about:blank`, titled by its phrase (RFC 9457, 4.2.1). One frozen object each. */
export function httpProblem(status: number): Problem {
  let problem = httpProblems.get(status)
  if (!problem) {
    const title = statusTitle(status)
    const code = title.replaceAll("'", '').replaceAll(/\W+/g, '_').toUpperCase()
    problem = Object.freeze({ type: 'about:blank', title, status, detail: statusMessage(status), code })
    httpProblems.set(status, problem)
  }
  return problem
}
