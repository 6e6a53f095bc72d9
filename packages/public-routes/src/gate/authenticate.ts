/** Asks the provider who calls, and waits no longer than the time-out. */
import type { Caller } from '@fastify-modular/core'
import { isThenable, withTimeout } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import { neverAborted, type AuthProvider } from '../provider.ts'

/** The caller of a request, null for an anonymous one; synchronous where the provider is. Throws what the provider does. */
export type Authenticate = (request: FastifyRequest) => Caller | null | Promise<Caller | null>

/** `timeout` in milliseconds. */
export function createAuthenticate(provider: AuthProvider, timeout: number): Authenticate {
  const wantsSignal = provider.authenticate.length > 1
  return function authenticate(request) {
    const controller = wantsSignal ? new AbortController() : null
    const authenticated: unknown = provider.authenticate(request, controller?.signal ?? neverAborted)
    return isThenable(authenticated) ? within(timeout, controller, authenticated) : toCaller(authenticated)
  }
}

/** A late answer changes nothing: by then the promise has settled. */
async function within(
  timeout: number,
  controller: AbortController | null,
  authenticated: PromiseLike<unknown>,
): Promise<Caller | null> {
  const answer = await withTimeout(authenticated, timeout, () => {
    const failure = new Error(`the authentication provider did not answer within ${timeout} ms`)
    controller?.abort(failure)
    throw failure
  })
  return toCaller(answer)
}

/** Anything but a caller or nothing is a broken provider, and a broken provider lets nobody in. */
function toCaller(authenticated: unknown): Caller | null {
  if (authenticated === null || authenticated === undefined || authenticated === false) return null
  if (isCaller(authenticated)) return authenticated
  throw new TypeError(
    'the authentication provider answered with something that is not a Caller: it needs a string id (1 to 255 characters) and an array of permissions',
  )
}

function isCaller(value: unknown): value is Caller {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('permissions' in value))
    return false
  const { id, permissions } = value
  return typeof id === 'string' && id.length > 0 && id.length <= 255 && Array.isArray(permissions)
}
