/** Who asks, and what they may do (S 5.2, decisions 23 and 26b). */
import { type Caller, ForbiddenException, hasPermission, UnauthorizedException } from '@fastify-modular/core'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { SettingScope } from '../setting-definition.ts'

/** Finds the caller of a request; null for somebody who is not signed in. */
export type FindCaller = (request: FastifyRequest) => Caller | null | Promise<Caller | null>

/** The permission of every write (S 4.1). */
export const updatePermission = 'Settings.Update'

/** Where `authenticate` leaves the caller for the handlers of its scope. */
const decorator = 'settingsCaller'

/** Makes room for the caller on the requests of a scope. */
export function decorateCaller(scope: FastifyInstance): void {
  scope.decorateRequest(decorator, null)
}

/**
 * An onRequest hook for the scope of the routes: answers 401 to requests without a caller before anything else is
 * looked at. All routes are closed but the one with `openRoute`.
 */
export function authenticateWith(find: FindCaller): onRequestHookHandler {
  return function authenticate(request, _reply, done) {
    if (isOpen(request)) return done()
    const admit = (found: Caller | null): void => done(keepCaller(request, found))
    const refuse = (reason: unknown): void => done(toError(reason))
    try {
      const found = find(request)
      if (isPromise(found)) found.then(admit, refuse)
      else admit(found)
    } catch (reason) {
      refuse(reason)
    }
  }
}

const mark = Symbol('@fastify-modular/settings/open')

/** The configuration of the route for everybody; `public` says so to the gate. */
export const openRoute = { public: ['GET'], [mark]: true } as const

/** Hooks of the host can close the open route by `config.public`, and open no other one. */
function isOpen({ method, routeOptions: { config } }: FastifyRequest): boolean {
  if (!(mark in config) || !('public' in config)) return false
  const wanted = method === 'HEAD' ? 'GET' : method
  return (
    config.public === true ||
    (Array.isArray(config.public) && config.public.some((each) => String(each).toUpperCase() === wanted))
  )
}

/** Leaves the caller for the handlers; what keeps the request out where there is none. */
function keepCaller(request: FastifyRequest, found: Caller | null): Error | undefined {
  try {
    if (!isCaller(found)) return new UnauthorizedException()
    request.setDecorator<Caller | null>(decorator, found)
    return undefined
  } catch (reason) {
    return toError(reason)
  }
}

/** Never nothing, which would let the request through: a promise may reject with `undefined` or `null`. */
function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('The settings option caller failed.', { cause: reason })
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** The caller that `authenticate` admitted. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = request.getDecorator<Caller | null>(decorator)
  if (!caller) throw new UnauthorizedException() // a route without the hook: closed, not open
  return caller
}

/** The option's function, or else the gate's decorator; undefined where nobody tells who calls (decision 52). */
export function findCallerOf(app: FastifyInstance, option: FindCaller | undefined): FindCaller | undefined {
  if (option) return option
  if (!app.hasRequestDecorator('caller')) return undefined
  return (request) => request.getDecorator<Caller | null>('caller')
}

/** @throws {ForbiddenException} the caller may not change settings, or not these */
export function requireUpdate(
  request: FastifyRequest,
  scopes: readonly (SettingScope | undefined)[] = [],
): Caller {
  const caller = callerOf(request)
  if (!hasPermission(caller, updatePermission))
    throw new ForbiddenException(`This needs the permission ${updatePermission}.`)
  if (scopes.includes(SettingScope.System)) requireAdmin(caller)
  return caller
}

/** @throws {ForbiddenException} the caller is no administrator */
export function requireAdmin(caller: Caller): void {
  if (caller.isAdmin !== true) throw new ForbiddenException('System settings are for administrators.')
}

/** A caller without an identity is nobody. */
function isCaller(caller: Caller | null | undefined): caller is Caller {
  return typeof caller?.id === 'string' && caller.id !== '' && caller.id.length <= 255
}
