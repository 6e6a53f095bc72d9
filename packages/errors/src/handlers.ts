/** Fastify's two handlers of failures, of which each scope has one owner (decision 48). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FMOD_ERRORS_HANDLER_REPLACED, FMOD_ERRORS_HANDLER_TAKEN } from './misuse-errors.ts'
import type { ErrorsSettings } from './options.ts'
import { httpProblem } from './problem.ts'
import type { Responder } from './render/responder.ts'
import { toProblem } from './to-problem.ts'

/**
 * Answers everything thrown below this scope.
 * @throws {FMOD_ERRORS_HANDLER_TAKEN} the scope has an error handler
 * @throws {FMOD_ERRORS_HANDLER_REPLACED} when ready: it was given another one later
 */
export function ownErrors(app: FastifyInstance, { typeBase }: ErrorsSettings, { fail }: Responder): void {
  if (hasErrorHandler(app)) throw new FMOD_ERRORS_HANDLER_TAKEN('setErrorHandler', 'errorHandler')
  app.setErrorHandler(function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const context = { mappings: request.server.problems, typeBase, replyStatus: reply.statusCode }
    fail(request, reply, { problem: toProblem(error, context), source: 'handler', error })
  })
  const ours = app.errorHandler
  // Fastify 5 only warns, and the last handler wins: nothing of this package would be left.
  app.addHook('onReady', function checkErrorHandler(done) {
    done(app.errorHandler === ours ? undefined : new FMOD_ERRORS_HANDLER_REPLACED())
  })
}

/**
 * Answers requests that no route matches.
 * @throws {FMOD_ERRORS_HANDLER_TAKEN} the scope has a not-found handler
 */
export function ownNotFound(app: FastifyInstance, { fail }: Responder): void {
  const failure = { problem: httpProblem(404), source: 'not-found' } as const
  function answerNotFound(request: FastifyRequest, reply: FastifyReply): void {
    fail(request, reply, failure)
  }
  try {
    app.setNotFoundHandler(answerNotFound)
  } catch {
    throw new FMOD_ERRORS_HANDLER_TAKEN('setNotFoundHandler', 'notFoundHandler')
  }
}

/** Whether this very scope has its own handler: a scope is made with its parent's, the root with Fastify's. */
function hasErrorHandler(app: FastifyInstance): boolean {
  const { errorHandler: inherited } = Object.getPrototypeOf(app) as Partial<FastifyInstance>
  return app.errorHandler !== inherited && app.errorHandler.name !== 'defaultErrorHandler'
}
