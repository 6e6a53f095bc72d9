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

/** An onRequest hook that answers 401 to everybody who is not signed in, before anything else is looked at. */
export function authenticateWith(find: FindCaller): onRequestHookHandler {
  return function authenticate(request, _reply, done) {
    const admit = (caller: Caller | null): void => {
      if (!isCaller(caller)) return done(new UnauthorizedException())
      request.setDecorator<Caller | null>(decorator, caller)
      done()
    }
    try {
      const found = find(request)
      if (found instanceof Promise) found.then(admit, done)
      else admit(found)
    } catch (error) {
      done(error instanceof Error ? error : new Error('The settings option caller failed.', { cause: error }))
    }
  }
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
export function requireUpdate(request: FastifyRequest, ...scopes: readonly SettingScope[]): Caller {
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
