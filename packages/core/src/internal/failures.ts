/** Describes what foreign code throws (frozen errors, proxies, getters that throw) as plain data for logs and databases. Nothing here throws. */
import type { FastifyBaseLogger } from 'fastify'
import { safeRead, safeText, truncate } from './safe.ts'

/** Levels of causes, and errors of an AggregateError, that a log keeps. */
const maxDepth = 5
const maxErrors = 10

/** What a log keeps of an error. */
export interface DescribedError {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  readonly cause?: DescribedError
  readonly errors?: readonly DescribedError[]
}

/**
 * Name, message, stack, code and causes; never an error's other members, where clients keep whole requests with their
 * credentials and drivers keep rows. Never throws, while a logger given the error itself would: for frozen errors,
 * getters that throw, proxies.
 */
export function describeError(error: unknown, depth = 0): DescribedError {
  if (typeof error !== 'object' || error === null)
    return bare({ name: typeof error, message: truncate(print(error), 500) })
  const { message, stack } = textsOf(error)
  const code = safeText(error, 'code', 100)
  const cause = safeRead(error, 'cause')
  const errors = depth < maxDepth ? errorsOf(error) : []
  return bare({
    name: nameOf(error),
    message: truncate(message, 4000),
    ...(stack !== undefined && { stack: truncate(stack, 8000) }),
    ...(code !== undefined && { code }),
    ...(cause !== undefined && depth < maxDepth && { cause: describeError(cause, depth + 1) }),
    ...(errors.length > 0 && { errors: errors.map((inner) => describeError(inner, depth + 1)) }),
  })
}

/** Drizzle writes the parameters of a failed query, rows of people's data, behind its text. */
const parameters = '\nparams: '

function textsOf(error: object): { message: string; stack: string | undefined } {
  const message = safeText(error, 'message', Infinity) ?? ''
  const stack = safeText(error, 'stack', Infinity)
  const end = Array.isArray(safeRead(error, 'params')) ? message.indexOf(parameters) : -1
  if (end === -1) return { message, stack }
  const kept = message.slice(0, end)
  // A stack that does not begin with the message could hold the parameters anywhere.
  const frames = stack?.includes(message) === true ? stack.replace(message, () => kept) : undefined
  return { message: kept, stack: frames }
}

/** Without a prototype the logger's own serialiser reads the name and not `Object`. */
function bare(described: DescribedError): DescribedError {
  return Object.assign(Object.create(null) as object, described)
}

function nameOf(error: object): string {
  return safeText(error, 'name', 100) ?? safeText(safeRead(error, 'constructor'), 'name', 100) ?? 'Error'
}

function errorsOf(error: object): unknown[] {
  try {
    const errors = safeRead(error, 'errors')
    return Array.isArray(errors) ? errors.slice(0, maxErrors) : []
  } catch {
    return []
  }
}

function print(value: unknown): string {
  try {
    return String(value)
  } catch {
    return typeof value
  }
}

/** A failure as one text for a database, such as `TypeError: x is not a function`; at most 500 characters. Never throws. */
export function failureText(error: unknown): string {
  try {
    const text = error instanceof Error ? `${nameOf(error)}: ${textsOf(error).message}` : String(error)
    return text.slice(0, 500).toWellFormed()
  } catch {
    return 'unknown failure'
  }
}

/** Logs a failure of foreign code by what `describeError` keeps of it. Never throws. */
export function logFailure(
  log: FastifyBaseLogger,
  level: 'error' | 'warn',
  record: { readonly err: unknown; readonly [name: string]: unknown },
  message: string,
): void {
  try {
    log[level]({ ...record, err: describeError(record.err) }, message)
  } catch {
    // A logger that fails must not stop what failed beside it: deliveries, requests, closing.
  }
}
