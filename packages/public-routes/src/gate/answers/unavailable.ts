/** What a protected request gets while nobody can say who calls (decision 37): a 401 would cost good credentials. */
import { ServiceUnavailableException } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Classify } from './classify.ts'
import { forbidCaching, sendProblem, unavailable } from './problem.ts'

/** When to ask again, in seconds. */
const retryAfter = 5

/** Answers the request, or hands `done` the failure for a page. */
export type AnswerUnavailable = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
  failure: unknown,
) => void

export function createAnswerUnavailable(classify: Classify): AnswerUnavailable {
  return function answerUnavailable(request, reply, done, failure) {
    reply.header('retry-after', String(retryAfter))
    if (isForPeople(request)) {
      // The application's error handler has the pages, and writes the record.
      forbidCaching(reply)
      done(new ServiceUnavailableException(undefined, retryAfter, failure))
      return
    }
    logProviderFailure(request, failure)
    sendProblem(request, reply, unavailable)
  }

  function isForPeople(request: FastifyRequest): boolean {
    try {
      return classify(request) !== 'api'
    } catch {
      return false // the host's function fails too: the plain answer needs nobody
    }
  }
}

export function logProviderFailure(request: FastifyRequest, failure: unknown): void {
  request.log.error({ err: failure }, 'the authentication provider failed')
}
