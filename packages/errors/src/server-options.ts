/** Server options for the failures that happen before any plugin is asked: `Fastify({ ...createErrorServerOptions() })`. */
import type { FastifyServerOptions } from 'fastify'
import { answerClientError } from './server/client-errors.ts'
import { answerFrameworkError } from './server/framework-errors.ts'

/** The two options, to be spread into those of `Fastify()`. */
export type ErrorServerOptions = Required<
  Pick<FastifyServerOptions, 'clientErrorHandler' | 'frameworkErrors'>
>

/**
 * Problems for bad URLs, over-long parameters, malformed HTTP, too large headers and slow requests. A plugin cannot set
 * them. They pass no gate and no hook, so the answers are constant: no path, no data (decision 42).
 */
export function createErrorServerOptions(): ErrorServerOptions {
  return { frameworkErrors: answerFrameworkError, clientErrorHandler: answerClientError }
}
