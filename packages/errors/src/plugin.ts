/** The errors plugin: every failure gets its answer, and nothing leaks. */
import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { errorRoutes } from './error-routes.ts'
import { ownErrors, ownNotFound } from './handlers.ts'
import { Problems } from './mappings.ts'
import { FMOD_ERRORS_REGISTERED_TWICE } from './misuse-errors.ts'
import { type ErrorsOptions, resolveOptions } from './options.ts'
import { builtInTemplate, loadErrorPage } from './render/error-page.ts'
import { createLastResort } from './render/last-resort.ts'
import type { UnmatchedPages } from './render/negotiate.ts'
import { createStandIn, rendererOf } from './render/page-renderer.ts'
import { createResponder, type Responder } from './render/responder.ts'
import { guardErrorSerializer } from './report.ts'
import { problemDetailsSchema, validationProblemDetailsSchema } from './schemas.ts'

const errorsPlugin: FastifyPluginAsync<ErrorsOptions> = async (app, options) => {
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
    onBadMapper: (err) => app.log.error({ err }, 'a problem mapping failed; the error takes the usual way'),
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
 * Who gets a page where no route matches. The default follows whether the application has pages at all, which is known
 * when it is ready: the adapter may be registered later.
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

/** The plugin: `app.register(errors)`, before all others, the gate of public-routes included. Decorates `app.problems` and `reply.problem`. */
export const errors = fp(errorsPlugin, { name: '@fastify-modular/errors', fastify: '5.x' })
