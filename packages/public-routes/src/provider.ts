/** Who asks: the contract between the gate and whatever knows the callers (decision 54). */
import type { Caller } from '@fastify-modular/core'
import { isThenable } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'

/** The caller, or nothing for an anonymous request. */
export type Authenticated = Caller | null | undefined

export interface AuthProvider {
  /**
   * Resolves the caller of a request; null means anonymous, also for an expired or invalid session. Called once per
   * request, on public paths too. Answer synchronously where you can: it is faster. A throw or rejection means "cannot
   * tell": protected paths answer 503, public ones go on as anonymous. `signal` aborts when the gate's time-out passes;
   * it is only made for functions that declare the parameter.
   */
  authenticate(request: FastifyRequest, signal: AbortSignal): Authenticated | Promise<Authenticated>
  /** Where browsers sign in: a path of this application, or an absolute URL. Without it everybody gets 401. */
  readonly loginUrl?: string
  /** Legacy: prefixes that are public for every method (S 5.3.3). Prefer rules with methods. */
  readonly publicPaths?: readonly string[]
  /** The value of `WWW-Authenticate` for a 401 (RFC 9110, 11.6.1). @default 'Bearer' */
  challenge?(request: FastifyRequest): string
}

/**
 * One provider out of several, asked in order until one knows the caller: cookie session, bearer token, API key.
 * One that fails does not keep the others from recognising the caller; if none does, its failure counts.
 */
export function combineProviders(providers: readonly AuthProvider[]): AuthProvider {
  const loginUrl = providers.find((provider) => provider.loginUrl !== undefined)?.loginUrl
  const publicPaths = providers.flatMap((provider) => provider.publicPaths ?? [])
  const wantsSignal = providers.some((provider) => provider.authenticate.length > 1)
  return {
    authenticate: wantsSignal
      ? (request, signal) => askFrom(providers, 0, request, signal)
      : (request: FastifyRequest) => askFrom(providers, 0, request, neverAborted),
    challenge: (request) =>
      [...new Set(providers.map((provider) => challengeOf(provider, request)))].join(', '),
    publicPaths,
    ...(loginUrl !== undefined && { loginUrl }),
  }
}

/** For providers that declare no signal: making one costs more than everything else the gate does. */
export const neverAborted: AbortSignal = new AbortController().signal

/** The provider's challenge, or the default one. */
export function challengeOf(provider: AuthProvider, request: FastifyRequest): string {
  return provider.challenge?.(request) ?? 'Bearer'
}

/** Stays synchronous as long as the providers do. */
function askFrom(
  providers: readonly AuthProvider[],
  first: number,
  request: FastifyRequest,
  signal: AbortSignal,
): Authenticated | Promise<Authenticated> {
  const provider = providers[first]
  if (provider === undefined) return null
  const askNext = () => askFrom(providers, first + 1, request, signal)

  let answer: Authenticated | Promise<Authenticated>
  try {
    answer = provider.authenticate(request, signal)
  } catch (err) {
    return orFailure(askNext, err)
  }
  if (!isThenable(answer)) return answer || askNext()
  return Promise.resolve(answer).then(
    (caller) => caller || askNext(),
    (err: unknown) => orFailure(askNext, err),
  )
}

/** What the other providers say, or the failure where they know nobody. */
function orFailure(
  askNext: () => Authenticated | Promise<Authenticated>,
  failure: unknown,
): Authenticated | Promise<Authenticated> {
  const answer = askNext()
  if (isThenable(answer)) return answer.then((caller) => caller || Promise.reject(failure))
  if (answer) return answer
  throw failure
}
