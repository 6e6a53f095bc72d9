/** Decorators by name, where types do not show them. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createMisuseError } from './misuse-error.ts'

const FMOD_CORE_DECORATOR_MISSING = createMisuseError<[string]>(
  'FMOD_CORE_DECORATOR_MISSING',
  'There is no decorator %s. Register the plugin that adds it first; for injectAs, call enableTestCallers(app).',
)

/**
 * Returns a decorator of the application or request. Fastify has its own `getDecorator` from 5.3 on.
 * @throws {FMOD_CORE_DECORATOR_MISSING} there is none of that name
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- names the type, as Fastify's own does
export function getDecorator<T>(target: object, name: string | symbol): T {
  const value: T | undefined = Reflect.get(target, name)
  if (value === undefined) throw new FMOD_CORE_DECORATOR_MISSING(String(name))
  return value
}

/** Answers a request as if the error had been thrown at the root, whatever handler and pages the scope of its route has. Never throws. */
export type AnswerFailure = (request: FastifyRequest, reply: FastifyReply, error: unknown) => void

/** Where the errors plugin decorates the application with an `AnswerFailure`. */
export const answerFailure: unique symbol = Symbol.for('@fastify-modular/answer-failure')
