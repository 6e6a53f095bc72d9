/**
 * The HTTP API of settings: `routes/` has a file for each resource. Static paths win over `/:key`; a setting whose
 * key is one of them is refused at boot.
 */
import { problemMediaType, problemOfError, problemText } from '@fastify-modular/core/problem'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { SettingsService } from '../create-settings.ts'
import type { ResolvedSecrets, Translation } from '../options.ts'
import { decorateCaller } from './access.ts'
import { createLocalizer } from './localized-definitions.ts'
import type { NamePeople } from './people.ts'
import { addDefinitionRoutes } from './routes/definitions.ts'
import { addHistoryRoutes } from './routes/history.ts'
import { addListRoute, SharedLists } from './routes/list.ts'
import { addOwnValueRoutes } from './routes/own-values.ts'
import { addRestoreRoutes } from './routes/restore.ts'
import { addStreamRoutes } from './routes/stream.ts'
import { addTransferRoutes } from './routes/transfer.ts'
import { addValueRoutes } from './routes/values.ts'
import { components, type SettingsApp, validatorCompiler } from './schemas.ts'

/** The service and the options of the routes. */
export interface RoutesInit {
  readonly service: SettingsService
  readonly authenticate: onRequestHookHandler
  readonly selfService: boolean
  readonly stream: false | { readonly public?: boolean }
  readonly resolvedSecrets: ResolvedSecrets
  readonly people: NamePeople
  readonly translation: Translation | undefined
  readonly maxBulkEntries: number
  /** Bytes of a bulk or an import. */
  readonly maxBulkBytes: number
}

/** Registers the routes in a scope of their own, whose prefix they stand under. */
export function addSettingsRoutes(scope: FastifyInstance, init: RoutesInit): void {
  const { service, people, selfService, resolvedSecrets, maxBulkEntries, maxBulkBytes } = init
  const { definitions } = service.settings
  const localizer = createLocalizer(() => definitions.getDefinitions(), init.translation, scope.log)

  decorateCaller(scope)
  scope.addHook('onRequest', init.authenticate)
  scope.setValidatorCompiler(validatorCompiler)
  for (const schema of components) scope.addSchema(schema)
  // Handlers answer with exactly what their schemas describe: to compile those would make booting the slower part.
  scope.setSerializerCompiler(() => JSON.stringify)
  // An error handler that is set later, or in another scope, does not receive the errors of this scope.
  const isErrorsPlugin = scope.hasDecorator('problems') && scope.errorHandler.name !== 'defaultErrorHandler'
  if (!isErrorsPlugin) scope.setErrorHandler(answerProblem)

  const app: SettingsApp = scope.withTypeProvider()
  const sharedLists = new SharedLists(service)
  addListRoute(app, sharedLists)
  addDefinitionRoutes(app, localizer)
  addValueRoutes(app, service, { people, resolvedSecrets, maxBulkEntries, maxBulkBytes })
  addOwnValueRoutes(app, service, { sharedLists, selfService })
  addHistoryRoutes(app, service, people)
  addRestoreRoutes(app, service, people)
  addTransferRoutes(app, service, maxBulkBytes)
  addStreamRoutes(app, service, init.stream)
}

/** Answers a failure with problem details (RFC 9457), where no errors plugin does. */
function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOfError(error)
  if (problem.status >= 500) request.log.error({ err: error }, 'settings request failed')
  else request.log.info({ code: problem.code, status: problem.status }, 'settings request refused')
  if (problem.headers) reply.headers(problem.headers)
  // A Buffer, because Fastify adds a charset to strings, which this media type does not have.
  reply
    .code(problem.status)
    .type(problemMediaType)
    .header('cache-control', 'no-store')
    .send(Buffer.from(problemText(problem, request)))
}
