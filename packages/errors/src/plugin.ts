/** The errors plugin: every failure gets its answer, and nothing leaks. */
import { checkCoreVersion, logFailure, precedesGate, supportedFastify } from '@fastify-modular/core/internal'
import { isErrorStatus, routeNotFound, statusMessage, statusTitle } from '@fastify-modular/core/problem'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { builtInTemplate, createLastResort, createStandIn, loadErrorPage, rendererOf } from './error-page.ts'
import {
  FMOD_ERRORS_HANDLER_REPLACED,
  FMOD_ERRORS_HANDLER_TAKEN,
  FMOD_ERRORS_REGISTERED_TWICE,
} from './misuse-errors.ts'
import type { UnmatchedPages } from './negotiate.ts'
import { type ErrorsOptions, type ErrorsSettings, resolveOptions } from './options.ts'
import { Problems } from './problems.ts'
import { guardErrorSerializer } from './report.ts'
import { createResponder, type Responder } from './respond.ts'
import { problemDetailsSchema, validationProblemDetailsSchema } from './schemas.ts'
import { toProblem } from './to-problem.ts'

const errorsPlugin: FastifyPluginAsync<ErrorsOptions> = async (app, options) => {
  checkCoreVersion(import.meta.url)
  if (app.hasDecorator('problems')) throw new FMOD_ERRORS_REGISTERED_TWICE()
  const settings = resolveOptions(options)
  guardErrorSerializer(app.log)
  decorateProblems(app, settings.typeBase)
  app.addSchema(problemDetailsSchema)
  app.addSchema(validationProblemDetailsSchema)

  const { body, warning } = await loadErrorPage(settings.errorPage)
  if (warning) app.log.warn(warning)
  const standIn = createStandIn(await builtInTemplate())
  const unmatchedPages = decideUnmatchedPages(app, settings.unmatchedPages)
  const responder = createResponder({ settings, unmatchedPages, standIn, lastResort: createLastResort(body) })

  decorateReply(app, responder)
  if (settings.errorHandler) ownErrors(app, settings, responder)
  if (settings.notFoundHandler) ownNotFound(app, responder)
  if (settings.errorRoutes) errorRoutes(app, responder)
}

/** `app.problems`: each scope sees those above it and adds its own (Fastify's encapsulation). */
function decorateProblems(app: FastifyInstance, typeBase: string): void {
  const root = new Problems({
    typeBase,
    onBadMapper: (err) =>
      logFailure(app.log, 'error', { err }, 'a problem mapping failed; the error takes the usual way'),
  })
  const all = [root]
  app.decorate('problems', root)
  app.addHook('onRegister', function giveScopeItsProblems(scope) {
    const own = scope.problems.child()
    all.push(own)
    scope.decorate('problems', own)
  })
  app.addHook('onReady', function closeProblems(done) {
    for (const problems of all) problems.close()
    done()
  })
}

/**
 * Which requests get a page where no route matches. The default follows whether the application has pages at all, which
 * is known when it is ready: the adapter may be registered later.
 */
function decideUnmatchedPages(
  app: FastifyInstance,
  option: UnmatchedPages | undefined,
): () => UnmatchedPages {
  let decided = option ?? 'browsers'
  app.addHook('onReady', function decide(done) {
    if (option === undefined && rendererOf(app)) decided = 'always'
    done()
  })
  return () => decided
}

function decorateReply(app: FastifyInstance, { fail }: Responder): void {
  app.decorateReply('problem', function answerProblem(this: FastifyReply, slug, ...[extensions]) {
    const problem = this.server.problems.describe(slug, extensions)
    fail(this.request, this, { problem, source: 'handler' })
    return this
  })
}

/**
 * Answers everything thrown below this scope.
 * @throws {FMOD_ERRORS_HANDLER_TAKEN} the scope has an error handler
 * @throws {FMOD_ERRORS_HANDLER_REPLACED} when ready: it was given another one later
 */
function ownErrors(app: FastifyInstance, { typeBase }: ErrorsSettings, { fail }: Responder): void {
  if (hasErrorHandler(app)) throw new FMOD_ERRORS_HANDLER_TAKEN('setErrorHandler', 'errorHandler')
  app.setErrorHandler(function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const context = { mappings: request.server.problems, typeBase, replyStatus: reply.statusCode }
    fail(request, reply, { problem: toProblem(error, context), source: 'handler', error })
  })
  const ours = app.errorHandler
  // Fastify 5 only warns, and the last handler wins: nothing of this package would be left.
  app.addHook('onReady', function checkErrorHandler(done) {
    done(app.errorHandler === ours ? undefined : new FMOD_ERRORS_HANDLER_REPLACED())
  })
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
    throw new FMOD_ERRORS_HANDLER_TAKEN('setNotFoundHandler', 'notFoundHandler')
  }
}

/** Whether this very scope has its own handler: a scope is made with its parent's, the root with Fastify's. */
function hasErrorHandler(app: FastifyInstance): boolean {
  const { errorHandler: inherited } = Object.getPrototypeOf(app) as Partial<FastifyInstance>
  return app.errorHandler !== inherited && app.errorHandler.name !== 'defaultErrorHandler'
}

/** Serves the pages. They carry no data, so the route is public by its own configuration. */
function errorRoutes(app: FastifyInstance, { show }: Pick<Responder, 'show'>): void {
  app.get<{ Params: { statusCode: string } }>(
    '/error/:statusCode',
    { config: { access: 'public', [precedesGate]: true }, schema: { hide: true } },
    function showErrorPage(request, reply) {
      const status = parseStatus(request.params.statusCode)
      if (status === undefined) return reply.callNotFound()
      const props = { status, title: statusTitle(status), message: statusMessage(status) }
      // A page about an error answers as that error; search engines would otherwise keep it.
      show(request, reply, { props, status: isErrorStatus(status) ? status : 200 })
    },
  )
}

function parseStatus(text: string): number | undefined {
  return /^[1-5]\d\d$/.test(text) ? Number(text) : undefined
}

/** The plugin: `app.register(errors)`, before all others, the gate of public-routes included. Decorates `app.problems` and `reply.problem`. */
export const errors = fp(errorsPlugin, { name: '@fastify-modular/errors', fastify: supportedFastify })
