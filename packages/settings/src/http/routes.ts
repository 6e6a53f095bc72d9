/**
 * The HTTP API of settings: `routes/` has a file for each resource. Static paths win over `/:key`; a setting whose
 * key is one of them is refused at boot.
 */
import { hasOwnDecorator } from '@fastify-modular/core/internal'
import { problemMediaType, problemOfError, problemText } from '@fastify-modular/core/problem'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FindCaller } from '../options.ts'
import { authenticateWith, decorateCaller, findAdmitted } from './access.ts'
import type { RouteContext } from './context.ts'
import { createPeople } from './people.ts'
import { addDefinitionRoutes } from './routes/definitions.ts'
import { addHistoryRoutes } from './routes/history.ts'
import { addListRoute } from './routes/list.ts'
import { addOwnValueRoutes } from './routes/own-values.ts'
import { addProbeRoute } from './routes/probe.ts'
import { addRestoreRoutes } from './routes/restore.ts'
import { addStreamRoutes } from './routes/stream.ts'
import { addTenantRoutes } from './routes/tenant.ts'
import { addTransferRoutes } from './routes/transfer.ts'
import { addValueRoutes } from './routes/values.ts'
import { addWindowRoutes } from './routes/windows.ts'
import { requireTenantWriter } from '../tenants.ts'
import { components, type SchemaTypes, validatorCompiler, widen } from './schemas.ts'
import { SharedLists } from './shared-lists.ts'

/** Registers the routes in a scope of their own, whose prefix they stand under. */
export function addSettingsRoutes(
  scope: FastifyInstance,
  { service, options }: Pick<RouteContext, 'service' | 'options'>,
): void {
  prepareScope(scope, service.findCaller, 'no-store')
  const hasTenants = options.tenants !== undefined
  for (const schema of components) scope.addSchema(hasTenants ? widen(schema) : schema)
  if (hasTenants)
    scope.addHook('onRoute', (route) => {
      if (route.schema) route.schema = widen(route.schema)
    })
  if (!hasErrorsPlugin(scope)) scope.setErrorHandler(answerProblem)

  const tenantOf: RouteContext['tenantOf'] = async (request) =>
    (await service.findMembership?.(request, await findAdmitted(request, service.findCaller))) ?? null
  const context = {
    app: scope.withTypeProvider<SchemaTypes>(),
    service,
    options,
    people: createPeople(options.findPeople, scope.log),
    tenantOf,
    tenantWriter: async (request: FastifyRequest) => requireTenantWriter(await tenantOf(request)),
    sharedLists: new SharedLists(service, tenantOf),
  }
  addListRoute(context)
  addDefinitionRoutes(context)
  addValueRoutes(context)
  addOwnValueRoutes(context)
  if (hasTenants) addTenantRoutes(context)
  addHistoryRoutes(context)
  addRestoreRoutes(context)
  addWindowRoutes(context)
  addTransferRoutes(context)
  addProbeRoute(context)
  addStreamRoutes(context)
}

/**
 * Sets what all routes of a scope have in common.
 * @param cacheControl routes whose answers may be kept set the header again
 */
export function prepareScope(scope: FastifyInstance, findCaller: FindCaller, cacheControl: string): void {
  decorateCaller(scope)
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', cacheControl)
    done()
  })
  scope.addHook('onRequest', authenticateWith(findCaller))
  scope.setValidatorCompiler(validatorCompiler)
  // Handlers answer with exactly what their schemas describe: to compile those would make booting the slower part.
  scope.setSerializerCompiler(() => JSON.stringify)
}

/** An error handler that is set later, or in another scope, does not receive the errors of this scope. */
export function hasErrorsPlugin(scope: FastifyInstance): boolean {
  return hasOwnDecorator(scope, 'problems') && scope.errorHandler.name !== 'defaultErrorHandler'
}

/** Answers a failure with problem details (RFC 9457), where no errors plugin does. */
export function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
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
