/** The errors plugin: every failure gets its answer, and nothing leaks. */
import {
  type AnswerFailure,
  answerFailure,
  branded,
  challenge,
  checkCalls,
  guardErrorSerializer,
  logFailure,
  optionProblems,
  precedesGate,
  refuseOptions,
  refuseSecond,
  routerEntries,
  safeRead,
  supportedFastify,
} from '@fastify-modular/core/internal'
import { defaultTypeBase, routeNotFound, statusMessage, statusTitle } from '@fastify-modular/core/problem'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { loadErrorPage, rendererOf } from './error-page.ts'
import { errorCodes } from './misuse-errors.ts'
import type { Pages } from './negotiate.ts'
import { type ErrorsOptions, schema } from './options.ts'
import { Problems } from './problems.ts'
import { createResponder, type Responder } from './respond.ts'
import { problemDetailsSchema, validationProblemDetailsSchema } from './schemas.ts'
import { toProblem } from './to-problem.ts'

const errorsPlugin: FastifyPluginAsync<ErrorsOptions> = async (app, options) => {
  refuseOptions('the errors plugin', optionProblems(schema, options))
  const advice = 'Register it once, at the root; scopes below use app.problems.'
  refuseSecond(app, { decorator: 'problems', plugin: 'errors', advice })
  const { typeBase = defaultTypeBase, errorHandler = true, notFoundHandler = true, pages } = options
  guardErrorSerializer(app.log)
  decorateProblems(app, typeBase)
  app.addSchema(problemDetailsSchema)
  app.addSchema(validationProblemDetailsSchema)

  const { write, warning } = await loadErrorPage(options.errorPage)
  if (warning) app.log.warn(warning)
  const responder = createResponder({ app, pages, write })

  if (errorHandler) ownErrors(app, typeBase, responder)
  if (notFoundHandler) ownNotFound(app, responder)
  if (pages !== false) errorRoutes(app, pages, responder)
}

/** `app.problems`: each scope sees those above it and adds its own (Fastify's encapsulation). */
function decorateProblems(app: FastifyInstance, typeBase: string): void {
  const root = new Problems({
    typeBase,
    onBadMapper: (err) =>
      logFailure(app.log, 'error', { err }, 'a problem mapping failed; the error takes the usual way'),
  })
  const all = [root]
  app.decorate('problems', branded(root))
  app.addHook('onRegister', function giveScopeItsProblems(scope) {
    const own = branded(scope.problems.child())
    all.push(own)
    scope.decorate('problems', own)
  })
  app.addHook('onReady', function closeProblems(done) {
    for (const problems of all) problems.close()
    done()
  })
}

/**
 * Answers everything thrown below this scope.
 * @throws {FMOD_ERRORS_HANDLER_TAKEN} the scope has an error handler
 * @throws {FMOD_ERRORS_REGISTERED_LATE} when ready: failures of some routes of the scope would pass by it
 */
function ownErrors(app: FastifyInstance, typeBase: string, { fail }: Responder): void {
  if (hasErrorHandler(app)) throw handlerTaken('setErrorHandler')
  app.setErrorHandler(function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const context = { mappings: request.server.problems, typeBase, replyStatus: reply.statusCode }
    const answerAsGate = safeRead(error, challenge)
    const answer = typeof answerAsGate === 'function' ? () => void answerAsGate(reply) : undefined
    fail(request, reply, { problem: toProblem(error, context), source: 'handler', error }, answer)
  })
  app.decorate(answerFailure, ((request, reply, error) => {
    const problem = toProblem(error, { mappings: app.problems, typeBase })
    fail(request, reply, { problem, source: 'handler', error, scope: app })
  }) satisfies AnswerFailure)
  refuseAnother(app, 'setErrorHandler')
  const { errorHandler } = app // as Fastify keeps it
  app.addHook('onReady', function checkRoutes(done) {
    const early = unansweredRoutes(app, errorHandler)
    done(early.length === 0 ? undefined : new errorCodes.FMOD_ERRORS_REGISTERED_LATE(early.join(', ')))
  })
}

/**
 * The routes of this scope and those below it whose failures do not reach this handler: what their own handlers throw again
 * would be answered by Fastify's. The preflight route of a CORS plugin is left out: it belongs before everything else, and
 * nothing of the application runs in it.
 */
function unansweredRoutes(app: FastifyInstance, handler: unknown): readonly string[] {
  const found = routerEntries(app).filter(
    ({ errorHandler, server }) => isWithin(server, app) && !leadsTo(errorHandler, handler),
  )
  const routes = found.map(({ config: { method, url } }) => ({ methods: [method].flat(), url }))
  const served = new Set(routes.filter(({ methods }) => methods.includes('GET')).map(({ url }) => url))
  const names = routes.flatMap(({ methods, url }) => {
    const name = `${methods.join(',')} ${url}`
    // Fastify makes HEAD routes of GET routes, which are named.
    const isMade = name === `HEAD ${url}` && (served.has(url) || served.has(url.replace(/\/$/, '')))
    return isMade || name === 'OPTIONS *' ? [] : [name]
  })
  return [...new Set(names)]
}

/** Handlers have as prototype the one that answers what they throw. */
function leadsTo(from: unknown, handler: unknown): boolean {
  for (let at: unknown = from; at !== null && at !== undefined; at = Object.getPrototypeOf(at)) {
    if (safeRead(at, 'func') === handler) return true
  }
  return false
}

/** A scope has the one above it as prototype. */
function isWithin(scope: FastifyInstance, app: FastifyInstance): boolean {
  return scope === app || Object.prototype.isPrototypeOf.call(app, scope)
}

/**
 * Answers requests that no route matches.
 * @throws {FMOD_ERRORS_HANDLER_TAKEN} the scope has a not-found handler
 */
function ownNotFound(app: FastifyInstance, { fail }: Responder): void {
  const failure = { problem: routeNotFound, source: 'not-found' } as const
  function answerNotFound(request: FastifyRequest, reply: FastifyReply): void {
    fail(request, reply, failure)
  }
  try {
    app.setNotFoundHandler(answerNotFound)
  } catch {
    throw handlerTaken('setNotFoundHandler')
  }
  refuseAnother(app, 'setNotFoundHandler')
}

/**
 * Makes a second handler of the same scope an error that explains. Fastify lets the last error handler win, and its own
 * refusals name neither this plugin nor the way out. Error handlers belong to scopes, not-found handlers to prefixes.
 */
function refuseAnother(app: FastifyInstance, method: 'setErrorHandler' | 'setNotFoundHandler'): void {
  checkCalls(app, method, (scope) => {
    const isOurs = method === 'setErrorHandler' ? scope === app : scope.prefix === app.prefix
    if (isOurs) throw handlerTaken(method)
  })
}

function handlerTaken(method: 'setErrorHandler' | 'setNotFoundHandler'): Error {
  return method === 'setErrorHandler'
    ? new errorCodes.FMOD_ERRORS_HANDLER_TAKEN(method, 'a plugin of its own', 'errorHandler')
    : new errorCodes.FMOD_ERRORS_HANDLER_TAKEN(method, 'a plugin with a prefix', 'notFoundHandler')
}

/** Whether this very scope has its own handler: a scope is made with its parent's, the root with Fastify's. */
function hasErrorHandler(app: FastifyInstance): boolean {
  const { errorHandler: inherited } = Object.getPrototypeOf(app) as Partial<FastifyInstance>
  return app.errorHandler !== inherited && app.errorHandler.name !== 'defaultErrorHandler'
}

/** Serves the pages. They carry no data, so the route is public by its own configuration. */
function errorRoutes(app: FastifyInstance, pages: Pages | undefined, { show }: Responder): void {
  app.get<{ Params: { statusCode: string } }>(
    '/error/:statusCode',
    { config: { access: 'public', [precedesGate]: true }, schema: { hide: true } },
    function showErrorPage(request, reply) {
      const isServed = pages !== undefined || rendererOf(app) !== undefined
      const status = parseStatus(request.params.statusCode)
      if (!isServed || status === undefined) return reply.callNotFound()
      const props = { status, title: statusTitle(status), message: statusMessage(status) }
      reply.header('x-robots-tag', 'noindex')
      // Not as a 5xx: strangers could drive whatever counts the failures of this instance.
      show(request, reply, { props, status: status >= 400 && status < 500 ? status : 200 })
    },
  )
}

function parseStatus(text: string): number | undefined {
  return /^[1-5]\d\d$/.test(text) ? Number(text) : undefined
}

/** The plugin: `app.register(errors)`, before all others, the gate of public-routes included. Decorates `app.problems`. */
export const errors = fp(errorsPlugin, { name: '@fastify-modular/errors', fastify: supportedFastify })
