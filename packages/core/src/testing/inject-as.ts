/** Requests made as a given caller, without signing in. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Caller } from '../caller.ts'

/** The decorator under which a gate finds test callers; absent outside tests, so no header can name a caller. */
const decorator = Symbol.for('@fastify-modular/test-callers')
const header = 'x-fastify-modular-test-caller'

/** Prepares an application for `injectAs`; call it before the application is ready. */
export function testCallers(app: FastifyInstance): void {
  if (!app.hasDecorator(decorator)) app.decorate(decorator, new Map<string, Caller>())
}

/**
 * How a gate finds the caller of an `injectAs` request; undefined in an application that called no `testCallers`,
 * so that outside tests the header means nothing.
 */
export function findTestCaller(
  app: FastifyInstance,
): ((request: FastifyRequest) => Caller | undefined) | undefined {
  if (!app.hasDecorator(decorator)) return undefined
  const callers = app.getDecorator<Map<string, Caller>>(decorator)
  return (request) => callers.get(String(request.headers[header]))
}

/**
 * Like `app.inject`, with the gate seeing `caller` as the one who asks.
 * The caller is named by a random token that is valid for this one request.
 */
export async function injectAs(
  app: FastifyInstance,
  caller: Caller,
  request: InjectOptions | string,
): Promise<LightMyRequestResponse> {
  const callers = app.getDecorator<Map<string, Caller>>(decorator)
  const token = randomUUID()
  const options = typeof request === 'string' ? { url: request } : request
  callers.set(token, caller)
  try {
    return await app.inject({ ...options, headers: { ...options.headers, [header]: token } })
  } finally {
    callers.delete(token)
  }
}
