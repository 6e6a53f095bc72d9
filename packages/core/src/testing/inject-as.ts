/** Requests made as a given caller, without signing in. */
import { randomUUID } from 'node:crypto'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Caller, testCallerHeader, type TestCallers } from '../caller.ts'
import { getDecorator } from '../internal/decorators.ts'
import { testCallersDecorator } from '../symbols.ts'
import { errorCodes } from '../misuse-errors.ts'

/** The part of an application that this needs, whatever the types of its server. */
interface Decorated {
  hasDecorator(name: string | symbol): boolean
  decorate(name: string | symbol, value: unknown): unknown
}

/** Prepares an application for `injectAs`; call it before the application is ready. */
export function enableTestCallers(app: Decorated): void {
  if (app.hasDecorator(testCallersDecorator)) return
  app.decorate(testCallersDecorator, { byToken: new Map(), areSought: false } satisfies TestCallers)
}

/**
 * Like `app.inject`, as `caller`, which the gate lets in without signing in.
 * A random token, valid for this one request, identifies the caller.
 * @throws {FMOD_CORE_DECORATOR_MISSING} `enableTestCallers` was not called
 * @throws {FMOD_CORE_TEST_CALLERS_IGNORED} the application has no gate, so that its requests have no callers
 */
export async function injectAs(
  app: { inject(options: InjectOptions): Promise<LightMyRequestResponse> },
  caller: Caller,
  request: InjectOptions | string,
): Promise<LightMyRequestResponse> {
  const callers = getDecorator<TestCallers>(app, testCallersDecorator)
  const token = randomUUID()
  const options = typeof request === 'string' ? { url: request } : request
  callers.byToken.set(token, caller)
  try {
    const headers = { ...options.headers, [testCallerHeader]: token }
    const response = await app.inject({ ...options, headers })
    if (!callers.areSought) throw new errorCodes.FMOD_CORE_TEST_CALLERS_IGNORED()
    return response
  } finally {
    callers.byToken.delete(token)
  }
}
