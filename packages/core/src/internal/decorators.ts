/** Decorators by name, where types do not show them, and marks by which our packages know each other's values. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createMisuseError } from './misuse-error.ts'
import { safeRead } from './safe.ts'

const FMOD_CORE_DECORATOR_MISSING = createMisuseError<[string]>(
  'FMOD_CORE_DECORATOR_MISSING',
  'There is no decorator %s. Register the plugin that adds it first; for injectAs, call enableTestCallers(app).',
)
const FMOD_CORE_DECORATOR_TAKEN = createMisuseError<[string]>(
  'FMOD_CORE_DECORATOR_TAKEN',
  'The decorator %s of the application is not the one of @fastify-modular, which needs this name. Give your own decorator another name.',
)

/** On what our plugins decorate applications with: names such as `events` are common. */
const brand = Symbol.for('@fastify-modular/decorator')

/** Makes a value one that `hasOwnDecorator` knows again; returns it. */
export function branded<T extends object>(value: T): T {
  return Object.defineProperty(value, brand, { value: true })
}

/**
 * Whether one of our plugins has decorated the application with this name.
 * @throws {FMOD_CORE_DECORATOR_TAKEN} somebody else has
 */
export function hasOwnDecorator(app: FastifyInstance, name: string): boolean {
  if (!app.hasDecorator(name)) return false
  if (safeRead(Reflect.get(app, name), brand) === true) return true
  throw new FMOD_CORE_DECORATOR_TAKEN(name)
}

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

/**
 * A static member of event classes that our packages publish whether or not the application handles them: no warning says
 * that none does.
 */
export const mayBeUnhandled: unique symbol = Symbol.for('@fastify-modular/may-be-unhandled')
