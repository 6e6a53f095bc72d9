/** Decorators by name, where types do not show them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorCodes } from '../misuse-errors.ts'
import { safeRead } from './safe.ts'
import { ownDecorator } from '../symbols.ts'

/** Makes a value one that `hasOwnDecorator` knows again; returns it. */
export function branded<T extends object>(value: T): T {
  return Object.defineProperty(value, ownDecorator, { value: true })
}

/**
 * Whether one of our plugins has decorated the application with this name.
 * @throws {FMOD_CORE_DECORATOR_TAKEN} somebody else has
 */
export function hasOwnDecorator(app: FastifyInstance, name: string): boolean {
  if (!app.hasDecorator(name)) return false
  if (safeRead(Reflect.get(app, name), ownDecorator) === true) return true
  throw new errorCodes.FMOD_CORE_DECORATOR_TAKEN(name)
}

/** A plugin of ours that an application has once. */
interface OnlyPlugin {
  /** What it decorates the application with. */
  readonly decorator: string
  readonly plugin: string
  /** A sentence: how to register it once. */
  readonly advice: string
}

/**
 * @throws {FMOD_CORE_REGISTERED_TWICE} the plugin has decorated the application already
 * @throws {FMOD_CORE_DECORATOR_TAKEN} somebody else has, with its name
 */
export function refuseSecond(app: FastifyInstance, { decorator, plugin, advice }: OnlyPlugin): void {
  if (hasOwnDecorator(app, decorator)) throw new errorCodes.FMOD_CORE_REGISTERED_TWICE(plugin, advice)
}

/**
 * Returns a decorator of the application or request. Fastify has its own `getDecorator` from 5.3 on.
 * @throws {FMOD_CORE_DECORATOR_MISSING} there is none of that name
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- names the type, as Fastify's own does
export function getDecorator<T>(target: object, name: string | symbol): T {
  const value: T | undefined = Reflect.get(target, name)
  if (value === undefined) throw new errorCodes.FMOD_CORE_DECORATOR_MISSING(String(name))
  return value
}

/** Answers a request as if the error had been thrown at the root, whatever handler and pages the scope of its route has. Never throws. */
export type AnswerFailure = (request: FastifyRequest, reply: FastifyReply, error: unknown) => void
