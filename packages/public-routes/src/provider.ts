/** The contract between the gate and the authentication of the application: sessions, tokens, API keys. */
import type { Caller } from '@fastify-modular/core'
import { findTestCaller, isThenable, withTimeout } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The caller, or nothing for an anonymous request. */
export type AuthResult = Caller | null | undefined

/** Security schemes of OpenAPI, by name. */
export type SecuritySchemes = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface AuthProvider {
  /**
   * Resolves the caller of a request; null means anonymous, also for an expired or invalid session. Called once per
   * request, on public paths too. Answer synchronously where you can: it is faster. A throw or rejection means that
   * the caller cannot be determined: protected paths answer 503, public ones go on as anonymous. `signal` aborts when
   * the gate's time-out passes; it is only made for functions that declare the parameter.
   */
  authenticate(request: FastifyRequest, signal: AbortSignal): AuthResult | Promise<AuthResult>
  /** Where browsers sign in: a path of this application, or an absolute URL. Without it every client gets 401. */
  readonly loginUrl?: string
  /** Legacy: prefixes that are public for every method. Prefer rules with methods. */
  readonly publicPaths?: readonly string[]
  /**
   * How callers authenticate, for OpenAPI documents: `{ session: { type: 'apiKey', in: 'cookie', name: 'session' } }`. One
   * of several schemes is enough.
   */
  readonly openapi?: SecuritySchemes
  /** The value of `WWW-Authenticate` for a 401 (RFC 9110, 11.6.1). @default 'Bearer' */
  challenge?(request: FastifyRequest): string
}

/**
 * One provider out of several, called in order until one knows the caller: cookie session, bearer token, API key.
 * When one fails, the others are still called; if none of them knows the caller, the failure counts.
 */
export function combineProviders(providers: readonly AuthProvider[]): AuthProvider {
  const loginUrl = providers.find((provider) => provider.loginUrl !== undefined)?.loginUrl
  const publicPaths = providers.flatMap((provider) => provider.publicPaths ?? [])
  const wantsSignal = providers.some((provider) => provider.authenticate.length > 1)
  return {
    authenticate: wantsSignal
      ? (request, signal) => authenticateFrom(0, { providers, request, signal })
      : (request: FastifyRequest) => authenticateFrom(0, { providers, request, signal: neverAborted }),
    challenge: (request) =>
      [...new Set(providers.map((provider) => challengeOf(provider, request)))].join(', '),
    publicPaths,
    openapi: Object.assign({}, ...providers.map(({ openapi }) => openapi)),
    ...(loginUrl !== undefined && { loginUrl }),
  }
}

/** For providers that do not declare a signal: an AbortController costs more than everything else the gate does. */
const neverAborted: AbortSignal = new AbortController().signal

/** The provider's challenge, or the default one. */
export function challengeOf(provider: AuthProvider, request: FastifyRequest): string {
  return provider.challenge?.(request) ?? 'Bearer'
}

interface Attempt {
  readonly providers: readonly AuthProvider[]
  readonly request: FastifyRequest
  readonly signal: AbortSignal
  /** Of a provider that was called already: it counts where no other one knows the caller. */
  readonly failure?: { readonly reason: unknown }
}

/** Begins with the provider at this index. Synchronous as long as the providers are. */
function authenticateFrom(index: number, attempt: Attempt): AuthResult | Promise<AuthResult> {
  const { providers, request, signal, failure } = attempt
  const provider = providers[index]
  if (provider === undefined) {
    if (failure !== undefined) throw failure.reason
    return null
  }
  const goOn = () => authenticateFrom(index + 1, attempt)
  const goOnAfter = (reason: unknown) => authenticateFrom(index + 1, { ...attempt, failure: { reason } })

  let answer: AuthResult | Promise<AuthResult>
  try {
    answer = provider.authenticate(request, signal)
  } catch (err) {
    return goOnAfter(err)
  }
  if (!isThenable(answer)) return answer || goOn()
  return Promise.resolve(answer).then((caller) => caller || goOn(), goOnAfter)
}

/** Returns the caller of a request, null for an anonymous one; synchronously if the provider does. Throws what the provider throws. */
export type Authenticate = (request: FastifyRequest) => Caller | null | Promise<Caller | null>

/**
 * Waits for the provider, but no longer than `timeout` milliseconds. Callers of `injectAs` come first where a test
 * called `enableTestCallers`, which production code does not.
 */
export function createAuthenticate(
  app: FastifyInstance,
  { provider, timeout }: { readonly provider: AuthProvider; readonly timeout: number },
): Authenticate {
  const wantsSignal = provider.authenticate.length > 1
  let testCaller: ReturnType<typeof findTestCaller>
  app.addHook('onReady', async function findTestCallers() {
    testCaller = findTestCaller(app)
  })

  return function authenticate(request) {
    const known = testCaller?.(request)
    if (known !== undefined) return known
    const controller = wantsSignal ? new AbortController() : null
    const answer: unknown = provider.authenticate(request, controller?.signal ?? neverAborted)
    if (!isThenable(answer)) return toCaller(answer)
    return withTimeout(answer, timeout, () => {
      const failure = new Error(`the authentication provider did not answer within ${timeout} ms`)
      controller?.abort(failure)
      throw failure
    }).then(toCaller)
  }
}

/** Any other value comes from a broken provider, and a broken provider lets no request in. */
function toCaller(authenticated: unknown): Caller | null {
  if (authenticated === null || authenticated === undefined || authenticated === false) return null
  if (isCaller(authenticated)) return authenticated
  throw new TypeError(
    'the authentication provider answered with something that is not a Caller: it needs a string id (1 to 255 characters), and permissions, if any, as an array',
  )
}

function isCaller(value: unknown): value is Caller {
  if (typeof value !== 'object' || value === null) return false
  const { id, permissions = [] }: { id?: unknown; permissions?: unknown } = value
  return typeof id === 'string' && id.length > 0 && id.length <= 255 && Array.isArray(permissions)
}
