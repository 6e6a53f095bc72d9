/** Asks the provider who calls, and waits no longer than the time-out. */
import type { Caller } from '@fastify-modular/core'
import type { FastifyRequest } from 'fastify'
import { isThenable, neverAborted, type AuthProvider } from '../provider.ts'

/** What becomes of asking: exactly one of the two is called, exactly once. */
export interface Answer {
  known(caller: Caller | null): void
  failed(failure: unknown): void
}

/** Asks for the caller of a request; calls back before it returns where the provider is synchronous. */
export type Authenticate = (request: FastifyRequest, answer: Answer) => void

/** `timeout` in milliseconds. */
export function createAuthenticate(provider: AuthProvider, timeout: number): Authenticate {
  const wantsSignal = provider.authenticate.length > 1
  return function authenticate(request, answer) {
    const controller = wantsSignal ? new AbortController() : null
    let caller: Caller | null
    try {
      const authenticated = provider.authenticate(request, controller?.signal ?? neverAborted)
      if (isThenable(authenticated)) {
        waitFor(Promise.resolve(authenticated), timeout, controller, answer)
        return
      }
      caller = toCaller(authenticated)
    } catch (err) {
      answer.failed(err)
      return
    }
    answer.known(caller)
  }
}

function waitFor(
  authenticated: Promise<unknown>,
  timeout: number,
  controller: AbortController | null,
  answer: Answer,
): void {
  let isSettled = false
  const timer = setTimeout(() => {
    isSettled = true
    const failure = new Error(`the authentication provider did not answer within ${timeout} ms`)
    controller?.abort(failure)
    answer.failed(failure)
  }, timeout)

  authenticated.then(toCaller).then(
    (caller) => settle(() => answer.known(caller)),
    (failure: unknown) => settle(() => answer.failed(failure)),
  )

  /** Late answers change nothing: the request was answered already. */
  function settle(act: () => void): void {
    if (isSettled) return
    isSettled = true
    clearTimeout(timer)
    act()
  }
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
