/**
 * The gate's answers to requests that may not pass: the challenge to sign in (401 or a redirect, by content
 * negotiation), 403 for a forged request, 503 while the provider fails. Denying throws no exception.
 */
import {
  type DomainException,
  ForbiddenException,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@fastify-modular/core'
import {
  addVary,
  type AnswerFailure,
  answerFailure,
  canonicalPath,
  challenge as challengeSymbol,
  type ChallengeError,
  hasOwnDecorator,
  isApiTarget,
  isNavigation,
  isRead,
  logFailure,
} from '@fastify-modular/core/internal'
import { type Problem, problemMediaType, problemOfError, problemText } from '@fastify-modular/core/problem'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { type AuthProvider, challengeOf } from '../provider.ts'

/** A browser that navigates, an Inertia page that fetches, or anything else. */
export type ClientKind = 'browser' | 'inertia' | 'api'

/**
 * Distinguishes kinds of clients; replace it with the option `classify`. Returns `inertia` for requests with X-Inertia, `browser`
 * for GET and HEAD navigations that name text/html and do not prefer JSON; `api` for everything else, and always below `/api/`,
 * with an Authorization header, and for XMLHttpRequest.
 */
export function classifyRequest(request: FastifyRequest): ClientKind {
  const { headers } = request
  if (headers.authorization !== undefined || isApiTarget(request.raw.url ?? '')) return 'api'
  if (headers['x-inertia'] !== undefined) return 'inertia'
  return isRead(request) && isNavigation(headers) ? 'browser' : 'api'
}

export type Answers = ReturnType<typeof createAnswers>

/** One request at the gate. */
export interface Visit {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Goes on to the next hook; with an error, to the error handler. */
  readonly done: HookHandlerDoneFunction
}

/** The same for existing and missing paths: it names no reason, and no path but that of the request. */
const unauthorized = new UnauthorizedException()
const crossOrigin = Object.assign(
  new ForbiddenException('This request comes from a page of another origin and is not accepted.'),
  { code: 'CROSS_ORIGIN' },
)
const unavailable = new ServiceUnavailableException()

/** When to try again, in seconds. */
const retryAfter = 5

/** What the gate uses of the errors plugin, where the application has registered it for the gate's scope. */
interface ErrorsPlugin {
  readonly problems?: { readonly typeBase: string; resolve(error: unknown): Problem | undefined }
  readonly [answerFailure]?: AnswerFailure
}

export function createAnswers(
  app: FastifyInstance & ErrorsPlugin,
  provider: AuthProvider,
  classify: typeof classifyRequest,
) {
  const { loginUrl } = provider
  /** Looked up once: each look at the instance would cost every refusal. */
  let problems: ErrorsPlugin['problems']
  let answer: AnswerFailure | undefined
  /** Made once: a problem for each request made refusals half as slow again, in process. */
  const refusals = new Map<DomainException, Problem>()
  app.addHook('onReady', async function findErrorsPlugin() {
    problems = hasOwnDecorator(app, 'problems') ? app.problems : undefined
    answer = app[answerFailure]
    for (const refusal of [unauthorized, crossOrigin, unavailable])
      refusals.set(refusal, problemOfError(refusal, problems))
  })
  app.decorate(challengeSymbol, refuse)
  return { challenge, refuseForgery, forbid, reportUnavailable }

  /** What a handler of a public route throws where it needs a caller. */
  function refuse(request: FastifyRequest): ChallengeError {
    const exception = new UnauthorizedException(undefined, headerValue(challengeOf(provider, request)))
    const answerAsGate = (reply: FastifyReply) =>
      challenge({ request, reply, done: (failure) => void reply.send(failure) })
    return Object.assign(exception, { [challengeSymbol]: answerAsGate })
  }

  /** Answers a protected request of an anonymous caller, in the way that its kind of client understands. */
  function challenge(visit: Visit): void {
    const { request, reply } = visit
    const kind: ClientKind = loginUrl === undefined ? 'api' : classify(request)
    if (loginUrl === undefined || kind === 'api') {
      const scheme = headerValue(challengeOf(provider, request))
      // A page of the route's own scope would show a stranger that the route exists.
      const isForPages = loginUrl === undefined && answer !== undefined
      if (isForPages && showPage(visit, new UnauthorizedException(undefined, scheme))) return
      sendProblem(visit, unauthorized, scheme)
    } else if (kind === 'inertia' && isExternal(loginUrl)) {
      // A fetch cannot follow a redirect to another site: the client visits it instead.
      sendWithoutBody(reply.code(409).header('x-inertia-location', loginUrl))
    } else {
      // After a write, 303 turns the next request into a GET; 302 would repeat PUT, PATCH and DELETE.
      const status = isRead(request) ? 302 : 303
      sendWithoutBody(reply.code(status).header('location', loginLocation(request, loginUrl)))
    }
  }

  function refuseForgery(visit: Visit): void {
    sendProblem(visit, crossOrigin)
  }

  /** Refuses a known caller; `missing` is the end of a sentence. */
  function forbid(visit: Visit, missing: string): void {
    const failure = new ForbiddenException(`This needs ${missing}.`)
    if (!showPage(visit, failure)) sendProblem(visit, failure)
  }

  /** While the provider fails: 503 and not 401, after which clients would throw away good credentials. */
  function reportUnavailable(visit: Visit, failure: unknown): void {
    const { request, reply } = visit
    reply.header('retry-after', String(retryAfter))
    // The application's error handler writes the record for a page.
    if (showPage(visit, new ServiceUnavailableException(undefined, retryAfter, failure))) return
    logProviderFailure(request, failure)
    sendProblem(visit, unavailable)
  }

  /**
   * Answers people with a page, and returns whether it does: that of the errors plugin, which is the same in every scope, or
   * without this plugin that of the error handler of the route's scope.
   */
  function showPage({ request, reply, done }: Visit, failure: DomainException): boolean {
    if (!isForPeople(request)) return false
    forbidCaching(reply)
    if (answer === undefined) done(failure)
    else answer(request, reply, failure)
    return true
  }

  /** Sends a problem (RFC 9457), mapped as the application maps its exceptions, with headers that keep it out of caches. */
  function sendProblem({ request, reply }: Visit, exception: DomainException, scheme?: string): void {
    const mapped = problems?.resolve(exception)
    if (mapped?.headers !== undefined) reply.headers(mapped.headers)
    const problem = mapped ?? refusals.get(exception) ?? problemOfError(exception, problems)
    if (scheme !== undefined) reply.header('www-authenticate', scheme)
    forbidCaching(reply)
    reply.code(problem.status)
    reply.header('content-type', problemMediaType)
    // With our own serialiser Fastify sends the text unchanged and adds no charset (JSON has none). Text goes out in one
    // piece with the head, bytes would not.
    reply.serializer(String).send(problemText(problem, request))
  }

  function isForPeople(request: FastifyRequest): boolean {
    try {
      return classify(request) !== 'api'
    } catch {
      return false // the host's function fails too: the plain answer needs no function of the host
    }
  }
}

export function logProviderFailure(request: FastifyRequest, failure: unknown): void {
  logFailure(request.log, 'error', { err: failure }, 'the authentication provider failed')
}

/** Longer targets are dropped, in characters. */
const maxReturnToLength = 2048
const printable = /^[\x21-\x7e]*$/

/**
 * The value if it is a canonical path of this site with an optional query, otherwise null: no open redirect. Check `returnTo`
 * with it again before you redirect there.
 */
export function safeReturnTo(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > maxReturnToLength || !printable.test(value)) return null
  return canonicalPath(value) === null ? null : value
}

/** The login URL, carrying the page that a GET navigation wanted; an external login keeps its own state. */
function loginLocation(request: FastifyRequest, loginUrl: string): string {
  const returnTo = request.method === 'GET' ? safeReturnTo(request.originalUrl) : null
  if (returnTo === null || isExternal(loginUrl)) return loginUrl
  return `${loginUrl}${loginUrl.includes('?') ? '&' : '?'}returnTo=${encodeURIComponent(returnTo)}`
}

/** Whether a login URL leaves this application. */
function isExternal(loginUrl: string): boolean {
  return !loginUrl.startsWith('/')
}

/** A provider's text becomes a header only if it is one. */
function headerValue(challenge: unknown): string {
  return typeof challenge === 'string' && /^[\x20-\x7e]+$/.test(challenge) ? challenge : 'Bearer'
}

/**
 * Sets `Content-Length: 0`. Fastify sets it for HEAD requests to routes only, which would make existing paths differ from
 * missing ones.
 */
function sendWithoutBody(reply: FastifyReply): void {
  forbidCaching(reply)
  reply.header('content-length', '0').send()
}

/** An answer that depends on the caller must not reach another caller from a cache. */
function forbidCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
  addVary(reply, 'accept, authorization, cookie, x-inertia')
}
