/** The caller of a request and its permissions: the only view of identity that the packages share. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { UnauthorizedException } from './domain-exceptions.ts'
import { challenge, testCallersDecorator } from './symbols.ts'

/** The caller of a request. `null` in its place means anonymous. */
export interface Caller {
  /** Stable identifier, 1–255 characters; user-scoped settings are stored under it. */
  readonly id: string
  /** For display only. */
  readonly name?: string
  /** Permission names such as `Settings.Update`; `Settings.*` grants a group, `*` everything. @default [] */
  readonly permissions?: readonly string[]
  /** An administrator passes every permission check. @default false */
  readonly isAdmin?: boolean
}

/**
 * Whether the caller holds a permission: administrators always, others by its exact name, by the wildcard of one
 * of its groups (`Settings.*` grants `Settings.Update`), or by `*`. An anonymous caller holds none.
 */
export function hasPermission(caller: Caller | null | undefined, permission: string): boolean {
  if (!caller) return false
  if (caller.isAdmin === true) return true
  const granted: unknown = caller.permissions // of a provider that no type checked
  return Array.isArray(granted) && granted.some((each) => grants(each, permission))
}

function grants(granted: unknown, permission: string): boolean {
  if (granted === permission || granted === '*') return true
  // Only a whole segment is a wildcard: `Pro*` grants nothing but itself.
  return typeof granted === 'string' && granted.endsWith('.*') && permission.startsWith(granted.slice(0, -1))
}

/** What refuses an anonymous caller as the gate itself would: thrown, its member `challenge` answers. */
export interface ChallengeError extends Error {
  readonly [challenge]: (reply: FastifyReply) => void
}

/**
 * The caller of a request behind the gate. Handlers of protected routes use it instead of a test for null.
 * @throws {UnauthorizedException} the request is anonymous: its route is public. It has the challenge of the gate's
 * provider, and with the errors plugin it is answered as the gate would: browsers are redirected to sign in
 */
export function requireCaller(request: {
  readonly caller?: Caller | null | undefined
  readonly server?: object
}): Caller {
  const { caller, server } = request
  if (caller) return caller
  const refuse: ((from: object) => ChallengeError) | undefined = server && Reflect.get(server, challenge)
  throw refuse?.(request) ?? new UnauthorizedException()
}

export const testCallerHeader = 'x-fastify-modular-test-caller'

/** What is under that decorator. */
export interface TestCallers {
  readonly byToken: Map<string, Caller>
  /** Whether a gate looks for them. */
  areSought: boolean
}

/**
 * How a gate finds the caller of a request by `injectAs` of `core/testing`; undefined in an application that called no
 * `enableTestCallers`, so that outside tests the header means nothing.
 */
export function findTestCaller(
  app: Pick<FastifyInstance, 'hasDecorator'>,
): ((request: Pick<FastifyRequest, 'headers'>) => Caller | undefined) | undefined {
  if (!app.hasDecorator(testCallersDecorator)) return undefined
  const callers: TestCallers = Reflect.get(app, testCallersDecorator)
  callers.areSought = true
  return (request) => callers.byToken.get(String(request.headers[testCallerHeader]))
}

/** Whether an application can say who its callers are: by the option of a plugin, or by `request.caller`. */
export function knowsCallers(app: FastifyInstance, option: object | undefined): boolean {
  return option !== undefined || app.hasRequestDecorator('caller')
}

/** The caller that the gate, or the application itself, has found for a request; null where neither looks. */
export function readCaller(request: FastifyRequest): Caller | null {
  return Reflect.get(request, 'caller') ?? null
}
