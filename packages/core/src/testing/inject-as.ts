/** Requests made as a given caller, without signing in. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Caller, testCallerHeader, testCallersDecorator } from '../caller.ts'
import { getDecorator } from '../internal/decorators.ts'

/** Prepares an application for `injectAs`; call it before the application is ready. */
export function testCallers(app: FastifyInstance): void {
  if (!app.hasDecorator(testCallersDecorator)) app.decorate(testCallersDecorator, new Map<string, Caller>())
}

/**
 * Like `app.inject`, as `caller`, which the gate lets in without signing in.
 * A random token, valid for this one request, identifies the caller.
 */
export async function injectAs(
  app: FastifyInstance,
  caller: Caller,
  request: InjectOptions | string,
): Promise<LightMyRequestResponse> {
  const callers = getDecorator<Map<string, Caller>>(app, testCallersDecorator)
  const token = randomUUID()
  const options = typeof request === 'string' ? { url: request } : request
  callers.set(token, caller)
  try {
    return await app.inject({ ...options, headers: { ...options.headers, [testCallerHeader]: token } })
  } finally {
    callers.delete(token)
  }
}
