/** What the operator learns of a failure: one log record, and an event for metrics. */
import type { Problem, ProblemLogLevel } from '@fastify-modular/core/problem'
import { describeError, isRequestLoggingDisabled, safeRead, safeText } from '@fastify-modular/core/internal'
import { channel } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * Where a failure came from. `handler` includes hooks and serialisers, `not-found` is a path without a route. `framework` is
 * Fastify before any route (`frameworkErrors`), `client` a connection that does not speak HTTP (`clientErrorHandler`).
 * `aborted` is a caller that went away, `last-resort` an answer that could not be sent.
 */
type ProblemSource = 'handler' | 'not-found' | 'framework' | 'client' | 'aborted' | 'last-resort'

/** The message of the channel `fastify-modular:errors`. */
export interface ProblemEvent {
  readonly type: 'problem'
  readonly problem: Problem
  readonly source: ProblemSource
  /** What was thrown, if anything was. */
  readonly error?: unknown
  /** Of the request; undefined before HTTP was understood. */
  readonly method?: string | undefined
  /** The pattern of the route, fit for a metric's label; undefined where none matched. */
  readonly route?: string | undefined
  readonly requestId?: string | undefined
  readonly request?: FastifyRequest | undefined
}

/** Receives one `ProblemEvent` for each failure, when its answer is decided. Costs nothing without a subscriber. */
export const problemChannel = channel('fastify-modular:errors')

/** A failure to be reported. */
export interface Failure {
  readonly problem: Problem
  readonly source: ProblemSource
  readonly error?: unknown
  /** The error that was being answered, where `error` is the failure of its answer. */
  readonly original?: unknown
  /** Whose pages answer it, where those of the route's own scope must not. */
  readonly scope?: FastifyInstance
}

/** Writes the log record and publishes the event. Never throws. */
export function report(request: FastifyRequest, failure: Failure): void {
  const { problem, source, error } = failure
  if (problemChannel.hasSubscribers) {
    const { method } = request
    problemChannel.publish({
      type: 'problem',
      problem,
      source,
      error,
      method,
      route: routeOf(request),
      requestId: request.id,
      request,
    } satisfies ProblemEvent)
  }
  const level = levelOf(failure)
  if (level === 'silent' || !isWanted(request, level)) return
  const { type, status, code } = problem
  try {
    const record = { ...describe(failure), problem: { type, status, code }, source, route: routeOf(request) }
    request.log[level](record, 'request failed')
  } catch {
    // The caller gets its answer although the logger fails.
  }
}

/** 5xx are defects. A caller that went away is not one, nor is most of what callers do wrong (decision 47). */
function levelOf({ problem: { status, logLevel }, source }: Failure): ProblemLogLevel {
  if (source === 'aborted') return 'debug'
  if (logLevel !== undefined) return logLevel
  if (status >= 500) return 'error'
  return status === 403 || status === 409 ? 'info' : 'debug'
}

/** Whether the logger would keep the record: describing an error for nothing is work. */
function isWanted(request: FastifyRequest, level: Exclude<ProblemLogLevel, 'silent'>): boolean {
  const { log } = request
  // The logger of an application without one: every level is the same function, which takes nothing.
  if (log.error === log.trace && log.error.length === 0) return false
  const isDefect = level === 'error' || level === 'fatal'
  if (!isDefect && isRequestLoggingDisabled(request)) return false
  const isLevelEnabled = safeRead(log, 'isLevelEnabled')
  return typeof isLevelEnabled !== 'function' || isLevelEnabled.call(log, level) === true
}

/** A defect is described in full; of an answer of 4xx its reason is enough. */
function describe({ problem, error, original }: Failure): Record<string, unknown> {
  if (error === undefined) return {}
  if (problem.status < 500) return { reason: safeText(error, 'message') }
  return {
    err: describeError(error),
    ...(original !== undefined && { original: describeError(original) }),
  }
}

function routeOf(request: FastifyRequest): string | undefined {
  return request.is404 ? undefined : request.routeOptions.url
}
